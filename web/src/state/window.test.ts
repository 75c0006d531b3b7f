// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { fakeCore, flush, Refusal, type FakeCore } from '@/testing/core'

let core: FakeCore
let sockets: FakeSocket[]

class FakeSocket {
  onopen: (() => void) | null = null
  onmessage: ((e: { data: string }) => void) | null = null
  onclose: (() => void) | null = null
  constructor(readonly url: string) {
    sockets.push(this)
  }
  close(): void {}
}

const workspace = { workspaceId: 'w1', name: 'project', kind: 'folder', primaryFolderId: 'f1', folders: [], lastOpenedAt: '' }
const bound = { windowId: 'window-1', role: 'workspace', workspaceId: 'w1', workspace, run: 'run-1', seq: 7 }

beforeEach(() => {
  vi.resetModules()
  sessionStorage.clear()
  sockets = []
  core = fakeCore()
  vi.stubGlobal('WebSocket', FakeSocket)
  core.on('POST /api/windows', () => bound)
  core.on('GET /api/settings', () => ({ theme: 'dark', language: '' }))
  core.on('GET /api/sessions', () => ({ sessions: [], total: 0, seq: 7 }))
  core.on('GET /api/agents', () => ({ agents: [] }))
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('takes the ticket out of the address bar and gives it to Core', async () => {
  const bodies: unknown[] = []
  core.on('POST /api/windows', (call) => (bodies.push(call.body), bound))
  window.history.replaceState(null, '', '/chat?bind=TICKET&x=1')
  const w = await import('./window')
  await w.boot(w.takeTicket())
  expect(location.search).toBe('?x=1')
  expect(bodies).toEqual([{ ticket: 'TICKET', path: '/chat' }])
  expect(sessionStorage.getItem('fyllo.window')).toBe('window-1')
  expect(w.phase.value).toBe('ready')
  expect(w.workspace.value?.name).toBe('project')
})

it('follows the stream from the position of the registration, and applies the preferences', async () => {
  const w = await import('./window')
  await w.boot()
  await flush()
  expect(sockets[0]!.url).toMatch(/\/api\/stream\?window=window-1&after=7&run=run-1$/)
  expect(document.documentElement.dataset.theme).toBe('dark')
})

it('says that the link is used up on 401', async () => {
  core.on('POST /api/windows', () => {
    throw new Refusal('UNAUTHORIZED', 401)
  })
  const w = await import('./window')
  await w.boot()
  expect(w.phase.value).toBe('unauthorized')
})

it('keeps trying while Core does not answer', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('refused')))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const w = await import('./window')
  await w.boot()
  expect(w.phase.value).toBe('unreachable')
  core = fakeCore()
  core.on('POST /api/windows', () => bound)
  await vi.advanceTimersByTimeAsync(600)
  vi.useRealTimers()
  await flush()
  expect(w.phase.value).toBe('ready')
})

it('shows a Workspace that another tab has, also when it loses it later R-WS-127', async () => {
  core.on('POST /api/windows', () => ({ ...bound, role: 'launcher', workspace: undefined, conflict: { workspace } }))
  const w = await import('./window')
  await w.boot()
  expect(w.phase.value).toBe('conflict')
  expect(sockets).toHaveLength(0)
})

it('shows that the connection is lost, and reads everything again when the stream lost its thread', async () => {
  const w = await import('./window')
  await w.boot()
  await flush()
  sockets[0]!.onopen!()
  expect(w.reconnecting.value).toBe(false)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  sockets[0]!.onclose!()
  expect(w.reconnecting.value).toBe(true)
  await vi.advanceTimersByTimeAsync(1000)
  vi.useRealTimers()
  await flush()
  sockets[1]!.onopen!()
  expect(w.reconnecting.value).toBe(false)
  const before = core.of('GET /api/sessions').length
  sockets[1]!.onmessage!({ data: JSON.stringify([{ seq: 1, type: 'reset', data: {} }]) })
  await flush()
  expect(core.of('GET /api/sessions')).toHaveLength(before + 1)
})
