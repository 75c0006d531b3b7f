import { structuredPatch } from 'diff'

/** One line of a unified view. A gap stands for lines that did not change. */
export interface DiffLine {
  readonly kind: 'add' | 'delete' | 'same' | 'gap'
  readonly text: string
}

/** A comparison that would need more is not made: the page must not stall. */
const LIMIT = { maxEditLength: 4000, timeout: 150 }

/**
 * Compares two texts by lines with three lines around each change. An absent text is undefined. Returns null when the
 * comparison would take too long.
 */
export function unified(old: string | undefined, next: string | undefined): DiffLine[] | null {
  if (!old || !next) return whole(old ? 'delete' : 'add', old || next || '')
  const patch = structuredPatch('', '', old, next, undefined, undefined, { context: 3, ...LIMIT })
  if (!patch) return null
  return patch.hunks.flatMap((hunk, i) => [...(i > 0 ? [gap] : []), ...hunk.lines.flatMap(lineOf)])
}

const gap: DiffLine = { kind: 'gap', text: '' }

function whole(kind: 'add' | 'delete', text: string): DiffLine[] {
  if (text === '') return []
  return text.replace(/\n$/, '').split('\n').map((line) => ({ kind, text: line }))
}

/** A line of a patch begins with its sign; "\ No newline at end of file" is no line of the text. */
function lineOf(line: string): DiffLine[] {
  const text = line.slice(1)
  if (line.startsWith('+')) return [{ kind: 'add', text }]
  if (line.startsWith('-')) return [{ kind: 'delete', text }]
  return line.startsWith('\\') ? [] : [{ kind: 'same', text }]
}
