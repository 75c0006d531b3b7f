// A Core for component tests: it answers fetch from a table and remembers what it was asked.

import { vi } from 'vitest'

import type { Agent, Capabilities, SessionDetail, SessionSummary } from '@/api/types'

/** One call as Core saw it. */
export interface Call {
  route: string
  query: URLSearchParams
  body: unknown
}

/** Answers a call; a thrown Refusal becomes an error answer. */
export type Handler = (call: Call) => unknown

/** An error answer. */
export class Refusal {
  constructor(
    readonly code: string,
    readonly status = 400,
    readonly message = `refused: ${code}`,
  ) {}
}

/** The Core of a test. */
export interface FakeCore {
  /** Every call except the registration, in order. */
  calls: Call[]
  /** on sets the handler of a route, written as "METHOD /api/path"; "*" stands for one path segment. */
  on(route: string, handler: Handler): void
  /** of returns the calls of a route. */
  of(route: string): Call[]
}

/** fakeCore puts a Core in place of fetch until the test ends. */
export function fakeCore(): FakeCore {
  const handlers = new Map<string, Handler>()
  const calls: Call[] = []
  handlers.set('POST /api/windows', () => ({ windowId: 'window-1', role: 'workspace', run: 'run-1', seq: 1 }))
  vi.stubGlobal('fetch', async (input: string, init: RequestInit = {}) => {
    const url = new URL(input, 'http://core')
    const method = init.method ?? 'GET'
    const call = {
      route: `${method} ${url.pathname}`,
      query: url.searchParams,
      body: init.body === undefined ? undefined : JSON.parse(String(init.body)),
    }
    if (url.pathname !== '/api/windows') calls.push(call)
    const found = [...handlers.keys()].find((route) => fits(route, call.route))
    try {
      if (!found) throw new Refusal('NOT_FOUND', 404)
      const answer = await handlers.get(found)!(call)
      return new Response(answer === undefined ? null : JSON.stringify(answer), { status: answer === undefined ? 204 : 200 })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const failure = { code: error.code, message: error.message }
      return new Response(JSON.stringify({ error: failure }), { status: error.status })
    }
  })
  return {
    calls,
    on: (route, handler) => void handlers.set(route, handler),
    of: (route) => calls.filter((c) => fits(route, c.route)),
  }
}

function fits(route: string, asked: string): boolean {
  const [a, b] = [route.split('/'), asked.split('/')]
  return a.length === b.length && a.every((part, i) => part === '*' || part === b[i])
}

/** flush lets every answer that is on its way arrive. */
export async function flush(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** session makes a summary; the rest of it is what most tests do not care about. */
export function session(id: string, change: Partial<SessionSummary> = {}): SessionSummary {
  return {
    sessionId: id,
    workspaceId: 'w1',
    title: `Title of ${id}`,
    agentId: 'custom-a',
    agentName: 'Agent A',
    mode: 'fyllocode',
    pinned: false,
    running: false,
    attention: 0,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
    ...change,
  }
}

/** detail makes the snapshot of a Session. */
export function detail(id: string, change: Partial<SessionDetail> = {}): SessionDetail {
  return {
    ...session(id),
    seq: 10,
    turn: { state: 'idle' },
    permissions: [],
    configOptions: [],
    commands: [],
    plan: [],
    queue: { entries: [] },
    permissionPolicy: 'ask',
    ...change,
  }
}

/** agent makes a catalogue entry that is installed. */
export function agent(id: string, change: Partial<Agent> = {}): Agent {
  const capabilities: Capabilities = {
    image: 'supported',
    audio: 'unsupported',
    embeddedContext: 'supported',
    httpMcp: 'supported',
    multiRoot: 'supported',
    load: true,
    resume: false,
    close: false,
  }
  return { id, name: `Name of ${id}`, source: 'custom', kind: 'native', installed: true, state: 'stopped', capabilities, ...change }
}
