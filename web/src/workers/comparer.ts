import type { Comparison } from '@/core/diff'
import type { DiffAnswer, DiffRequest, Segment } from './diff.worker'

export type { Segment }

/** What a Comparer needs of a Worker. */
export interface DiffWorker {
  onmessage: ((event: MessageEvent<DiffAnswer>) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
  postMessage(request: DiffRequest): void
  terminate(): void
}

interface Job {
  readonly key: string
  readonly segments: readonly Segment[]
  readonly waiting: Set<{ resolve: (c: Comparison[]) => void; reject: (e: Error) => void }>
}

/** Comparisons kept for views that come back. */
const KEPT = 64

/**
 * The page's side of the comparing worker: one job at a time, in the order asked; a job that nobody waits for any
 * more is dropped before it begins. The worker starts at the first job.
 */
export class Comparer {
  private worker: DiffWorker | null = null
  private readonly queue: Job[] = []
  private running: { id: number; job: Job } | null = null
  private lastId = 0
  private readonly known = new Map<string, Comparison[]>()

  constructor(private readonly start: () => DiffWorker = startWorker) {}

  /**
   * Compares the segments. Equal keys must stand for equal texts: they are compared once. Rejects when comparing
   * failed, and with an AbortError when the signal said so.
   */
  compare(key: string, segments: readonly Segment[], signal?: AbortSignal): Promise<Comparison[]> {
    const known = this.known.get(key)
    if (known) return Promise.resolve(known)
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject }
      const job = this.jobOf(key, segments)
      job.waiting.add(waiter)
      const leave = (): void => {
        job.waiting.delete(waiter)
        reject(new DOMException('nobody waits for the comparison', 'AbortError'))
      }
      if (signal?.aborted) leave()
      else signal?.addEventListener('abort', leave, { once: true })
      this.next()
    })
  }

  /** Ends the worker and forgets everything; who still waits gets an AbortError. */
  close(): void {
    this.end(new DOMException('comparing has ended', 'AbortError'))
    this.known.clear()
  }

  private jobOf(key: string, segments: readonly Segment[]): Job {
    const jobs = this.running ? [this.running.job, ...this.queue] : this.queue
    const same = jobs.find((j) => j.key === key)
    if (same) return same
    const job: Job = { key, segments, waiting: new Set() }
    this.queue.push(job)
    return job
  }

  private next(): void {
    while (!this.running) {
      const job = this.queue.shift()
      if (!job) return
      if (job.waiting.size === 0) continue
      this.worker ??= this.listen(this.start())
      this.running = { id: ++this.lastId, job }
      this.worker.postMessage({ id: this.lastId, segments: job.segments })
    }
  }

  private listen(worker: DiffWorker): DiffWorker {
    worker.onmessage = ({ data }) => this.answered(data)
    worker.onerror = () => this.end(new Error('the comparing worker failed'))
    return worker
  }

  private answered({ id, comparisons }: DiffAnswer): void {
    if (this.running?.id !== id) return
    const { job } = this.running
    this.running = null
    if (comparisons) this.keep(job.key, comparisons)
    for (const { resolve, reject } of job.waiting) {
      if (comparisons) resolve(comparisons)
      else reject(new Error('the texts could not be compared'))
    }
    this.next()
  }

  private keep(key: string, comparisons: Comparison[]): void {
    this.known.set(key, comparisons)
    const oldest = this.known.keys().next()
    if (this.known.size > KEPT && !oldest.done) this.known.delete(oldest.value)
  }

  private end(reason: Error): void {
    this.worker?.terminate()
    this.worker = null
    const jobs = this.running ? [this.running.job, ...this.queue] : [...this.queue]
    this.running = null
    this.queue.length = 0
    for (const job of jobs) for (const { reject } of job.waiting) reject(reason)
  }
}

function startWorker(): DiffWorker {
  return new Worker(new URL('./diff.worker.ts', import.meta.url), { type: 'module' }) as unknown as DiffWorker
}

let shared: Comparer | null = null
let users = 0

/** The page's one Comparer. Call `release` when done: after the last user its worker ends and its memory is free. */
export function useComparer(): { comparer: Comparer; release: () => void } {
  users++
  const comparer = (shared ??= new Comparer())
  let held = true
  return {
    comparer,
    release: () => {
      if (!held) return
      held = false
      if (--users > 0) return
      comparer.close()
      shared = null
    },
  }
}
