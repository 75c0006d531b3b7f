import type { Ref } from 'vue'

const REACHED = 'a[href], button:not(:disabled), [tabindex="0"]'

interface List {
  readonly scroller: Readonly<Ref<HTMLElement | null>>
  count(): number
  /** Brings an item into view, so that it is mounted soon. */
  scrollTo(index: number): void
}

/**
 * Lets Tab go through a list that mounts what is seen only: who presses it faster than items come is not led out of the
 * list. Items are marked with data-item, their position. Returns the handler for keydown on the scroller.
 */
export function useTab({ scroller, count, scrollTo }: List): (event: KeyboardEvent) => void {
  /** The item that the presses so far lead to, while it is not mounted. */
  let wanted: number | null = null

  const itemOf = (el: Element | null): HTMLElement | null => el?.closest<HTMLElement>('[data-item]') ?? null
  const mounted = (index: number): HTMLElement | null => scroller.value?.querySelector<HTMLElement>(`[data-item="${index}"]`) ?? null

  /** Whether something in the page follows, in the order of Tab, that belongs to the list. */
  function leadsOn(from: HTMLElement, by: 1 | -1): boolean {
    const all = [...(scroller.value?.querySelectorAll<HTMLElement>(REACHED) ?? [])]
    return all[all.indexOf(from) + by] !== undefined
  }

  function follow(by: 1 | -1): void {
    if (wanted === null || !scroller.value) return
    const item = mounted(wanted)
    if (!item) {
      requestAnimationFrame(() => follow(by))
      return
    }
    wanted = null
    const reached = [...item.querySelectorAll<HTMLElement>(REACHED)]
    ;(by > 0 ? reached[0] : reached.at(-1))?.focus()
  }

  return (event) => {
    const from = event.target
    if (event.key !== 'Tab' || event.ctrlKey || event.altKey || event.metaKey || !(from instanceof HTMLElement)) return
    const by = event.shiftKey ? -1 : 1
    const at = Number(itemOf(from)?.dataset.item ?? NaN)
    if (wanted === null && (Number.isNaN(at) || leadsOn(from, by))) return
    const next = (wanted ?? at) + by
    if (next < 0 || next >= count()) return
    event.preventDefault()
    const waiting = wanted !== null
    wanted = next
    scrollTo(next)
    if (!waiting) follow(by)
  }
}
