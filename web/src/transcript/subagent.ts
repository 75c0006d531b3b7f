import { reveal } from '@/core/reveal'
import type { Row, SubagentRow } from '@/core/rows'
import { short } from '@/core/short'
import { t } from '@/i18n'

/** What a subagent is called, as it is shown. */
export function subagentTitle({ tool }: SubagentRow): string {
  return reveal(short(tool.title || tool.name || t('subagent.untitled')))
}

/** The subagent that a part is the call of, at any depth; null when it is not there. */
export function findSubagent(rows: readonly Row[], of: { messageId: string; partId: string }): SubagentRow | null {
  return find(rows, of.messageId, (row) => row.partId === of.partId)
}

/** The subagent that a nested one stands in; null for one that stands in the message itself. */
export function parentOf(rows: readonly Row[], { level, messageId, tool }: SubagentRow): SubagentRow | null {
  return level === 0 ? null : find(rows, messageId, (row) => row.tool.toolCallId === tool.parentToolCallId)
}

function find(rows: readonly Row[], messageId: string, fits: (row: SubagentRow) => boolean): SubagentRow | null {
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i]!
    if (row.type !== 'subagent' || row.messageId !== messageId) continue
    if (fits(row)) return row
    for (const { row: inner } of row.children) if (inner.type === 'subagent' && fits(inner)) return inner
  }
  return null
}
