import type { HighlightAnswer, HighlightRequest, Highlighted } from '@/workers/highlight.worker'

/** Longer code stays plain: its colours would cost more than they help. */
const MAX_CODE = 60_000
const CACHE = 200

let worker: Worker | null = null
let lastId = 0
const waiting = new Map<number, (result: Highlighted | null) => void>()
const cache = new Map<string, Promise<Highlighted | null>>()

/** Whether colours can be shown: they are laid over plain text with the CSS Custom Highlight API. */
const supported = typeof Highlight === 'function' && typeof CSS !== 'undefined' && 'highlights' in CSS

/** Highlights in the worker; null when the code stays plain. */
export function highlightCode(code: string, lang: string): Promise<Highlighted | null> {
  if (!supported || lang === '' || code.length > MAX_CODE) return Promise.resolve(null)
  const key = `${lang}\n${code}`
  let result = cache.get(key)
  if (!result) {
    result = ask(code, lang)
    cache.set(key, result)
    const oldest = cache.keys().next()
    if (cache.size > CACHE && !oldest.done) cache.delete(oldest.value)
  }
  return result
}

function ask(code: string, lang: string): Promise<Highlighted | null> {
  worker ??= start()
  const id = ++lastId
  const request: HighlightRequest = { id, code, lang }
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    worker?.postMessage(request)
  })
}

function start(): Worker {
  const w = new Worker(new URL('../workers/highlight.worker.ts', import.meta.url), { type: 'module' })
  w.onmessage = (event: MessageEvent<HighlightAnswer>) => {
    waiting.get(event.data.id)?.(event.data.result)
    waiting.delete(event.data.id)
  }
  w.onerror = () => {
    for (const resolve of waiting.values()) resolve(null)
    waiting.clear()
  }
  return w
}

/** CSS declarations for the number of a style; the number is the third of a triple of spans. */
export type Looks = (style: number) => string

/** The looks of code: colours come from our own themes, and the pattern keeps anything else out of the rule. */
export function codeLooks({ palette }: Highlighted): Looks {
  const safe = (c: string): string => (/^#[0-9a-f]{3,8}$/i.test(c) ? c : 'currentcolor')
  return (style) => {
    const [light, dark] = palette[style] ?? ['', '']
    return `color: light-dark(${safe(light)}, ${safe(dark)})`
  }
}

const layers = new Map<string, Highlight>()
let sheet: CSSStyleSheet | null = null

/** The highlight of a look, made at first use together with its rule. */
function layer(look: string): Highlight {
  let h = layers.get(look)
  if (h) return h
  if (!sheet) {
    sheet = new CSSStyleSheet()
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  }
  const name = `code-${layers.size}`
  sheet.insertRule(`::highlight(${name}) { ${look}; }`)
  h = new Highlight()
  CSS.highlights.set(name, h)
  layers.set(look, h)
  return h
}

/**
 * Lays looks over the text nodes below a node, whose joined text the spans count. The page gets no element per token,
 * and a node must not cross a line. Returns what takes them off.
 */
export function paint(root: Node, spans: ArrayLike<number>, looks: Looks): () => void {
  if (!supported || spans.length === 0) return () => {}
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  const added: [Highlight, StaticRange][] = []
  let node = root instanceof Text ? root : walker.nextNode()
  let base = 0
  for (let i = 0; i < spans.length; i += 3) {
    const start = spans[i]!
    const end = spans[i + 1]!
    while (node && base + (node.nodeValue?.length ?? 0) <= start) {
      base += node.nodeValue?.length ?? 0
      node = walker.nextNode()
    }
    if (!node) break
    const limit = node.nodeValue?.length ?? 0
    const range = new StaticRange({
      startContainer: node,
      startOffset: start - base,
      endContainer: node,
      endOffset: Math.min(end - base, limit),
    })
    const h = layer(looks(spans[i + 2]!))
    h.add(range)
    added.push([h, range])
  }
  return () => {
    for (const [h, range] of added) h.delete(range)
  }
}
