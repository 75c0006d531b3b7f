import { onBeforeUnmount, onMounted, type ShallowRef } from 'vue'
import type { Found, Hit, Query } from '@/core/find'
import type { Reader } from '@/core/reader'
import { elementOf, placesOf } from './places'
import type { Current } from './useFind'

/** The bar lies over this much of the view's top, in px; an occurrence below it is seen. */
export const covered = 64
export const margin = 24

/** Whether occurrences can be marked: it takes the CSS Custom Highlight API. */
const supported = typeof Highlight === 'function' && typeof CSS !== 'undefined' && 'highlights' in CSS

export interface Paint {
  /** Marks what is mounted, in the next frame. */
  paint(): void
  /** The occurrence in view that is nearest to its top, or else the one that is nearest to the view. */
  nearest(found: Found, key: string | null): Current | null
}

/**
 * Marks occurrences in the rows that are mounted, without a change to the page's elements. `drawn` is told the current
 * one after each time, null while it is not mounted.
 */
export function usePaint(
  reader: Reader,
  query: Readonly<ShallowRef<Query>>,
  found: Readonly<ShallowRef<Found | null>>,
  current: Readonly<ShallowRef<Current | null>>,
  drawn: (current: Range | null) => void,
): Paint {
  const all = supported ? new Highlight() : null
  const one = supported ? new Highlight() : null
  let due = 0
  let byRow = new Map<string, Hit[]>()
  let mapped: Found | null = null

  function paint(): void {
    due ||= requestAnimationFrame(draw)
  }

  function hitsOf(value: Found): Map<string, Hit[]> {
    if (mapped !== value) byRow = grouped(value.hits)
    mapped = value
    return byRow
  }

  function draw(): void {
    due = 0
    all?.clear()
    one?.clear()
    if (found.value) mark(found.value)
    drawn(([...(one ?? [])][0] as Range | undefined) ?? null)
  }

  function mark(value: Found): void {
    if (!all || !one) return
    const hits = hitsOf(value)
    for (const el of reader.element.querySelectorAll<HTMLElement>('[data-row]')) {
      for (const { row, part } of hits.get(el.dataset.row ?? '') ?? []) {
        const inner = elementOf(el, row, part)
        if (!inner) continue
        const { first, ranges } = placesOf(inner, part, query.value)
        const nth = current.value?.key === part.key ? current.value.nth - first : -1
        ranges.forEach((range, i) => (i === nth ? one : all).add(range))
      }
    }
  }

  function nearest(value: Found, key: string | null): Current | null {
    const view = reader.element.getBoundingClientRect()
    const { scrollTop, clientHeight } = reader.element
    const first = reader.indexAt(scrollTop)
    const last = reader.indexAt(scrollTop + clientHeight)
    const shown = value.hits.filter((hit) => hit.index >= first && hit.index <= last)
    // Where the person was taken last comes first, while it still fits.
    for (const { row, part } of shown.toSorted((a, b) => Number(b.part.key === key) - Number(a.part.key === key))) {
      const el = reader.elementOf(row.key)
      const inner = el && elementOf(el, row, part)
      if (!inner) continue
      const places = placesOf(inner, part, query.value)
      const seen = places.ranges.findIndex((range) => {
        const { top, bottom } = range.getBoundingClientRect()
        return bottom > view.top && top < view.bottom
      })
      if (seen >= 0) return { key: part.key, nth: places.first + seen }
    }
    if (shown[0]) return { key: shown[0].part.key, nth: 0 }
    const above = value.hits.findLast((hit) => hit.index < first)
    const below = value.hits.find((hit) => hit.index > last)
    const up = above ? scrollTop - reader.topOf(above.index + 1) : Infinity
    const down = below ? reader.topOf(below.index) - scrollTop - clientHeight : Infinity
    if (below && down <= up) return { key: below.part.key, nth: 0 }
    return above ? { key: above.part.key, nth: above.count - 1 } : null
  }

  // Rows mount and grow, code gets its colours, folds open: whatever changes below is marked again.
  const changes = new MutationObserver(paint)
  let unwatch = (): void => {}
  onMounted(() => {
    if (!all || !one) return
    all.priority = 1
    one.priority = 2
    CSS.highlights.set('find', all)
    CSS.highlights.set('find-current', one)
    changes.observe(reader.element, { subtree: true, childList: true, characterData: true })
    reader.element.addEventListener('scroll', paint, { capture: true, passive: true })
    unwatch = reader.watch(paint)
  })
  onBeforeUnmount(() => {
    cancelAnimationFrame(due)
    changes.disconnect()
    reader.element?.removeEventListener('scroll', paint, { capture: true })
    unwatch()
    if (!all) return
    CSS.highlights.delete('find')
    CSS.highlights.delete('find-current')
  })
  return { paint, nearest }
}

function grouped(hits: readonly Hit[]): Map<string, Hit[]> {
  const map = new Map<string, Hit[]>()
  for (const hit of hits) {
    const own = map.get(hit.row.key)
    if (own) own.push(hit)
    else map.set(hit.row.key, [hit])
  }
  return map
}
