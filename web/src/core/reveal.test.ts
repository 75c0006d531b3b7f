import { describe, expect, it } from 'vitest'
import { reveal, revealProse } from './reveal'

describe('reveal (R-CHAT-132: what is read is what is there)', () => {
  it.each([
    ['/src/\u202Egnp.exe', '/src/⟨U+202E⟩gnp.exe'],
    ['if (a\u2066 // x \u2069)', 'if (a⟨U+2066⟩ // x ⟨U+2069⟩)'],
    ['ad\u200Bmin', 'ad⟨U+200B⟩min'],
    ['a\u200Cb\u200Dc', 'a⟨U+200C⟩b⟨U+200D⟩c'],
    ['\u200E\u200F\u061C', '⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩'],
    ['\uFEFFx\u00AD', '⟨U+FEFF⟩x⟨U+00AD⟩'],
    ['\u0000\u0007\u001B[31m\u007F\u009B', '⟨U+0000⟩⟨U+0007⟩⟨U+001B⟩[31m⟨U+007F⟩⟨U+009B⟩'],
    ['x\u{E0041}\u{E0042}', 'x⟨U+E0041⟩⟨U+E0042⟩'],
    ['a\uFE0Fb', 'a⟨U+FE0F⟩b'],
    ['v1\uFE0F+\uFE0F', 'v1⟨U+FE0F⟩+⟨U+FE0F⟩'],
    ['x\u3164 = 1', 'x⟨U+3164⟩ = 1'],
    ['a\u2028b', 'a⟨U+2028⟩b'],
    ['over\rwritten', 'over⟨U+000D⟩written'],
    ['日\u{E0100}\u{E0101}', '日\u{E0100}⟨U+E0101⟩'],
  ])('shows %j', (text, shown) => {
    expect(reveal(text)).toBe(shown)
    expect(reveal(text)).toBe(shown) // no state between calls
  })

  it.each([
    'plain text\twith tabs\nand lines\r\n',
    'a line of a file with CRLF\r',
    '👩‍👩‍👧‍👦 ❤️‍🔥 👍🏽 1️⃣ 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} ✔️',
    '中文，日本語、한국어 русский العربية',
    'می‌خواهم', // joiners inside Persian words
    'क्‍ष',
    '葛\u{E0100}',
    '\u00A0\u3000nobreak and wide spaces',
  ])('leaves %j alone', (text) => {
    expect(reveal(text)).toBe(text)
  })

  it('leaves marks of right-to-left prose alone, and shows overrides', () => {
    expect(revealProse('שלום\u200F (ok)\u2067x\u2069')).toBe('שלום\u200F (ok)\u2067x\u2069')
    expect(revealProse('see \u202Emoc.live')).toBe('see ⟨U+202E⟩moc.live')
  })
})
