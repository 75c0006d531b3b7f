// The preferences, applied as they come.

import { ref, shallowRef, watch } from 'vue'

import type { Settings, StreamEvent } from '@/api/types'
import { setLanguage } from '@/i18n'

import { client } from './client'

/** The preferences; defaults until Core has told them. */
export const settings = shallowRef<Settings>({
  theme: 'system',
  language: '',
  railCollapsed: false,
  hideTour: false,
  defaultPermissionPolicy: 'ask',
})

/** Whether Core has answered, with preferences or with a failure; defaults that depend on them wait for it. */
export const settingsKnown = ref(false)

/** loadSettings reads the preferences; when it fails, the ones in force stay. */
export async function loadSettings(): Promise<void> {
  try {
    settings.value = await client.settings()
  } catch {
    // A background refresh: what is shown stays, the stream brings the next change (R-CHAT-164).
  } finally {
    settingsKnown.value = true
  }
}

/** changeSettings stores some preferences. */
export async function changeSettings(change: Partial<Settings>): Promise<void> {
  settings.value = await client.patchSettings(change)
}

/** rememberAgent makes an Agent the default of the next draft (R-AGT-110). Forgetting it would hurt nobody. */
export async function rememberAgent(id: string): Promise<void> {
  if (settings.value.lastAgent === id) return
  await changeSettings({ lastAgent: id }).catch(() => undefined)
}

/** applyToSettings takes the `settings` events of a frame. */
export function applyToSettings(events: readonly StreamEvent[]): void {
  for (const event of events) if (event.type === 'settings') settings.value = event.data
}

// Core writes both into the page that it sends, for the first paint of the next visit.
watch(settings, (s) => {
  setLanguage(s.language)
  const fixed = s.theme === 'light' || s.theme === 'dark'
  if (fixed) document.documentElement.dataset.theme = s.theme
  else delete document.documentElement.dataset.theme
})
