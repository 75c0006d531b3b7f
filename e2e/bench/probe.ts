// Runs in every measured page from its first moment; the lab talks to it.

/** What a page did while it was watched. Times in ms. */
export interface Observed {
  wall: number
  /** Tasks of 50 ms or more, as the page itself can see them. */
  tasks: number[]
  frames: number
  /** Frames that a steady screen would have shown and this page did not. */
  missed: number
  /** The most elements that the document held. */
  elements: number
  /** Frames in which no row stood in the view of the conversation. */
  blank: number
}

export interface Probe {
  /** rows: whether rows stand in view is looked at in each frame, which costs a layout. */
  start(rows: boolean): void
  stop(): Observed
  /**
   * Resolves with performance.now() after the first paint with the text in view and the conversation at its end. It is
   * looked at in each frame when the moment matters, else now and then, since looking costs a layout.
   */
  shown(text: string, exact: boolean): Promise<number>
  /** performance.now() of the last click. */
  clicked: number
}

/** install is evaluated in the page; it must not refer to anything outside of itself. */
export function install(): void {
  let observed: Observed | null = null
  let began = 0
  let last = 0
  let looking = false
  let gaps: number[] = []
  new PerformanceObserver((list) => {
    for (const e of list.getEntries()) if (observed && e.startTime + e.duration > began) observed.tasks.push(e.duration)
  }).observe({ type: 'longtask' })

  const log = (): HTMLElement | null => document.querySelector('[role=log]')

  function blank(): boolean {
    const el = log()
    if (!el) return false
    const box = el.getBoundingClientRect()
    // Three points down the middle; a row that is not there leaves the scroller or what holds the rows.
    return [0.25, 0.5, 0.75].every((at) => {
      const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height * at)
      return hit !== null && el.contains(hit) && !hit.closest('.row')
    })
  }

  function frame(now: number): void {
    if (!observed) return
    if (last > 0) gaps.push(now - last)
    last = now
    observed.frames++
    if (observed.frames % 6 === 0) observed.elements = Math.max(observed.elements, document.getElementsByTagName('*').length)
    if (looking && blank()) observed.blank++
    requestAnimationFrame(frame)
  }

  function inView(text: string): boolean {
    const el = log()
    if (!el || el.scrollHeight - el.clientHeight - el.scrollTop > 1) return false
    if (!el.textContent.includes(text)) return false
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT)
    const box = el.getBoundingClientRect()
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.nodeValue!.includes(text)) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const at = range.getBoundingClientRect()
      if (at.height > 0 && at.bottom > box.top && at.top < box.bottom) return true
    }
    return false
  }

  const probe: Probe = {
    clicked: 0,
    start(rows) {
      looking = rows
      observed = { wall: 0, tasks: [], frames: 0, missed: 0, elements: 0, blank: 0 }
      began = performance.now()
      last = 0
      gaps = []
      requestAnimationFrame(frame)
    },
    stop() {
      const out = observed!
      out.wall = performance.now() - began
      const usual = [...gaps].sort((a, b) => a - b)[Math.floor(gaps.length / 2)] || 16.7
      for (const gap of gaps) if (gap > 1.5 * usual) out.missed += Math.round(gap / usual) - 1
      out.elements = Math.max(out.elements, document.getElementsByTagName('*').length)
      observed = null
      return out
    },
    shown: (text, exact) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!inView(text)) {
            if (exact) requestAnimationFrame(look)
            else setTimeout(look, 100)
          } else {
            const after = new MessageChannel() // a task behind the paint of this frame
            after.port1.onmessage = () => resolve(performance.now())
            after.port2.postMessage(null)
          }
        }
        look()
      }),
  }
  addEventListener('click', (e) => (probe.clicked = e.timeStamp), { capture: true })
  ;(globalThis as unknown as { probe: Probe }).probe = probe
}
