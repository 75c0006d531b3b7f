import { ref, watch } from 'vue'

const key = 'fyllo.diff'

function read(): boolean {
  try {
    return localStorage.getItem(key) === 'split'
  } catch {
    return false
  }
}

/** Whether changes are shown side by side, remembered in this browser. */
export const splitView = ref(read())

watch(splitView, (split) => {
  try {
    localStorage.setItem(key, split ? 'split' : 'unified')
  } catch {
    // Storage may be blocked; the choice is then forgotten with the page.
  }
})
