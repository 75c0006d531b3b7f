import { defineAsyncComponent, type AsyncComponentLoader, type Component } from 'vue'

/** How long to wait before the first repetition and at most, in ms. */
const first = 250
const longest = 8_000

/**
 * A part of the page that is loaded when it is used. While Core does not answer it is asked for again and again, so that
 * what was opened meanwhile shows itself once Core is back.
 */
export function lazy<T extends Component>(load: AsyncComponentLoader<T>): T {
  return defineAsyncComponent(insist(load as () => Promise<T>))
}

/** Makes a loader of code out of an import: however often it is called, the code is asked for once, until it is there. */
export function insist<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null
  return () => (loading ??= untilThere(load))
}

async function untilThere<T>(load: () => Promise<T>): Promise<T> {
  for (let wait = 0; ; wait = Math.min(2 * wait || first, longest)) {
    try {
      if (wait > 0) await stylesAgain(wait)
      return await load()
    } catch (e) {
      if (!unreachable(e)) throw e
    }
  }
}

/** Whether code or its style was not delivered; any other error is one of the code itself, and stays one. */
function unreachable(e: unknown): boolean {
  return e instanceof Error && /Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed|Unable to preload CSS/i.test(e.message)
}

/** Styles that were not delivered. Who loads code with its style believes to have asked, and does not ask again. */
const lost = new Set<HTMLLinkElement>()
window.addEventListener(
  'error',
  (e) => {
    if (e.target instanceof HTMLLinkElement && e.target.rel === 'stylesheet') lost.add(e.target)
  },
  { capture: true }, // an error of a resource does not bubble
)

/** Waits, and asks for lost styles. */
async function stylesAgain(wait: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, wait))
  await Promise.all([...lost].map(renew))
}

function renew(link: HTMLLinkElement): Promise<void> {
  const again = link.cloneNode() as HTMLLinkElement
  lost.delete(link) // should it fail, the new one is lost
  return new Promise((resolve, reject) => {
    again.onload = () => resolve()
    again.onerror = () => reject(new Error(`Unable to preload CSS for ${again.href}`))
    link.replaceWith(again)
  })
}
