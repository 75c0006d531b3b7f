import { computed, nextTick, onBeforeUnmount, onMounted, shallowRef, type ComputedRef, type ShallowRef } from 'vue'
import { guessHeight, Heights } from '@/core/heights'
import type { Row } from '@/core/rows'

/** The list stands this far below the top of what scrolls. */
const MARGIN = 8
/** Rows are mounted this far beyond the view, and mounted anew when less than half of it is left. */
const BUFFER = 480
/** Rounds of mounting and measuring; two are the rule, more when guesses were far off. */
const ROUNDS = 8

/** What does not move when heights change: the end, or a row whose top stays so far below the top of the view. */
export type Hold = 'end' | { readonly key: string; readonly index: number; readonly offset: number }

interface Elements {
  readonly scroller: Readonly<ShallowRef<HTMLElement | null>>
  /** What holds the rows. */
  readonly holder: Readonly<ShallowRef<HTMLElement | null>>
  /** All is in place, before the page is painted. */
  placed(): void
}

/** The rows of a transcript, of which those near the view are mounted, in the flow of the page. */
export interface RowList {
  readonly rows: ShallowRef<readonly Row[]>
  readonly shown: ComputedRef<readonly Row[]>
  /** Room for the rows that are not mounted. */
  readonly room: Readonly<ShallowRef<{ paddingTop: string; paddingBottom: string }>>
  /** Changes the rows. What is held stays where it is, to the pixel. */
  set(rows: readonly Row[]): void
  /** Holds something else and goes there. */
  hold(what: Hold): Promise<void>
  /** Holds what is in view now, also when somebody scrolled there. */
  holdView(): void
  /** Whether the view stands elsewhere than it was put: somebody scrolled. */
  moved(): boolean
  topOf(index: number): number
  indexAt(top: number): number
  indexOf(key: string, near?: number): number
}

/**
 * Draws a list of which only the rows near the view are in the page. Rows are measured and the view is put right before
 * each paint, so neither a wrong guess nor a change above is ever seen.
 */
