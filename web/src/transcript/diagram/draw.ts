import mermaid, { type MermaidConfig } from 'mermaid'
import { harmless } from './source'
import { pictureOf, type Picture } from './svg'

export type Theme = 'light' | 'dark'
export type Drawn = { picture: Picture } | { problem: string }

/** Milliseconds after which a diagram counts as one that cannot be drawn. */
const PATIENCE = 15_000
const CACHE = 60
const drawn = new Map<string, Drawn>()
const waiting = new Map<string, Promise<Drawn>>()
let queue: Promise<unknown> = Promise.resolve()
let count = 0

/** What was drawn before. */
export function drawnBefore(source: string, theme: Theme): Drawn | undefined {
  return drawn.get(`${theme}\n${source}`)
}

/** Draws a diagram, one at a time and when the page is idle. */
export function draw(source: string, theme: Theme): Promise<Drawn> {
  const key = `${theme}\n${source}`
  const known = drawn.get(key)
  if (known) return Promise.resolve(known)
  let made = waiting.get(key)
  if (!made) {
    made = queue.then(() => attempt(source, theme)).then((result) => {
      waiting.delete(key)
      drawn.set(key, result)
      const oldest = drawn.keys().next()
      if (drawn.size > CACHE && !oldest.done) drawn.delete(oldest.value)
      return result
    })
    waiting.set(key, made)
    queue = made
  }
  return made
}

async function attempt(source: string, theme: Theme): Promise<Drawn> {
  await new Promise((idle) => ('requestIdleCallback' in window ? requestIdleCallback(idle, { timeout: 500 }) : setTimeout(idle)))
  const box = document.createElement('div')
  // It is measured, so it must be laid out; nobody sees or reaches it.
  box.style.cssText = 'position:fixed;left:-10000px;top:0;width:800px;visibility:hidden'
  box.setAttribute('aria-hidden', 'true')
  document.body.append(box)
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    mermaid.initialize(configOf(theme))
    const late = new Promise<never>((_, fail) => (timer = setTimeout(() => fail(new Error('timeout')), PATIENCE)))
    const { svg } = await Promise.race([mermaid.render(`fyllo-diagram-${++count}`, harmless(source), box), late])
    const picture = pictureOf(svg)
    return picture ? { picture } : { problem: 'empty' }
  } catch (err) {
    return { problem: err instanceof Error ? err.message : String(err) }
  } finally {
    clearTimeout(timer)
    box.remove()
  }
}

/** Strict, without HTML, in the colours of the page. */
function configOf(theme: Theme): MermaidConfig {
  const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  const [text, edge] = [token('--text'), token('--edge-strong')]
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: true },
    suppressErrorRendering: true,
    maxTextSize: 60_000,
    maxEdges: 500,
    logLevel: 'fatal',
    arrowMarkerAbsolute: false,
    fontFamily: token('--font'),
    fontSize: 14,
    theme: 'base',
    themeCSS: '.edgeLabel rect { opacity: 1 }',
    themeVariables: {
      darkMode: theme === 'dark',
      background: token('--surface'),
      fontSize: '14px',
      primaryColor: token('--accent-soft'),
      primaryTextColor: text,
      primaryBorderColor: token('--accent'),
      secondaryColor: token('--surface-3'),
      secondaryTextColor: text,
      secondaryBorderColor: edge,
      tertiaryColor: token('--surface-2'),
      tertiaryTextColor: text,
      tertiaryBorderColor: edge,
      lineColor: token('--text-2'),
      edgeLabelBackground: token('--surface'),
      textColor: text,
      noteBkgColor: token('--yellow-soft'),
      noteTextColor: text,
      noteBorderColor: token('--yellow'),
      errorBkgColor: token('--red-soft'),
      errorTextColor: token('--red'),
    },
  }
}
