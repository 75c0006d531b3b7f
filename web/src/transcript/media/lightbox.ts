import { h, render, type AppContext } from 'vue'
import type { Attachment } from '@/api/types'
import { lazy } from '@/ui/lazy'

/** A picture that a lightbox can show. */
export interface Picture {
  attachment: Attachment
  load: () => Promise<Blob>
}

const Lightbox = lazy(() => import('./Lightbox.vue'))

/**
 * Shows pictures over the page, beginning with one of them. It lives outside of the rows: a running turn may scroll the
 * row away from which it was opened.
 */
export function openLightbox(pictures: readonly Picture[], at: number, app: AppContext | null): void {
  const host = document.createElement('div')
  document.body.append(host)
  const box = h(Lightbox, { pictures, at, onClosed: () => (render(null, host), host.remove()) })
  box.appContext = app
  render(box, host)
}