export function useRows({ scroller, holder, placed }: Elements): RowList {
  const heights = new Heights<Row>(guessHeight)
  const rows = shallowRef<readonly Row[]>([])
  const range = shallowRef<readonly [from: number, to: number]>([0, 0])
  const room = shallowRef({ paddingTop: '0', paddingBottom: '0' })
  const mounted = new Set<Element>()
  let held: Hold = 'end'
  /** Where the view was put. */
  let put = 0
  let run = 0
  /** The last fit() that was begun. */
  let fitting: Promise<void> = Promise.resolve()
  /** The view jumps: only what it shows is mounted. */
  let narrow = false
  let widening = 0
  let observer: ResizeObserver | undefined

  const shown = computed(() => rows.value.slice(...range.value))

  function makeRoom(): void {
    const [from, to] = range.value
    room.value = { paddingTop: `${heights.topOf(from)}px`, paddingBottom: `${heights.total - heights.topOf(to)}px` }
  }

  /** Where the view's top belongs. */
  function target(el: HTMLElement): number {
    if (held === 'end') return Math.max(0, heights.total + MARGIN - el.clientHeight)
    return heights.topOf(held.index) + MARGIN - held.offset
  }

  /** Mounts the rows around a place; false when they are. */
  function cover(el: HTMLElement, top: number): boolean {
    const at = (y: number): number => heights.indexAt(y - MARGIN)
    const [from, to] = range.value
    // Who drags the scroll bar is elsewhere with each frame: what lies around the view can wait.
    if (to > from && (at(top + el.clientHeight) < from || at(top) >= to)) widen()
    const buffer = narrow ? 0 : BUFFER
    const near = buffer / 2
    const last = rows.value.length
    const enough = from <= at(top - near) && to >= Math.min(last, at(top + el.clientHeight + near) + 1)
    if (enough && to <= last && to - from <= 4 * (at(top + el.clientHeight + BUFFER) - at(top - BUFFER) + 1)) return false
    const next = [at(top - buffer), Math.min(last, at(top + el.clientHeight + buffer) + 1)] as const
    if (next[0] === from && next[1] === to) return false
    keepFocus(el, next)
    range.value = next
    makeRoom()
    return true
  }

  /** Mounts what lies around the view once it has not jumped for a frame. */
  function widen(): void {
    narrow = true
    cancelAnimationFrame(widening)
    widening = requestAnimationFrame(() => {
      widening = requestAnimationFrame(() => {
        narrow = false
        void fit()
      })
    })
  }

  /** A row that leaves the page hands the focus to the list, so that keys still scroll. */
  function keepFocus(el: HTMLElement, [from, to]: readonly [number, number]): void {
    const row = document.activeElement?.closest<HTMLElement>('[data-row]')
    if (!row || row.parentElement !== holder.value) return
    const at = heights.indexOf(row.dataset.row ?? '', from)
    if (at < from || at >= to) el.focus({ preventScroll: true })
  }

  /** Reads what the mounted rows measure; false when that was known. */
  function measure(): boolean {
    const children = holder.value?.children ?? []
    const [from] = range.value
    let changed = false
    for (let i = 0; i < children.length; i++) {
      const row = children[i] as HTMLElement
      if (!mounted.has(row)) {
        mounted.add(row)
        observer?.observe(row)
      }
      if (row.dataset.row === rows.value[from + i]?.key && heights.measure(from + i, row.getBoundingClientRect().height)) changed = true
    }
    for (const row of mounted) {
      if (row.isConnected) continue
      mounted.delete(row)
      observer?.unobserve(row)
    }
    if (changed) makeRoom()
    return changed
  }

  /** Mounts, measures and puts the view right until nothing changes; all of it between two paints. */
  function fit(): Promise<void> {
    return (fitting = fitOnce(++run))
  }

  /** A later one takes over from an earlier one. */
  async function fitOnce(me: number): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const el = scroller.value
      if (!el) return
      cover(el, target(el))
      await nextTick()
      if (me !== run) return
      const changed = measure()
      const top = held === 'end' ? el.scrollHeight - el.clientHeight : target(el)
      if (Math.abs(el.scrollTop - top) >= 0.5) el.scrollTop = top
      put = el.scrollTop
      if (!changed && !cover(el, put)) break
    }
    placed()
  }

  function set(next: readonly Row[]): void {
    catchUp()
    heights.set(next)
    rows.value = next
    makeRoom()
    if (held !== 'end') {
      const index = heights.indexOf(held.key, held.index)
      if (index >= 0) held = { ...held, index }
      else holdView()
    }
    void fit()
  }

  /** Resolves when the view is there, also when the rows changed on the way. */
  async function hold(what: Hold): Promise<void> {
    held = what
    void fit()
    for (let last = null; last !== fitting; await last) last = fitting
  }

  function holdView(): void {
    const el = scroller.value
    if (!el) return
    put = el.scrollTop
    const index = heights.indexAt(put - MARGIN)
    const row = rows.value[index]
    if (row) held = { key: row.key, index, offset: heights.topOf(index) + MARGIN - put }
  }

  /** The view may have been scrolled already without an event for it yet. */
  function catchUp(): void {
    if (held !== 'end' && moved()) holdView()
  }

  const moved = (): boolean => scroller.value !== null && scroller.value.scrollTop !== put

  onMounted(() => {
    // Heights changed under the list: pictures, folds, the width of the page, what stands below the rows.
    observer = new ResizeObserver(() => {
      catchUp()
      void fit()
    })
    if (scroller.value) observer.observe(scroller.value)
    if (holder.value?.parentElement) observer.observe(holder.value.parentElement)
    void fit()
  })
  onBeforeUnmount(() => {
    run++
    cancelAnimationFrame(widening)
    observer?.disconnect()
  })

  return {
    rows, shown, room, set, hold, moved,
    holdView: () => {
      holdView()
      void fit()
    },
    topOf: (index) => heights.topOf(index) + MARGIN,
    indexAt: (top) => heights.indexAt(top - MARGIN),
    indexOf: (key, near = 0) => heights.indexOf(key, near),
  }
}
