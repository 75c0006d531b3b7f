// What the figures are compared with; runs in the measured page, by itself.

// @ts-expect-error resolved by the bundler of the page
import { renderMarkdown } from '@/core/markdown/render'
// @ts-expect-error likewise
import { splitMarkdown } from '@/core/markdown/stream'
// @ts-expect-error likewise
import { sanitize } from '@/transcript/sanitize'

const split = splitMarkdown as (text: string) => readonly { kind: string; text: string }[]

/** Any words do; the renderer asks for those that it knows. */
const labels = new Proxy({}, { get: (_, name) => String(name) })

/** fresh parses and renders a whole Markdown text once, into elements that no page shows, and returns ms. */
export function fresh(text: string): number {
  const begin = performance.now()
  for (const block of split(text)) {
    const el = document.createElement('div')
    if (block.kind === 'code') el.textContent = block.text
    else el.innerHTML = sanitize(renderMarkdown(block, labels))
  }
  return performance.now() - begin
}

/** loop is a fixed amount of work, about 100 ms on a machine of 2024, and returns ms. */
export function loop(): number {
  const begin = performance.now()
  const table = new Map<string, number>()
  let hash = 7
  for (let i = 0; i < 600_000; i++) {
    hash = (Math.imul(hash, 31) + i) | 0
    const key = `k${hash & 4095}`
    table.set(key, (table.get(key) ?? 0) + 1)
  }
  return performance.now() - begin + (table.size > 4096 ? 1 : 0)
}
