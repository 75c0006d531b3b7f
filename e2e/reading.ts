// What a person sees of a conversation, frame by frame.

import type { Page } from '@playwright/test'

interface Watched {
  stop: boolean
  tops: number[]
}

/**
 * holdStill watches where the first row in view stands, from now on, after each frame that is painted. What it returns
 * ends the watch and gives the largest difference in CSS px, and the number of frames.
 */
export async function holdStill(page: Page): Promise<() => Promise<{ moved: number; frames: number }>> {
  const text = await page.evaluate(() => {
    const log = document.querySelector<HTMLElement>('[role=log]')!
    const edge = log.getBoundingClientRect().top
    const rows = [...log.querySelectorAll<HTMLElement>('[data-row]')]
    const row = rows.find((r) => r.parentElement!.style.visibility !== 'hidden' && r.getBoundingClientRect().bottom > edge + 1)!
    const watched: Watched = { stop: false, tops: [row.getBoundingClientRect().top] }
    ;(window as unknown as { watched: Watched }).watched = watched
    const sample = (): void => {
      watched.tops.push(row.isConnected ? row.getBoundingClientRect().top : NaN)
      if (!watched.stop) requestAnimationFrame(after)
    }
    // A message comes after the paint that a frame ends with.
    const after = (): void => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = sample
      port2.postMessage(0)
    }
    requestAnimationFrame(after)
    return row.textContent
  })
  if (!text) throw new Error('there is no row in view')
  return () =>
    page.evaluate(() => {
      const { watched } = window as unknown as { watched: Watched }
      watched.stop = true
      const [first] = watched.tops
      return { moved: Math.max(...watched.tops.map((top) => Math.abs(top - first!))), frames: watched.tops.length }
    })
}
