import { shallowRef } from 'vue'
import type { Theme } from './draw'

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')

function now(): Theme {
  const chosen = document.documentElement.dataset.theme
  return chosen === 'light' || chosen === 'dark' ? chosen : prefersDark.matches ? 'dark' : 'light'
}

/** The colours the page has, for what cannot follow its tokens by itself. */
export const theme = shallowRef<Theme>(now())

const look = (): void => void (theme.value = now())
prefersDark.addEventListener('change', look)
new MutationObserver(look).observe(document.documentElement, { attributeFilter: ['data-theme'] })
