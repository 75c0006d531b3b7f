// The two groups of the list of Sessions, and the space each of them gets (R-CHAT-008, 010, 012).

/** A group of the list. */
export type GroupName = 'pinned' | 'recent'

/** The groups from the top to the bottom. */
export const groupNames: readonly GroupName[] = ['pinned', 'recent']

/** groupOf returns the one group that a Session is in. */
export function groupOf(session: { pinned: boolean }): GroupName {
  return session.pinned ? 'pinned' : 'recent'
}

/** groupsOf sorts Sessions into their groups and keeps their order. */
export function groupsOf<T extends { pinned: boolean }>(sessions: readonly T[]): Record<GroupName, T[]> {
  const groups: Record<GroupName, T[]> = { pinned: [], recent: [] }
  for (const s of sessions) groups[groupOf(s)].push(s)
  return groups
}

/** What the space for a group depends on. */
export interface GroupShape {
  /** Height of all its rows in CSS pixels; 0 for an empty group, which shows no header either. */
  content: number
  open: boolean
}

/**
 * groupHeights shares the height of the list among the rows of the groups, in CSS pixels; a collapsed group gets 0.
 * `header` is the height of one header, which every group with content shows. When both groups are open, the pinned
 * one takes what it needs, with its header at most half of the list, and the other one takes the rest. A group that is
 * alone, or alone open, takes all space that the headers leave.
 */
export function groupHeights(
  list: number,
  header: number,
  groups: Record<GroupName, GroupShape>,
): Record<GroupName, number> {
  const shown = groupNames.filter((name) => groups[name].content > 0)
  const open = shown.filter((name) => groups[name].open)
  const space = Math.max(0, list - shown.length * header)
  const heights: Record<GroupName, number> = { pinned: 0, recent: 0 }
  if (open.length === 2) {
    heights.pinned = Math.min(groups.pinned.content, Math.max(0, Math.floor(list / 2) - header))
    heights.recent = space - heights.pinned
  } else if (open.length === 1) {
    heights[open[0]!] = space
  }
  return heights
}
