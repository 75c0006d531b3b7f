import type { Reader } from '@/core/reader'
import type { Row } from '@/core/rows'

/** Frames in which a card may still be drawn once its row is there. */
const patience = 30
/** Pixels between the top of the view and the row of the card. */
const room = 24

/**
 * Goes to the card of an open request and gives it the keyboard (R-CHAT-138, R-ACT-107). Resolves with false when there is
 * no such card.
 */
export async function jumpToAsk(reader: Reader, id: string): Promise<boolean> {
  const row = reader.rows().find((r) => asks(r, id))
  if (row && !(await reader.go(row.key, () => room, { smooth: false }))) return false
  for (let i = 0; i < patience; i++) {
    const card = reader.element.querySelector<HTMLElement>(`[data-permission="${CSS.escape(id)}"]`)
    if (card) {
      if (!row) card.scrollIntoView({ block: 'center' }) // it stands behind the last row
      card.focus({ preventScroll: row !== undefined }) // the card, not an option: Enter must not answer by accident
      return true
    }
    await new Promise(requestAnimationFrame)
  }
  return false
}

function asks(row: Row, id: string): boolean {
  if (row.type === 'group') return row.items.some((item) => asks(item, id))
  return (row.type === 'tool' || row.type === 'subagent') && row.asks.some((a) => a.permission.id === id)
}
