import { watchEffect } from 'vue'

import { t } from '@/i18n'

import { unseen } from './notices'
import { workspace } from './window'

/** useTitle names the tab while the calling component lives: how much waits, what is shown, and in which Workspace. */
export function useTitle(text: () => string): void {
  watchEffect(() => {
    const waits = workspace.value && unseen.value > 0 ? `(${unseen.value}) ` : ''
    document.title = waits + [text(), workspace.value?.name, t('app.name')].filter(Boolean).join(' – ')
  })
}
