// The Session configuration as the composer shows it: functions of the Agent's last snapshot and of nothing else
// (R-CHAT-033…036). Whatever the Agent sends is plain text here.

import type { ConfigOption } from '@/api/types'

/** A choice in the submenu of a select option. */
export interface ConfigMenuChoice {
  value: string
  label: string
  hint?: string
}

/** An entry of the configuration menu: a select option is "radio", a boolean one "check". */
export type ConfigMenuEntry =
  | {
      type: 'radio'
      id: string
      label: string
      /** The current value as the Agent names it. */
      hint?: string
      /** What the option is about, shown above its choices. */
      about?: string
      value: string
      disabled: boolean
      groups: { label?: string; choices: ConfigMenuChoice[] }[]
    }
  | { type: 'check'; id: string; label: string; hint?: string; checked: boolean; disabled: boolean }

/**
 * The label of the button: the names of the current model and thought level. "" when the Agent has neither, or says no
 * value of them. A mode stands in the menu only (decision 19).
 */
export function configLabel(options: readonly ConfigOption[]): string {
  const shown = ['model', 'thought_level'].map((category) => {
    const first = options.find((o) => o.category === category && o.type === 'select')
    return first ? valueName(first) : ''
  })
  return shown.filter(Boolean).join(' · ')
}

/** The entries of the menu in the Agent's order. Options whose change is on its way cannot be changed meanwhile. */
export function configMenu(options: readonly ConfigOption[], pending: ReadonlySet<string>): ConfigMenuEntry[] {
  return options.flatMap((o): ConfigMenuEntry[] => {
    const disabled = pending.has(o.id)
    const label = o.name || o.id
    if (typeof o.currentValue === 'boolean') {
      return o.type === 'boolean'
        ? [{ type: 'check', id: o.id, label, hint: o.description || undefined, checked: o.currentValue, disabled }]
        : []
    }
    if (o.type !== 'select') return []
    const groups = (o.options ?? []).map((g) => ({
      label: g.name || g.group || undefined,
      choices: g.options.map((c) => ({ value: c.value, label: c.name || c.value, hint: c.description || undefined })),
    }))
    const none = groups.every((g) => g.choices.length === 0)
    const hint = valueName(o) || undefined
    const about = o.description || undefined
    return [{ type: 'radio', id: o.id, label, hint, about, value: o.currentValue, disabled: disabled || none, groups }]
  })
}

/** The name of a select option's current value, or the value itself when the Agent does not offer it. */
function valueName(option: ConfigOption): string {
  const value = String(option.currentValue)
  for (const group of option.options ?? []) {
    const choice = group.options.find((c) => c.value === value)
    if (choice) return choice.name || value
  }
  return value
}
