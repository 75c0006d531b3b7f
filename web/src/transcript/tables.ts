/*
 * A long table is drawn in parts, each in a row of the list. A table that is wider than its column scrolls, and then
 * its parts scroll together.
 */
interface Joined {
  left: number
  boxes: Set<HTMLElement>
}

const tables = new Map<string, Joined>()

/** Lets the scrolling box of a part follow the others with the same key. Returns what ends that. */
export function joinTable(key: string, box: HTMLElement): () => void {
  let joined = tables.get(key)
  if (!joined) tables.set(key, (joined = { left: 0, boxes: new Set() }))
  const all = joined
  all.boxes.add(box)
  box.scrollLeft = all.left
  const follow = (): void => {
    if (box.scrollLeft === all.left) return
    all.left = box.scrollLeft
    for (const other of all.boxes) other.scrollLeft = all.left
  }
  box.addEventListener('scroll', follow, { passive: true })
  return () => {
    box.removeEventListener('scroll', follow)
    all.boxes.delete(box)
    if (all.boxes.size === 0) tables.delete(key)
  }
}
