// Toasts: one per failed user action, with its reason; background refreshes fail in place (R-CHAT-164).

import { shallowRef } from 'vue'

import { reason } from './failures'

/** A short notice that floats over the page. */
export interface Toast {
  id: number
  kind: 'info' | 'error'
  title: string
  text?: string
}

/** How many toasts show at once; an older one goes when another comes. */
const most = 4

let lastId = 0

/** The toasts shown now, oldest first. */
export const toasts = shallowRef<readonly Toast[]>([])

/** inform shows that something the user asked for was done. */
export function inform(title: string, text?: string): void {
  show({ id: ++lastId, kind: 'info', title, text })
}

/** failed shows that a user action did not work, and why. */
export function failed(title: string, error: unknown): void {
  show({ id: ++lastId, kind: 'error', title, text: reason(error) })
}

/** warn shows that something is not as the user expected, without a failed call behind it. */
export function warn(title: string): void {
  show({ id: ++lastId, kind: 'error', title })
}

/** dismiss takes a toast away. */
export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id)
}

function show(toast: Toast): void {
  const others = toasts.value.filter((t) => t.title !== toast.title || t.text !== toast.text)
  toasts.value = [...others, toast].slice(-most)
}
