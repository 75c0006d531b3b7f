type Typeset = (tex: string, display: boolean) => Node | null

let typeset: Typeset | null = null
let loading: Promise<void> | null = null

/**
 * Draws the formulas below an element that are still source. The first call loads what draws them, and until then
 * the source stands; a formula that cannot be drawn stays source.
 */
export function drawFormulas(root: HTMLElement): void {
  const found = root.querySelectorAll<HTMLElement>('.md-math')
  if (found.length === 0) return
  if (!typeset) {
    loading ??= load()
    void loading.then(() => root.isConnected && typeset && drawFormulas(root))
    return
  }
  for (const el of found) {
    const made = el.dataset.tex && el.firstElementChild === null ? typeset(el.dataset.tex, el.dataset.display === 'true') : null
    if (made) el.replaceChildren(made)
  }
}

async function load(): Promise<void> {
  try {
    typeset = (await import('./typeset')).typeset
  } catch {
    loading = null // the connection to Core may come back
  }
}
