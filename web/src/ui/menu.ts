import type { IconName } from './icons'

/** An entry of a Menu. A radio entry opens a submenu of its choices, below what it is `about`. */
export type MenuItem =
  | { type?: 'action'; id: string; label: string; hint?: string; icon?: IconName; danger?: boolean; disabled?: boolean }
  | { type: 'check'; id: string; label: string; hint?: string; checked: boolean; disabled?: boolean }
  | { type: 'radio'; id: string; label: string; hint?: string; about?: string; value: string; disabled?: boolean; groups: MenuChoices[] }
  | { type: 'separator'; id: string }
  | { type: 'label'; id: string; label: string }

/** A run of choices in the submenu of a radio entry; no label for choices outside any group. */
export interface MenuChoices {
  label?: string
  choices: { value: string; label: string; hint?: string }[]
}
