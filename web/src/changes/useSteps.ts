import { computed, nextTick, onBeforeUnmount, onMounted, ref } from 'vue'
import { splitPath } from '@/core/filepath'
import { reveal } from '@/core/reveal'
import { t } from './strings'

/** An open file as going from change to change sees it. */
export interface Stop {
  readonly path: string
  readonly item: {
    /** Changes that can be gone to. */
    readonly count: number
    /** Distance of a change from the top of the window in CSS pixels; makes it exist first. */
    topOf(change: number): Promise<number>
    /** The same of all changes that are drawn. */
    tops(): number[]
  }
}

/** How far below the top of the panel a change is shown. */
const LEAD = 96

/** Goes from change to change through the open files, by buttons, by `n` and `p`, and by Alt with the arrows. */
export function useSteps(stops: () => readonly Stop[]) {
  const current = ref<{ path: string; change: number } | null>(null)
  const said = ref('')
  const all = computed(() => stops().flatMap(({ path, item }) => Array.from({ length: item.count }, (_, change) => ({ path, change }))))
  const at = computed(() => all.value.findIndex((c) => c.path === current.value?.path && c.change === current.value.change))

  const steps = {
    /** The element that scrolls. */
    scroller: null as HTMLElement | null,
    /** What was gone to, to be read out. */
    said,
    /** How many changes the open files have. */
    total: computed(() => all.value.length),
    /** Which of them was gone to, from 1; 0 for none. */
    place: computed(() => at.value + 1),
    /** Which change of a file was gone to; −1 for none. */
    currentOf: (path: string): number => (current.value?.path === path ? current.value.change : -1),
    go,
  }

  async function go(step: 1 | -1): Promise<void> {
    const { length } = all.value
    if (length === 0) return
    const to = at.value >= 0 ? (at.value + step + length) % length : nextInSight(step)
    const target = all.value[to]!
    current.value = target
    said.value = t('position.long', { i: to + 1, n: length, path: splitPath(reveal(target.path)).name })
    const stop = stops().find((s) => s.path === target.path)
    await bring(stop, target.change)
    // What was drawn on the way there may have moved it.
    await nextTick()
    await bring(stop, target.change)
  }

  async function bring(stop: Stop | undefined, change: number): Promise<void> {
    const top = await stop?.item.topOf(change)
    const { scroller } = steps
    if (scroller && top !== undefined) scroller.scrollTop += top - scroller.getBoundingClientRect().top - LEAD
  }

  /** The change next to the top of what is seen, when none was gone to yet. */
  function nextInSight(step: 1 | -1): number {
    const edge = steps.scroller?.getBoundingClientRect().top ?? 0
    const tops = stops().flatMap(({ item }) => {
      const drawn = item.tops()
      return Array.from({ length: item.count }, (_, i) => drawn[i] ?? Infinity)
    })
    const below = tops.findIndex((top) => top >= edge)
    if (step > 0) return Math.max(0, below)
    return below <= 0 ? tops.length - 1 : below - 1
  }

  function onKey(event: KeyboardEvent): void {
    const step = stepOf(event)
    if (step === 0) return
    event.preventDefault()
    void go(step)
  }
  onMounted(() => document.addEventListener('keydown', onKey))
  onBeforeUnmount(() => document.removeEventListener('keydown', onKey))

  return steps
}

function stepOf(event: KeyboardEvent): 1 | -1 | 0 {
  const target = event.target instanceof Element ? event.target : null
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.isComposing) return 0
  if (!target || target.closest('input, textarea, select') || !(target === document.body || target.closest('.slideover'))) return 0
  if (event.altKey ? event.key === 'ArrowDown' : event.key === 'n') return 1
  return (event.altKey ? event.key === 'ArrowUp' : event.key === 'p') ? -1 : 0
}
