/**
 * What tells files apart: the path, cleaned up without asking the disk. Where it has the form of Windows, drive,
 * separators and case make no difference (R-CHAT-100). Core says the same; a key is for comparing, not for opening.
 */
export function fileKey(path: string): string {
  const p = path.startsWith('\\\\?\\') ? path.slice(4) : path
  if (/^[A-Za-z]:/.test(p)) return (p.slice(0, 2) + clean('/' + p.slice(2).replaceAll('\\', '/'))).toLowerCase()
  if (p.startsWith('\\\\')) return ('/' + clean(p.slice(1).replaceAll('\\', '/'))).toLowerCase()
  return clean(p)
}

function clean(path: string): string {
  const rooted = path.startsWith('/')
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.length > 0 && names.at(-1) !== '..') names.pop()
    else if (!rooted) names.push(name)
  }
  return (rooted ? '/' : '') + names.join('/') || '.'
}

/** A path as directory, with its last separator, and name. */
export function splitPath(path: string): { directory: string; name: string } {
  const windows = /^[A-Za-z]:[\\/]|^\\\\/.test(path)
  const at = Math.max(path.lastIndexOf('/'), windows ? path.lastIndexOf('\\') : -1) + 1
  return { directory: path.slice(0, at), name: path.slice(at) }
}
