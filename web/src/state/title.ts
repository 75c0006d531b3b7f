import { watchEffect } from 'vue'

import { t } from '@/i18n'

import { workspace } from './window'

/** useTitle names the tab while the calling component lives: what is shown, and in which Workspace. */
export function useTitle(text: () => string): void {
  watchEffect(() => {
    document.title = [text(), workspace.value?.name, t('app.name')].filter(Boolean).join(' – ')
  })
}
