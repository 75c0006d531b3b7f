import { watchEffect } from 'vue'

import { t } from '@/i18n'

/** useTitle names the tab while the calling component lives; an empty text names it after the application. */
export function useTitle(text: () => string): void {
  watchEffect(() => {
    const own = text()
    document.title = own ? `${own} – ${t('app.name')}` : t('app.name')
  })
}
