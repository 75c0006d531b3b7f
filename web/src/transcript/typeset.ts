import DOMPurify from 'dompurify'
import katex from 'katex'

/*
 * Draws formulas as MathML, which the browser lays out with its own fonts: no style sheet, no font file, and nothing
 * but the elements below comes through the sanitiser. Loaded when a formula is first shown.
 */

const tags = [
  ...['math', 'menclose', 'mfrac', 'mi', 'mmultiscripts', 'mn', 'mo', 'mover', 'mpadded', 'mphantom', 'mprescripts', 'mroot'],
  ...['mrow', 'mspace', 'msqrt', 'mstyle', 'msub', 'msubsup', 'msup', 'mtable', 'mtd', 'mtext', 'mtr', 'munder', 'munderover'],
]
const attributes = [
  ...['accent', 'accentunder', 'columnalign', 'depth', 'display', 'displaystyle', 'fence', 'form', 'height', 'largeop'],
  ...['linethickness', 'lspace', 'mathcolor', 'mathvariant', 'maxsize', 'minsize', 'movablelimits', 'notation', 'rowspacing'],
  ...['rspace', 'scriptlevel', 'separator', 'stretchy', 'symmetric', 'voffset', 'width'],
]

/** Longer formulas stay source: nobody reads them, and they would be drawn at every chunk. */
const LONGEST = 8000
const CACHE = 500
const drawn = new Map<string, DocumentFragment | null>()
let purifier: typeof DOMPurify | null = null

/** Returns a formula as MathML, or null when it cannot be drawn and stays source. */
export function typeset(tex: string, display: boolean): Node | null {
  const key = `${display}${tex}`
  let made = drawn.get(key)
  if (made === undefined) {
    made = draw(tex, display)
    drawn.set(key, made)
    const oldest = drawn.keys().next()
    if (drawn.size > CACHE && !oldest.done) drawn.delete(oldest.value)
  }
  return made?.cloneNode(true) ?? null
}

function draw(tex: string, display: boolean): DocumentFragment | null {
  if (tex.length > LONGEST) return null
  let html: string
  try {
    const safe = { trust: false, strict: 'ignore', maxExpand: 300, maxSize: 20 } as const
    html = katex.renderToString(tex, { ...safe, output: 'mathml', displayMode: display, throwOnError: true })
  } catch {
    return null
  }
  purifier ??= DOMPurify(window)
  const fragment = purifier.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    FORBID_CONTENTS: ['annotation'],
    RETURN_DOM_FRAGMENT: true,
  })
  for (const el of fragment.querySelectorAll('[mathvariant]')) letters(el)
  for (const el of fragment.querySelectorAll('mo')) if (el.textContent === '\u2061') space(el)
  for (const table of fragment.querySelectorAll('mtable[columnalign]')) align(table)
  return fragment
}

/** Where the letters of a style begin in Unicode: capitals, small letters, digits. */
const styles: Record<string, [number, number, number]> = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  italic: [0x1d434, 0x1d44e, 0],
  'bold-italic': [0x1d468, 0x1d482, 0],
  script: [0x1d49c, 0x1d4b6, 0],
  fraktur: [0x1d504, 0x1d51e, 0],
  'double-struck': [0x1d538, 0x1d552, 0x1d7d8],
  'sans-serif': [0x1d5a0, 0x1d5ba, 0x1d7e2],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6],
}
/** Letters that had a place of their own before. */
const early: Record<string, string> = {
  ...{ '𝑕': 'ℎ', '𝒝': 'ℬ', '𝒠': 'ℰ', '𝒡': 'ℱ', '𝒣': 'ℋ', '𝒤': 'ℐ', '𝒧': 'ℒ', '𝒨': 'ℳ', '𝒭': 'ℛ', '𝒺': 'ℯ', '𝒼': 'ℊ', '𝓄': 'ℴ' },
  ...{ '𝔆': 'ℭ', '𝔋': 'ℌ', '𝔌': 'ℑ', '𝔕': 'ℜ', '𝔝': 'ℨ', '𝔺': 'ℂ', '𝔿': 'ℍ', '𝕅': 'ℕ', '𝕇': 'ℙ', '𝕈': 'ℚ', '𝕉': 'ℝ', '𝕑': 'ℤ' },
}

/** Browsers know "normal" only; other styles are letters of their own. */
function letters(el: Element): void {
  const style = styles[el.getAttribute('mathvariant') ?? '']
  if (!style || el.childElementCount > 0) return
  el.textContent = (el.textContent ?? '').replace(/[A-Za-z0-9]/g, (char) => {
    const code = char.charCodeAt(0)
    const at = code < 65 ? style[2] && style[2] + code - 48 : code < 97 ? style[0] + code - 65 : style[1] + code - 97
    const letter = at ? String.fromCodePoint(at) : char
    return early[letter] ?? letter
  })
  el.removeAttribute('mathvariant')
}

/** The name of a function stands off from its neighbours, which browsers leave to the writer. */
function space(application: Element): void {
  const name = application.previousElementSibling
  const next = application.nextElementSibling
  if (next && next.textContent !== '(') application.setAttribute('rspace', '0.17em')
  const before = name?.previousElementSibling
  if (!name || !before || before.localName === 'mo') return
  const gap = document.createElementNS('http://www.w3.org/1998/Math/MathML', 'mspace')
  gap.setAttribute('width', '0.17em')
  name.before(gap)
}

/** Browsers align a cell by its own style; ours knows the cell's attribute. */
function align(table: Element): void {
  const columns = (table.getAttribute('columnalign') ?? '').split(' ')
  for (const row of table.children) {
    for (const [i, cell] of [...row.children].entries()) {
      cell.setAttribute('columnalign', columns[Math.min(i, columns.length - 1)] ?? 'center')
    }
  }
}
