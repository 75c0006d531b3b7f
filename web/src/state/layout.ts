// What the frame remembers of its shape, in this browser only.

import { ref, watch } from 'vue'

const widthKey = 'fyllo.sidebar'
const narrowest = 220
const widest = 480

const narrowQuery = window.matchMedia('(max-width: 899.98px)')

/** Below 900 px the sidebar is an overlay. */
export const narrow = ref(narrowQuery.matches)
narrowQuery.addEventListener('change', (e) => (narrow.value = e.matches))

const roomyQuery = window.matchMedia('(min-width: 1200px)')

/** From 1200 px on the event rail stands beside the conversation; below it is an overlay. */
export const railFits = ref(roomyQuery.matches)
roomyQuery.addEventListener('change', (e) => (railFits.value = e.matches))

/** Whether the overlay with the navigation is open; means nothing while the page is wide. */
export const navOpen = ref(false)

/** Whether the shortcut sheet is open. */
export const shortcutsOpen = ref(false)

/** Whether the search for Sessions is open. */
export const searchOpen = ref(false)

/** Counts the wishes to write: every change puts the focus into the message field. */
export const wantsComposer = ref(0)

/** Width of the sidebar in CSS pixels. */
export const sidebarWidth = ref(clampWidth(Number(read(widthKey)) || 280))

watch(sidebarWidth, (w) => write(widthKey, String(w)))

/** clampWidth keeps a width of the sidebar usable. */
export function clampWidth(width: number): number {
  return Math.round(Math.min(widest, Math.max(narrowest, width)))
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage may be blocked; the width is then forgotten with the page.
  }
}
