import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

/**
 * Keeps what is typed between asking for find and the bar's arrival, which is loaded then: without this the words would go
 * into whatever has the focus. `waits` tells whether that time is now; Escape gives the search up.
 */
export function useTypedAhead(waits: () => boolean, giveUp: () => void): Ref<string> {
  const typed = ref('')

  function onKey(event: KeyboardEvent): void {
    if (!waits() || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key.length === 1) typed.value += event.key
    else if (event.key === 'Backspace') typed.value = typed.value.slice(0, -1)
    else if (event.key === 'Escape') giveUp()
    else if (event.key !== 'Enter') return
    event.preventDefault()
    event.stopPropagation()
  }

  onMounted(() => addEventListener('keydown', onKey, true))
  onBeforeUnmount(() => removeEventListener('keydown', onKey, true))
  return typed
}
