/** More characters than this of a title or a path tell nobody anything, and cost seconds to lay out. */
export const SHORT = 1000

/** Cuts a title that is too long for a line, with a sign of it. For display: what is stored, copied and found stays whole. */
export function short(text: string): string {
  return text.length > SHORT ? `${text.slice(0, whole(text, SHORT))}…` : text
}

/** Cuts a path in its middle, since its end names the file. */
export function shortPath(path: string): string {
  if (path.length <= SHORT) return path
  const half = SHORT / 2
  return `${path.slice(0, whole(path, half))}…${path.slice(whole(path, path.length - half))}`
}

/** The position itself, or the one before when it is inside of a surrogate pair. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit < 0xe000 ? at - 1 : at
}
