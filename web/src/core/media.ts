import type { Attachment } from '@/api/types'
import { reveal } from './reveal'

/** How an attachment is shown. */
export type MediaKind = 'image' | 'audio' | 'text' | 'file' | 'link'

/** Types that Core gives out as such, by the ending of their stored file; everything else is plain octets. */
const types = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/mp4'],
  ['mp3', 'audio/mpeg'],
])
const endings = new Map([...types].map(([ending, type]) => [type, ending]))

/** Whether the page may show or play bytes of a type. SVG is none of them, since it can hold scripts. */
export function shownAs(type: string): 'image' | 'audio' | null {
  if (!endings.has(type)) return null
  return type.startsWith('image/') ? 'image' : 'audio'
}

/**
 * What an attachment is, as far as one can know before it is loaded: a stored one by its bytes, which Core has looked
 * at, one that is still in memory by what its sender says.
 */
export function mediaKind(a: Attachment): MediaKind {
  if (a.file) return shownAs(types.get(a.file.split('.').pop() ?? '') ?? '') ?? 'file'
  if (!a.data) return 'link'
  if (a.isText) return 'text'
  const claimed = a.mime?.toLowerCase() ?? ''
  if (claimed.startsWith('audio/')) return 'audio'
  return shownAs(claimed) === 'image' ? 'image' : 'file'
}

/** Says whether an attachment claims to be a picture that is not shown, and why. */
export function unshown(a: Attachment): 'vector' | 'unknown' | null {
  if (mediaKind(a) !== 'file' || !/^image\//i.test(a.mime ?? '')) return null
  return /^image\/svg/i.test(a.mime ?? '') ? 'vector' : 'unknown'
}

/** Bytes of an attachment; null when it is only a link. Near enough while it is still base64. */
export function mediaSize(a: Attachment): number | null {
  if (a.file) return a.size ?? 0
  if (!a.data) return null
  return a.isText ? a.data.size : Math.floor((a.data.size * 3) / 4)
}

/** Whether two states of one attachment hold the same: at the end of a turn it only moves from memory to a file. */
export function sameMedia(a: Attachment, b: Attachment): boolean {
  if (a === b) return true
  if (a.mime !== b.mime || a.isText !== b.isText) return false
  if (a.file && b.file) return a.file === b.file
  if (a.data && b.data) return a.data.size === b.data.size && a.data.text === b.data.text
  const thirds = (x: Attachment) => (x.file ? Math.ceil((x.size ?? 0) / 3) : x.data ? Math.ceil(x.data.size / 4) : -1)
  return thirds(a) === thirds(b)
}

/** The name that an attachment came with, "" if it has none. Reordering and invisible characters are shown. */
export function mediaName(a: Attachment): string {
  return reveal(rawName(a))
}

function rawName(a: Attachment): string {
  if (a.name?.trim()) return a.name.trim()
  const path = /^[a-z][a-z0-9+.-]*:/i.test(a.uri ?? '') ? (a.uri ?? '').replace(/[?#].*$/s, '') : (a.uri ?? '')
  const last = path.split('/').pop() ?? ''
  try {
    return decodeURIComponent(last)
  } catch {
    return last // not an encoding; then it is the name
  }
}

/** In characters; file systems allow 255 bytes, which may be three for each. */
const NAME_LENGTH = 80
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/**
 * A name under which an attachment can be saved anywhere: one path segment, without characters that a file system or
 * a reader could take for something else. What is shown by its type also ends like it.
 */
export function saveName(a: Attachment, type: string): string {
  let name = rawName(a)
    .replace(/^.*[/\\]/s, '')
    .replace(/[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*]/gu, '_')
    .replace(/\s+/gu, ' ')
    .replace(/^[. ]+|[. ]+$/g, '')
  if (reserved.test(name)) name = `_${name}`
  const ending = endings.get(type)
  const dot = name.lastIndexOf('.')
  let stem = dot > 0 ? name.slice(0, dot) : name
  let tail = dot > 0 && name.length - dot <= 12 ? name.slice(dot) : ''
  if (!tail) stem = name
  if (ending && tail.toLowerCase() !== `.${ending}` && !(ending === 'jpg' && /^\.jpe?g$/i.test(tail))) {
    stem += tail
    tail = `.${ending}`
  }
  stem = [...stem].slice(0, NAME_LENGTH - tail.length).join('').trim()
  return (stem || fallback(type)) + (tail || (ending ? `.${ending}` : stem ? '' : '.bin'))
}

function fallback(type: string): string {
  return shownAs(type) ?? 'file'
}

/** A type as people call it: PNG instead of image/png. */
export function typeText(type: string): string {
  const ending = endings.get(type)
  return ending ? (ending === 'jpg' ? 'JPEG' : ending.toUpperCase()) : reveal(type)
}

/** A size as people read it. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
