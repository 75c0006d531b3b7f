import { describe, expect, it } from 'vitest'

import type { Attachment } from '@/api/types'
import { mediaKind, mediaName, mediaSize, sameMedia, saveName, shownAs, sizeText, typeText, unshown } from './media'

const body = (text: string, size = text.length) => ({ text, size })

describe('how an attachment is shown', () => {
  it.each<[string, Attachment, string]>([
    ['a live picture', { mime: 'image/png', data: body('AAAA') }, 'image'],
    ['a live picture in capitals', { mime: 'IMAGE/PNG', data: body('AAAA') }, 'image'],
    ['a live sound', { mime: 'audio/x-whatever', data: body('AAAA') }, 'audio'],
    ['a live SVG', { mime: 'image/svg+xml', data: body('AAAA') }, 'file'],
    ['a live file', { mime: 'application/pdf', data: body('AAAA') }, 'file'],
    ['a stored picture', { mime: 'text/html', file: 'x.png', size: 3 }, 'image'],
    ['a stored sound', { mime: 'image/png', file: 'x.mp3', size: 3 }, 'audio'],
    ['something stored that said it was a picture', { mime: 'image/png', file: 'x.bin', size: 3 }, 'file'],
    ['a stored SVG', { mime: 'image/png', file: 'x.svg', size: 3 }, 'file'],
    ['a text', { mime: 'image/png', isText: true, data: body('words') }, 'text'],
    ['a link', { mime: 'image/png', uri: 'https://example.com/a.png' }, 'link'],
  ])('%s', (_, a, want) => expect(mediaKind(a)).toBe(want))

  it('never lets SVG or anything unknown be shown (R-CHAT-132)', () => {
    for (const type of ['image/svg+xml', 'image/bmp', 'text/html', 'application/octet-stream', '', 'constructor', 'video/mp4']) {
      expect(shownAs(type), type).toBeNull()
    }
    expect(shownAs('image/webp')).toBe('image')
    expect(shownAs('audio/wav')).toBe('audio')
  })

  it('says why something that claims to be a picture is none', () => {
    expect(unshown({ mime: 'image/svg+xml', file: 'x.bin' })).toBe('vector')
    expect(unshown({ mime: 'image/png', file: 'x.bin' })).toBe('unknown')
    expect(unshown({ mime: 'image/png', file: 'x.png' })).toBeNull()
    expect(unshown({ mime: 'application/pdf', file: 'x.bin' })).toBeNull()
  })
})

it('knows that a picture stays the same when it moves from memory to a file', () => {
  const live = { mime: 'image/png', data: body('iVBORw0KGgo', 15_208) }
  const stored = { mime: 'image/png', file: 'a.png', size: 11_405 }
  expect(sameMedia(live, stored)).toBe(true)
  expect(sameMedia({ ...live, data: body('iVBORw0KGgo', 15_207) }, stored)).toBe(true) // not padded
  expect(sameMedia(live, { ...stored, size: 11_400 })).toBe(false)
  expect(sameMedia(live, { ...live, data: body('iVBORw0KGgX', 15_208) })).toBe(false)
  expect(sameMedia(stored, { ...stored, file: 'b.png' })).toBe(false)
  expect(sameMedia(stored, { ...stored })).toBe(true)
})

it('tells names and sizes as people read them', () => {
  expect(mediaName({ name: ' a.png ', uri: 'file:///b.png' })).toBe('a.png')
  expect(mediaName({ uri: 'file:///dir/a%20%E5%9B%BE.png?x=/y#z' })).toBe('a 图.png')
  expect(mediaName({ uri: 'file:///dir/100%' })).toBe('100%')
  expect(mediaName({ name: 'a\u202Egnp.exe' })).toBe('a⟨U+202E⟩gnp.exe')
  expect(mediaName({})).toBe('')
  expect(mediaSize({ file: 'a', size: 9 })).toBe(9)
  expect(mediaSize({ data: body('AAAA', 4000) })).toBe(3000)
  expect(mediaSize({ isText: true, data: body('AAAA', 4000) })).toBe(4000)
  expect(mediaSize({ uri: 'x' })).toBeNull()
  expect(['image/png', 'image/jpeg', 'audio/mpeg', 'application/pdf', ''].map(typeText)).toEqual(['PNG', 'JPEG', 'MP3', 'application/pdf', ''])
  expect([0, 1023, 1025, 3 * 1024 * 1024].map(sizeText)).toEqual(['0 B', '1023 B', '2 KB', '3.0 MB'])
})

describe('the name under which a file is saved', () => {
  it.each<[Attachment, string, string]>([
    [{ name: 'report.pdf' }, 'application/octet-stream', 'report.pdf'],
    [{ name: 'shot.PNG' }, 'image/png', 'shot.PNG'],
    [{ name: 'photo.jpeg' }, 'image/jpeg', 'photo.jpeg'],
    [{ name: 'shot.exe' }, 'image/png', 'shot.exe.png'],
    [{ name: 'shot' }, 'image/png', 'shot.png'],
    [{ name: '../../etc/passwd' }, '', 'passwd'],
    [{ name: '..\\..\\evil.bat' }, '', 'evil.bat'],
    [{ name: 'a\u202Egnp.exe' }, '', 'a_gnp.exe'],
    [{ name: 'a\u0000b\nc.txt' }, '', 'a_b_c.txt'],
    [{ name: '...' }, '', 'file.bin'],
    [{ name: '.bashrc' }, '', 'bashrc'],
    [{ name: 'con.txt' }, '', '_con.txt'],
    [{ name: 'a<b>:c|d?.txt' }, '', 'a_b__c_d_.txt'],
    [{}, 'image/png', 'image.png'],
    [{}, 'audio/wav', 'audio.wav'],
    [{}, 'application/octet-stream', 'file.bin'],
    [{ uri: 'https://example.com/%2e%2e%2Fevil.sh' }, '', 'evil.sh'],
    [{ name: `${'长'.repeat(300)}.txt` }, '', `${'长'.repeat(76)}.txt`],
  ])('%j as %s is %s', (a, type, want) => expect(saveName(a, type)).toBe(want))
})
