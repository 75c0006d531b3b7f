import { onBeforeUnmount, type ShallowRef } from 'vue'
import type { Hit, Query } from '@/core/find'
import type { Reader } from '@/core/reader'
import { elementOf, isCut, mountItem, placesOf, showInside, showLine } from './places'
import { covered, margin } from './usePaint'

/** How long what opens may take to show what is in it, in ms: its code may have to be loaded. */
const PATIENCE = 3000

export interface Jump {
  to(hit: Hit, nth: number): Promise<void>
  /** Gives up a jump that is on its way. */
  end(): void
}

/** Brings an occurrence into view: opens what holds it, and scrolls the transcript and the boxes inside of it. */
export function useJump(reader: Reader, query: Readonly<ShallowRef<Query>>, paint: () => void): Jump {
  let version = 0
  onBeforeUnmount(() => version++)

  async function to(hit: Hit, nth: number): Promise<void> {
    const mine = ++version
    const live = (): boolean => mine === version
    const { row, part } = hit

    const element = (): Element | null => {
      const el = reader.elementOf(row.key)
      return el && elementOf(el, row, part)
    }
    const range = (): Range | undefined => {
      const el = element()
      if (!el) return undefined
      const { first, ranges } = placesOf(el, part, query.value)
      return ranges[nth - first]
    }
    const go = (): Promise<boolean> => reader.go(row.key, () => offsetOf(reader, row.key, range()), { smooth: false })
    const shown = (): Promise<boolean> => until(() => range() !== undefined, live)

    if (row.type === 'group') reader.reveal([`${row.key}:group`])
    if (!(await go()) || !live()) return
    if (row.type === 'group') {
      await until(() => !!reader.elementOf(row.key)?.querySelector('[data-fold] [data-fold]'), live)
      const el = reader.elementOf(row.key)
      if (el && live()) await mountItem(el, row, part, frame)
    } else if (part.type === 'code') {
      await until(() => !!element()?.querySelector('.code-text, .virtual-lines'), live)
      const el = element()
      if (el && showLine(el, part, query.value, nth)) await frame()
    }
    if (!live()) return
    const first = range()
    if (!first || isCut(first)) {
      reader.reveal([part.key])
      await shown()
    }
    if (!live()) return
    const found = range()
    if (found) showInside(found, reader.element)
    if (await go()) paint()
  }

  return { to, end: () => version++ }
}

/** Where the top of a row must stand, so that an occurrence in it is seen: as it stands when it is. */
function offsetOf(reader: Reader, key: string, range: Range | undefined): number {
  const third = Math.round(reader.element.clientHeight / 3)
  const row = reader.elementOf(key)?.getBoundingClientRect()
  if (!row || !range) return third
  const view = reader.element.getBoundingClientRect()
  const at = range.getBoundingClientRect()
  if (at.top >= view.top + covered && at.bottom <= view.bottom - margin) return row.top - view.top
  return third - (at.top - row.top)
}

function frame(): Promise<number> {
  return new Promise(requestAnimationFrame)
}

async function until(come: () => boolean, live: () => boolean): Promise<boolean> {
  const began = performance.now()
  while (!come()) {
    if (!live() || performance.now() - began > PATIENCE) return false
    await frame()
  }
  return true
}
