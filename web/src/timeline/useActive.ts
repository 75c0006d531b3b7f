import { onBeforeUnmount, ref, watch, type Ref } from 'vue'

import type { Reader } from '@/core/reader'
import { activeAt, lineOfView, longestWay, offsetFor, underWay, type PromptItem } from '@/core/timeline'

/** Which prompt is read, and going to one. */
export interface Active {
  readonly active: Ref<number>
  /** Scrolls to an item; smooth only where the person has nothing against motion. */
  locate(index: number, how: { smooth: boolean }): Promise<void>
}

/** Follows what is read (R-CHAT-070). Tops come from the heights that the list has measured, not from the page. */
export function useActive(items: Readonly<Ref<readonly PromptItem[]>>, reader: Reader): Active {
  const active = ref(0)
  /** Positions of the items' rows, right for one state of rows and items. */
  let at: number[] = []
  let foundIn: { rows: unknown; items: unknown } | null = null
  /** A smooth way: its target is active until it has arrived. */
  let way: { key: string; began: number } | null = null
  let end: ReturnType<typeof setTimeout> | undefined
  let gone = false

  function find(): void {
    const rows = reader.rows()
    if (foundIn?.rows === rows && foundIn.items === items.value) return
    foundIn = { rows, items: items.value }
    const byKey = new Map(items.value.map((item, i) => [item.key, i]))
    at = items.value.map(() => -1)
    rows.forEach((row, r) => {
      const i = row.type === 'user' ? byKey.get(row.key) : undefined
      if (i !== undefined) at[i] = r
    })
  }

  /** The top of an item in the content; an item whose row is not there yet comes behind all. */
  function topOf(i: number): number {
    const key = items.value[i]?.key
    if (reader.rows()[at[i] ?? -1]?.key !== key) find()
    const row = at[i] ?? -1
    return row < 0 ? Infinity : reader.topOf(row)
  }

  /** Where an item is put below the top of the view. */
  function placeOf(i: number): number {
    const line = lineOfView(reader.element.clientHeight)
    const gap = i + 1 < items.value.length ? topOf(i + 1) - topOf(i) : Infinity
    return i === 0 ? Math.max(topOf(0), offsetFor(line, gap)) : offsetFor(line, gap)
  }

  function look(): void {
    const { scrollTop, clientHeight } = reader.element
    const target = way ? items.value.findIndex((item) => item.key === way!.key) : -1
    if (way && target >= 0) {
      const distance = topOf(target) - scrollTop - placeOf(target)
      if (underWay(distance, performance.now() - way.began)) {
        active.value = target
        return
      }
    }
    way = null
    active.value = activeAt(scrollTop + lineOfView(clientHeight), items.value.length, topOf)
  }

  async function locate(index: number, how: { smooth: boolean }): Promise<void> {
    const key = items.value[index]?.key
    if (key === undefined) return
    const smooth = how.smooth && !matchMedia('(prefers-reduced-motion: reduce)').matches
    clearTimeout(end)
    const mine = (way = smooth ? { key, began: performance.now() } : null)
    if (smooth) end = setTimeout(leave, longestWay)
    look()
    const place = (): number => placeOf(items.value.findIndex((item) => item.key === key))
    const arrived = await reader.go(key, place, { smooth })
    if (gone || way !== mine) return
    if (arrived) look()
    else leave()
  }

  function leave(): void {
    way = null
    look()
  }

  const unwatch = reader.watch(look)
  watch(items, look, { immediate: true, flush: 'post' })
  onBeforeUnmount(() => {
    gone = true
    unwatch()
    clearTimeout(end)
  })
  return { active, locate }
}
