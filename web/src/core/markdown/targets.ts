/** A destination that a link in a transcript may have. */
export type Target =
  | { kind: 'external'; href: string }
  | { kind: 'path'; path: string; line?: number; column?: number }

/**
 * Says what a destination is: an external address (http, https, mailto), an absolute local path, or null for
 * everything else, which stays text (R-CHAT-132).
 */
export function targetOf(href: string): Target | null {
  const address = href.trim()
  if (/^(https?:\/\/[^/\\]|mailto:[^/])/i.test(address)) return { kind: 'external', href: address }
  const local = decoded(/^file:\/\/(?:localhost)?(\/.*)$/i.exec(address)?.[1] ?? address)
  if (!/^(\/(?!\/)|[A-Za-z]:[\\/])/.test(local)) return null
  const place = /^(.+?)(?::(\d{1,9})(?::(\d{1,9}))?|#L(\d{1,9}))?$/.exec(local)
  const path = place?.[1]
  if (!path) return null
  const line = Number(place[2] ?? place[4] ?? 0) || undefined
  return { kind: 'path', path, line, column: Number(place[3] ?? 0) || undefined }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Images that may be shown without asking anyone: raster types in the text itself. */
export function safeImage(src: string): boolean {
  return /^data:image\/(?:png|jpe?g|gif|webp|avif);base64,[a-z0-9+/=\s]+$/i.test(src)
}

/** The host of an external address as the browser takes it, in ASCII; the address itself when it has none. */
export function hostOf(href: string): string {
  try {
    const url = new URL(href)
    return url.host || href
  } catch {
    return href
  }
}

// Words that are the name of a host; endings of files are no proof of one.
const named = /^(?:https?:\/\/|www\.)|^[a-z0-9.-]+\.(?:com|org|net|edu|gov|mil|info|io|dev|app|co|ai|cn|jp|kr|uk|de|fr|ru|eu|us)(?:[/:?#]|$)/i

/**
 * Whether the words of a link say another host than the one it goes to, or the host is easily misread: a name in front
 * of "@", letters that look like others.
 */
export function misleads(href: string, words: string): boolean {
  let url: URL
  try {
    url = new URL(href)
  } catch {
    return true
  }
  if (url.protocol === 'mailto:') return false
  if (url.username !== '' || url.password !== '' || url.host.includes('xn--')) return true
  const shown = words.replace(/[\s\p{Cf}]/gu, '').normalize('NFKC')
  if (!named.test(shown)) return false
  try {
    return bare(new URL(/^https?:\/\//i.test(shown) ? shown : `https://${shown}`).hostname) !== bare(url.hostname)
  } catch {
    return true
  }
}

const bare = (host: string): string => host.replace(/^www\./, '')
