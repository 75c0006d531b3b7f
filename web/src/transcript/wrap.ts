import { ref, watch, type Ref } from 'vue'

/** What can be wrapped. Code is not at first, since its lines mean something; what calls say is. */
type Wrapped = 'code' | 'output'

function remembered(what: Wrapped, first: boolean): Ref<boolean> {
  const key = `fyllo.wrap.${what}`
  const wraps = ref(first)
  try {
    wraps.value = (localStorage.getItem(key) ?? String(first)) === 'true'
  } catch {
    // Storage may be blocked; the choice is then forgotten with the page.
  }
  const root = document.documentElement
  // Styles do the rest, also for code inside of lists, which has no switch of its own.
  watch(wraps, (on) => root.setAttribute(`data-wrap-${what}`, String(on)), { immediate: true, flush: 'sync' })
  watch(wraps, (on) => {
    try {
      localStorage.setItem(key, String(on))
    } catch {
      // As above.
    }
  })
  return wraps
}

/** Whether long lines of code, and those of inputs and outputs, go on in the next row; remembered in this browser. */
export const wraps: Record<Wrapped, Ref<boolean>> = { code: remembered('code', false), output: remembered('output', true) }
