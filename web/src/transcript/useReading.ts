import { onBeforeUnmount, ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import type { Reader } from '@/core/reader'
import type { Row } from '@/core/rows'
import { NEAR, Stick, Unseen } from '@/core/stick'
import { useRows, type RowList } from './useRows'

/** Older messages are wanted when the top is this near. */
const OLDER = 600
/** PageUp and PageDown leave this much of the page in view. */
const KEEP = 40
/** How long a smooth way takes, in ms, and how many views of it are walked: what lies before was never laid out. */
const SMOOTH = 240
const VIEWS = 1.5

interface Elements {
  readonly scroller: Readonly<ShallowRef<HTMLElement | null>>
  readonly holder: Readonly<ShallowRef<HTMLElement | null>>
  /** Opens a fold. */
  open(key: string): void
  /** The top is near. */
  atTop(): void
}

/** Where a transcript is read: at its end, which it follows, or at a place that stays where it is. */
export interface Reading extends Pick<RowList, 'rows' | 'shown' | 'room' | 'set'> {
  readonly reader: Reader
  /** The end is out of view. */
  readonly away: Ref<boolean>
  readonly nearTop: Ref<boolean>
  /** What came below while away. */
  readonly unseen: Ref<number | 'grown'>
  /** Lets what is in view stay there. */
  leave(): void
  toEnd(): void
  readonly on: {
    scroll(): void
    wheel(event: WheelEvent): void
    hold(event: PointerEvent): void
    key(event: KeyboardEvent): void
  }
}

const distance = (el: HTMLElement): number => el.scrollHeight - el.clientHeight - el.scrollTop

/** Makes the list follow its end, or stay where it is read. */
export function useReading({ scroller, holder, open, atTop }: Elements): Reading {
  const away = ref(false)
  const nearTop = ref(false)
  const unseen = shallowRef<number | 'grown'>(0)
  const stick = new Stick()
  const fresh = new Unseen<Row>()
  const list = useRows({ scroller, holder, placed })
  const { rows, shown, room, set } = list
  const { watch, tell } = makeWatch()
  let way = 0
  onBeforeUnmount(() => way++)

  function placed(): void {
    const el = scroller.value
    if (!el) return
    stick.at(el.scrollTop, el.scrollHeight)
    look(el)
    tell('layout')
  }

  function look(el: HTMLElement): void {
    away.value = !stick.stuck && distance(el) > NEAR
    nearTop.value = el.scrollTop < OLDER
    if (!away.value) fresh.all(rows.value)
    else fresh.upTo(rows.value, list.indexAt(el.scrollTop + el.clientHeight) - 1)
    unseen.value = away.value ? fresh.count(rows.value) : 0
    if (nearTop.value) atTop()
  }

  function onScroll(): void {
    const el = scroller.value
    if (!el) return
    if (list.moved()) {
      stick.scrolled(el.scrollTop, distance(el), el.scrollHeight)
      if (stick.stuck) void list.hold('end')
      else list.holdView()
    }
    look(el)
    tell('scroll')
  }

  function leave(): void {
    way++
    const el = scroller.value
    if (!el || el.scrollHeight <= el.clientHeight) return
    stick.leave()
    list.holdView()
  }

  function toEnd(): void {
    way++
    stick.follow()
    void list.hold('end')
  }

  function onWheel(event: WheelEvent): void {
    way++
    if (event.deltaY < 0) leave()
  }

  /** The pointer may be let go outside of the list, or be taken over by the browser for a touch. */
  function onHold(event: PointerEvent): void {
    way++
    stick.hold(true)
    const ends = event.pointerType === 'touch' ? ['touchend', 'touchcancel'] : ['pointerup', 'pointercancel']
    const release = (): void => {
      stick.hold(false)
      for (const end of ends) window.removeEventListener(end, release)
    }
    for (const end of ends) window.addEventListener(end, release)
  }

  function onKey(event: KeyboardEvent): void {
    const el = scroller.value
    if (!el || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || elsewhere(event.target, el)) return
    const page = el.clientHeight - KEEP
    const first = rows.value[0]
    if (event.key === 'ArrowUp' || (event.key === ' ' && event.shiftKey)) return leave()
    if (event.key === 'Home' && first) void go(first.key, () => list.topOf(0), { smooth: false })
    else if (event.key === 'End') toEnd()
    else if (event.key === 'PageUp') by(el, -page)
    else if (event.key === 'PageDown') by(el, page)
    else return
    event.preventDefault()
  }

  function by(el: HTMLElement, change: number): void {
    way++
    el.scrollTop += change
    if (change < 0) leave()
  }

  async function go(key: string, offset: () => number, how: { smooth: boolean }): Promise<boolean> {
    leave()
    const me = way
    const el = scroller.value
    if (!el || list.indexOf(key) < 0) return false
    const hold = (at: number): Promise<void> => list.hold({ key, index: list.indexOf(key), offset: at })
    const longest = VIEWS * el.clientHeight
    const from = list.topOf(list.indexOf(key)) - el.scrollTop - offset()
    const walked = Math.sign(from) * Math.min(Math.abs(from), longest)
    const began = performance.now()
    for (let past = 0; how.smooth && past < SMOOTH; past = performance.now() - began) {
      await hold(offset() + walked * (1 - past / SMOOTH) ** 3)
      await new Promise(requestAnimationFrame)
      if (me !== way) return false
    }
    for (let at = NaN; !(Math.abs(offset() - at) < 0.5); ) {
      at = offset()
      await hold(at)
      if (me !== way) return false
    }
    // Where it came to: the content may end before the place that was wanted. What still comes above it moves nothing.
    await hold(list.topOf(list.indexOf(key)) - el.scrollTop)
    return me === way
  }

  const reader: Reader = {
    get element() {
      return scroller.value!
    },
    rows: () => rows.value,
    topOf: list.topOf,
    indexAt: list.indexAt,
    elementOf: (key) => holder.value?.querySelector<HTMLElement>(`:scope > [data-row="${CSS.escape(key)}"]`) ?? null,
    watch,
    go,
    reveal: (keys) => keys.forEach(open),
  }

  const on = { scroll: onScroll, wheel: onWheel, hold: onHold, key: onKey }
  return { rows, shown, room, set, reader, away, nearTop, unseen, leave, toEnd, on }
}

type Told = (what: 'scroll' | 'layout') => void

/** Lets others watch; they hear of it once a frame, before it is painted. */
function makeWatch(): { watch: (told: Told) => () => void; tell: Told } {
  const watchers = new Set<Told>()
  const due = new Set<'scroll' | 'layout'>()
  return {
    watch(told) {
      watchers.add(told)
      return () => watchers.delete(told)
    },
    tell(what) {
      if (watchers.size === 0) return
      if (due.size === 0) {
        requestAnimationFrame(() => {
          const all = [...due]
          due.clear()
          for (const told of watchers) all.forEach(told)
        })
      }
      due.add(what)
    },
  }
}

/** Whether a key belongs to something inside the list that takes text or scrolls by itself. */
function elsewhere(target: EventTarget | null, list: HTMLElement): boolean {
  let el = target instanceof HTMLElement ? target : null
  if (el?.closest('input, textarea, select, [contenteditable], [role=slider]')) return true
  for (; el && el !== list; el = el.parentElement) {
    if (el.scrollHeight > el.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(el).overflowY)) return true
  }
  return false
}
