import { computed, onBeforeUnmount, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { hitAt, Query, Search, searchBySlices, type Found, type Hit } from '@/core/find'
import type { Reader } from '@/core/reader'
import { soon } from '@/core/soon'
import { usePaint } from './usePaint'
import { useJump } from './useJump'

/** Longest stretch of searching, in ms; a frame has room for it. */
const SLICE = 8

/** One occurrence: the n-th of a part, from 0. Parts keep their key when others come in front of them. */
export interface Current {
  readonly key: string
  readonly nth: number
}

export interface Find {
  readonly words: Ref<string>
  readonly matchCase: Ref<boolean>
  /** Null while nothing is known about these words. */
  readonly found: Readonly<ShallowRef<Found | null>>
  /** Rows are still to be looked through. */
  readonly busy: Readonly<Ref<boolean>>
  /** Number of the current occurrence, from 1; 0 for none. */
  readonly number: ComputedRef<number>
  /** Goes so many occurrences on, round the ends. */
  step(by: 1 | -1): void
}

/** Looks for words in the rows of a transcript, goes to where they stand and marks them. */
export function useFind(reader: Reader, complete: () => boolean, drawn: (current: Range | null) => void): Find {
  const words = ref('')
  const matchCase = ref(false)
  const found = shallowRef<Found | null>(null)
  const busy = ref(false)
  const current = shallowRef<Current | null>(null)
  let search = new Search(new Query('', false))
  let version = 0
  let again = false
  /** The first occurrence that turns up is gone to by itself: the words are new, and older messages still come. */
  let armed = false
  let left: string | null = null

  const query = shallowRef(search.query)
  const { paint, nearest } = usePaint(reader, query, found, current, drawn)
  const jump = useJump(reader, query, paint)

  const number = computed(() => {
    const at = found.value && current.value ? hitOf(found.value, current.value.key) : null
    return at ? at.before + Math.min(current.value!.nth, at.count - 1) + 1 : 0
  })

  watch([words, matchCase], () => {
    search = new Search(new Query(words.value, matchCase.value), search)
    query.value = search.query
    version++
    jump.end()
    left = current.value?.key ?? left
    current.value = null
    found.value = null
    armed = true
    paint()
    void run()
  })
  watch(() => reader.rows(), () => void run())
  watch(complete, () => void run())
  onBeforeUnmount(() => version++)

  /** Brings what was found up to date. Also without words: the texts of the rows are then at hand for the first. */
  async function run(): Promise<void> {
    again = true
    if (busy.value) return
    busy.value = true
    while (again) {
      again = false
      const mine = version
      const wanted = (): boolean => mine === version
      const soFar = (part: Found): void => {
        if (!found.value) found.value = part.total > 0 ? { ...part, hits: [...part.hits] } : null
      }
      const whole = await searchBySlices(search.over(reader.rows()), { slice: SLICE, clock: () => performance.now(), pause, wanted, soFar })
      if (!wanted()) continue
      if (whole && !search.query.empty) settle(whole)
    }
    busy.value = false
  }

  function settle(next: Found): void {
    const old = found.value
    found.value = next
    if (current.value && !hitOf(next, current.value.key)) current.value = near(next, old)
    if (!current.value && armed && next.total > 0) {
      go(nearest(next, left))
      armed = false
    }
    // Rows may have come while the last of them were looked through.
    if (complete() && next.rows === reader.rows()) armed = false
    paint()
  }

  /** The current occurrence is gone: what stands where it was comes next. */
  function near(next: Found, old: Found | null): Current | null {
    const before = old && current.value ? (hitOf(old, current.value.key)?.before ?? 0) : 0
    return placeAt(next, Math.min(before, next.total - 1))
  }

  function go(to: Current | null): void {
    current.value = to
    const hit = to && found.value ? hitOf(found.value, to.key) : null
    if (to && hit) void jump.to(hit, to.nth)
    paint()
  }

  function step(by: 1 | -1): void {
    const { value } = found
    if (!value || value.total === 0) return
    if (number.value === 0) return go(nearest(value, left))
    go(placeAt(value, (number.value - 1 + by + value.total) % value.total))
  }

  void run()
  return { words, matchCase, found, busy, number, step }
}

function placeAt(found: Found, n: number): Current | null {
  const hit = hitAt(found, n)
  return hit && { key: hit.part.key, nth: n - hit.before }
}

const byKey = new WeakMap<Found, Map<string, Hit>>()

function hitOf(found: Found, key: string): Hit | null {
  let map = byKey.get(found)
  if (!map) byKey.set(found, (map = new Map(found.hits.map((hit) => [hit.part.key, hit]))))
  return map.get(key) ?? null
}

/** Lets the page do what waits. */
function pause(): Promise<void> {
  return new Promise(soon)
}
