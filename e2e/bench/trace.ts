import type { TraceEvent } from './lab.ts'

/** What the main thread of the page did. ms; CPU leaves out when another process had the processor. */
export interface Tasks {
  longestWall: number
  longestCPU: number
  /** All tasks. */
  totalCPU: number
  /** The largest parts of the longest task, for people. */
  within: string
}

/** readTrace finds the thread that worked most among the main threads of all pages, and its tasks. */
export function readTrace(events: TraceEvent[]): Tasks {
  const mains = new Set(events.filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain').map(thread))
  const tasks = events.filter((e) => e.name === 'RunTask' && e.ph === 'X' && mains.has(thread(e)))
  const busy = new Map<string, number>()
  for (const e of tasks) busy.set(thread(e), (busy.get(thread(e)) ?? 0) + (e.tdur ?? e.dur ?? 0))
  const main = [...busy].sort((a, b) => b[1] - a[1])[0]?.[0]
  const out: Tasks = { longestWall: 0, longestCPU: 0, totalCPU: 0, within: '' }
  let longest: TraceEvent | undefined
  for (const e of tasks) {
    if (thread(e) !== main) continue
    const cpu = (e.tdur ?? e.dur ?? 0) / 1000
    out.totalCPU += cpu
    out.longestWall = Math.max(out.longestWall, (e.dur ?? 0) / 1000)
    if (cpu > out.longestCPU) {
      out.longestCPU = cpu
      longest = e
    }
  }
  if (longest) out.within = partsOf(longest, events)
  return out
}

function partsOf(task: TraceEvent, events: TraceEvent[]): string {
  const end = task.ts + (task.dur ?? 0)
  const inside = events.filter((e) => thread(e) === thread(task) && e !== task && e.ph === 'X' && e.ts >= task.ts && e.ts < end)
  const sums = new Map<string, number>()
  for (const e of inside) sums.set(e.name, (sums.get(e.name) ?? 0) + (e.tdur ?? e.dur ?? 0) / 1000)
  const parts = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 6)
  return parts.map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(', ')
}

function thread(e: TraceEvent): string {
  return `${e.pid}:${e.tid}`
}
