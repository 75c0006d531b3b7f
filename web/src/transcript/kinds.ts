import type { ToolKind } from '@/api/types'
import type { IconName } from '@/ui/icons'

/** One icon per kind, the same on a card and on a group (R-CHAT-088). */
export const kindIcons: Record<ToolKind, IconName> = {
  read: 'file',
  write: 'file-plus',
  edit: 'edit',
  delete: 'trash',
  move: 'move',
  search: 'search',
  execute: 'terminal',
  think: 'brain',
  fetch: 'globe',
  switch_mode: 'switch',
  other: 'wrench',
}
