// @vitest-environment happy-dom
import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, shallowReactive } from 'vue'
import { createMemoryHistory, RouterView, type Router } from 'vue-router'

import type { Draft, MessagePage, SessionDetail, Workspace } from '@/api/types'
// Loaded here, so that no test waits for them.
import '@/chat/ChatPage.vue'
import '@/chat/SessionPane.vue'
import { makeRouter } from '@/router'
import { agents, loadAgents } from '@/state/agents'
import { applyToDraft, forgetDraft } from '@/state/draft'
import { applyToOpen } from '@/state/open'
import { applyToSessions, loadSessions } from '@/state/sessions'
import { loadSettings } from '@/state/settings'
import { toasts } from '@/state/toasts'
import { workspace } from '@/state/window'
import Menu from '@/ui/Menu.vue'
import { agent, detail, fakeCore, flush, Refusal, session, type FakeCore } from '@/testing/core'

vi.mock('@/transcript/TranscriptList.vue', () => ({
  default: defineComponent({
    props: { sessionId: { type: String, required: true }, store: { type: Object, required: true } },
    setup: (props, { expose }) => {
      expose({ scrollToEnd: () => {} })
      return () => h('ol', (props.store.view.value?.messages ?? []).map((m: { id: string }) => h('li', m.id)))
    },
  }),
}))

const empty: MessagePage = { messages: [], seq: 10 }

let core: FakeCore
let router: Router
let page: VueWrapper
let seq = 100

/** The Sessions that Core knows; a test changes them as it likes. */
const known = shallowReactive(new Map<string, SessionDetail>())

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  core = fakeCore()
  known.clear()
  for (const id of ['session-a', 'session-b']) known.set(id, detail(id))
  core.on('GET /api/agents', () => ({ agents: [agent('custom-a'), agent('custom-b'), tour] }))
  core.on('GET /api/agents/suggestions', () => ({ suggestions: [] }))
  core.on('GET /api/settings', () => ({ theme: 'system', language: 'en', defaultPermissionPolicy: 'ask', hideTour: false }))
  core.on('GET /api/sessions', () => ({ sessions: [session('session-a'), session('session-b')], total: 2, seq: 1 }))
  core.on('GET /api/sessions/*', (call) => {
    const found = known.get(call.route.split('/').at(-1)!)
    if (!found) throw new Refusal('CHAT_SESSION_NOT_FOUND', 404)
    return found
  })
  core.on('GET /api/sessions/*/messages', () => empty)
  core.on('GET /api/composer', () => ({ text: '' }))
  core.on('PUT /api/composer', () => undefined)
  core.on('PATCH /api/settings', (call) => ({ ...(call.body as object), language: 'en' }))
  core.on('PUT /api/draft', (call) => draftOf(call.body as Draft, 'connecting'))
  await Promise.all([loadAgents(), loadSettings(), loadSessions()])
})

afterEach(async () => {
  page.unmount()
  await flush()
  forgetDraft()
  toasts.value = []
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const tour = agent('tour', { name: 'Tour', source: 'builtin' })

function draftOf(choice: Pick<Draft, 'agentId' | 'mode'>, state: Draft['state'], change: Partial<Draft> = {}): Draft {
  return { agentId: choice.agentId, mode: choice.mode, state, configOptions: [], commands: [], ...change }
}

function tell(draft: Draft): void {
  applyToDraft([{ seq: ++seq, type: 'draft', data: draft }])
}

async function visit(path: string): Promise<void> {
  router = makeRouter(createMemoryHistory(), { registered: Promise.resolve(), bound: () => true })
  await router.push(path)
  page = mount({ render: () => h(RouterView) }, { attachTo: document.body, global: { plugins: [router] } })
  await flush()
}

async function go(path: string): Promise<void> {
  await router.push(path)
  await flush()
}

const at = () => router.currentRoute.value.path
const title = () => page.get('h1').text()

async function write(text: string): Promise<void> {
  await page.get('textarea').setValue(text)
  await page.get('textarea').trigger('keydown', { key: 'Enter' })
  await flush()
}

/** The probe follows the choice after 200 ms. */
async function afterDebounce(): Promise<void> {
  vi.advanceTimersByTime(200)
  await flush()
}

describe('routes', () => {
  it('/chat is the draft and selects nothing by itself R-CHAT-001', async () => {
    await visit('/chat')
    expect(title()).toBe('New Session')
    expect(page.find('[aria-current=page]').exists()).toBe(false)
    expect(core.of('GET /api/sessions/*')).toHaveLength(0)
  })

  it('/chat/<id> loads the Session and shows that it loads R-CHAT-002', async () => {
    let answer: (page: MessagePage) => void = () => {}
    core.on('GET /api/sessions/*/messages', () => new Promise((resolve) => (answer = resolve)))
    await visit('/chat/session-a')
    expect(page.get('[role=status]').text()).toContain('Loading')
    answer({ messages: [{ id: 'm1', role: 'user', createdAt: '', updatedAt: '', parts: [] }], seq: 10 })
    await flush()
    expect(page.get('ol').text()).toBe('m1')
    expect(at()).toBe('/chat/session-a')
  })

  it.each(['session-unknown', 'not%20an%20id'])('%s leads to the draft with one toast R-CHAT-003', async (id) => {
    await visit(`/chat/${id}`)
    expect(at()).toBe('/chat')
    expect(toasts.value.map((x) => x.title)).toEqual(['This Session does not exist or has expired.'])
  })

  it('a load that failed otherwise stays and can be retried', async () => {
    core.on('GET /api/sessions/*/messages', () => {
      throw new Refusal('STORAGE_FAILED', 500, 'the disk does not answer')
    })
    known.set('session-g', detail('session-g'))
    await visit('/chat/session-g')
    expect(at()).toBe('/chat/session-g')
    expect(page.get('[role=alert]').text()).toContain('the disk does not answer')
    core.on('GET /api/sessions/*/messages', () => empty)
    await page.get('[role=alert] button').trigger('click')
    await flush()
    expect(page.find('ol').exists()).toBe(true)
  })

  it('the Session deleted elsewhere leads to the draft, another one changes nothing R-CHAT-004', async () => {
    await visit('/chat/session-a')
    const removed = (sessionId: string) => [{ seq: ++seq, sessionId, type: 'session.removed', data: {} }] as const
    applyToOpen(removed('session-b'))
    applyToSessions(removed('session-b'))
    await flush()
    expect(at()).toBe('/chat/session-a')
    applyToOpen(removed('session-a'))
    await flush()
    expect(at()).toBe('/chat')
    expect(toasts.value).toHaveLength(1)
  })

  it('only the last of several targets becomes active R-CHAT-006', async () => {
    const answers = new Map<string, (page: MessagePage) => void>()
    for (const id of ['session-c', 'session-d']) known.set(id, detail(id, { title: id }))
    core.on('GET /api/sessions/*/messages', (call) => {
      const id = call.route.split('/').at(-2)!
      return new Promise((resolve) => answers.set(id, resolve))
    })
    await visit('/chat/session-c')
    await go('/chat/session-d')
    answers.get('session-d')!(empty)
    await flush()
    answers.get('session-c')!(empty)
    await flush()
    expect(title()).toBe('session-d')
  })

  it('a late failure of a Session that was left is no news R-CHAT-006', async () => {
    let refuse: () => void = () => {}
    core.on('GET /api/sessions/*', (call) => {
      if (call.route.endsWith('/session-b')) return known.get('session-b')
      return new Promise((_, reject) => (refuse = () => reject(new Refusal('CHAT_SESSION_NOT_FOUND', 404))))
    })
    await visit('/chat/session-x')
    await go('/chat/session-b')
    refuse()
    await flush()
    expect(at()).toBe('/chat/session-b')
    expect(toasts.value).toHaveLength(0)
  })
})

describe('the draft', () => {
  it('connects the default Agent 200 ms after the last choice R-AGT-092', async () => {
    await visit('/chat')
    await page.get('input[value=custom-b]').setValue()
    expect(core.of('PUT /api/draft')).toHaveLength(0)
    await afterDebounce()
    expect(core.of('PUT /api/draft').map((c) => c.body)).toEqual([{ agentId: 'custom-b', mode: 'fyllocode' }])
    await page.get('input[value=native]').setValue()
    await afterDebounce()
    expect(core.of('PUT /api/draft').at(-1)!.body).toEqual({ agentId: 'custom-b', mode: 'native' })
    await page.get('input[value=fyllocode]').setValue()
    await page.get('input[value=custom-a]').setValue()
    await afterDebounce()
  })

  it('tells connecting, ready, failed and sign-in apart R-AGT-081', async () => {
    await visit('/chat')
    await afterDebounce()
    const choice = { agentId: 'custom-a', mode: 'fyllocode' } as const
    const line = () => page.get('.draft-state').text()
    expect(line()).toBe('Connecting to Name of custom-a…')
    tell(draftOf(choice, 'ready'))
    await flush()
    expect(line()).toBe('Name of custom-a is ready')
    tell(draftOf(choice, 'failed', { error: { code: 'AGENT_START_FAILED', message: 'it crashed' } }))
    await flush()
    expect(line()).toContain('could not be reached: it crashed')
    tell(draftOf(choice, 'failed', { error: { code: 'AGENT_AUTH_REQUIRED', message: 'run login' } }))
    await flush()
    expect(line()).toContain('Sign-in needed for Name of custom-a: run login')
    const before = core.of('PUT /api/draft').length
    await page.get('.draft-state button').trigger('click')
    await flush()
    expect(core.of('PUT /api/draft')).toHaveLength(before + 1)
    tell(draftOf({ agentId: 'custom-b', mode: 'fyllocode' }, 'failed'))
    await flush()
    expect(line(), 'news about another choice is no news').toContain('Connecting')
  })

  it('starts the Session, takes the probe over and replaces the URL R-CHAT-005 R-CHAT-031', async () => {
    known.set('session-new', detail('session-new', { title: 'Hello' }))
    core.on('POST /api/sessions', () => ({ sessionId: 'session-new', message: { id: 'm' } }))
    await visit('/chat/session-b')
    await go('/chat')
    await afterDebounce()
    tell(draftOf({ agentId: 'custom-a', mode: 'fyllocode' }, 'ready'))
    await write('Hello')
    expect(core.of('POST /api/sessions')[0]!.body).toMatchObject({
      agentId: 'custom-a',
      mode: 'fyllocode',
      text: 'Hello',
      policy: 'ask',
      useDraft: true,
    })
    expect(at()).toBe('/chat/session-new')
    expect(core.of('PATCH /api/settings').map((c) => c.body)).toEqual([{ lastAgent: 'custom-a' }])
    router.back()
    await flush()
    expect(at(), 'Back does not return to the consumed draft').toBe('/chat/session-b')
  })

  it('keeps text and place when the start failed R-CHAT-054', async () => {
    core.on('POST /api/sessions', () => {
      throw new Refusal('STORAGE_FAILED', 500, 'the disk is full')
    })
    await visit('/chat')
    await afterDebounce()
    await write('Hello')
    expect(at()).toBe('/chat')
    expect(page.get('[role=alert]').text()).toContain('the disk is full')
    expect((page.get('textarea').element as HTMLTextAreaElement).value).toBe('Hello')
  })

  it('does not pull back whoever went elsewhere meanwhile R-CHAT-055', async () => {
    let answer: (result: unknown) => void = () => {}
    core.on('POST /api/sessions', () => new Promise((resolve) => (answer = resolve)))
    await visit('/chat')
    await afterDebounce()
    await write('Hello')
    await go('/chat/session-b')
    answer({ sessionId: 'session-new', message: { id: 'm' } })
    await flush()
    expect(at()).toBe('/chat/session-b')
  })

  it('explains how to add an Agent when there is none but the Tour, and adds a found one', async () => {
    core.on('GET /api/agents', () => ({ agents: [tour] }))
    core.on('GET /api/agents/suggestions', () => ({ suggestions: [{ name: 'Goose', command: '/bin/goose', args: ['acp'] }] }))
    core.on('POST /api/agents', () => agent('custom-goose'))
    await loadAgents()
    await visit('/chat')
    expect(page.text()).toContain('No Agent yet')
    expect(page.text()).toContain('Tour (built in, no model)')
    core.on('GET /api/agents', () => ({ agents: [agent('custom-goose'), tour] }))
    await page.findAll('.none button').find((b) => b.text() === 'Add Goose')!.trigger('click')
    await flush()
    expect(core.of('POST /api/agents')[0]!.body).toEqual({ name: 'Goose', command: '/bin/goose', args: ['acp'], env: {} })
    expect(page.text()).not.toContain('No Agent yet')
    expect((page.get('input[value=custom-goose]').element as HTMLInputElement).checked).toBe(true)
  })

  it('does not offer to start what cannot take several directories R-CHAT-032', async () => {
    const single = agent('custom-single')
    single.capabilities.multiRoot = 'unsupported'
    agents.value = [single, agent('custom-multi'), tour]
    const folder = { folderId: 'f', folderName: 'f', folderPath: '/f', pathMissing: false }
    workspace.value = { folders: [folder, folder] } as unknown as Workspace
    await visit('/chat')
    const input = (id: string) => page.get(`input[value=${id}]`).element as HTMLInputElement
    expect(input('custom-single').disabled).toBe(true)
    expect(input('custom-multi').checked).toBe(true)
    expect(page.text()).toContain('Does not support Workspaces of several directories')
    workspace.value = null
  })

  it('offers four tiles with the Tour last and the rest behind a menu R-AGT-110', async () => {
    agents.value = [tour, ...['a', 'b', 'c', 'd', 'e'].map((x) => agent(`custom-${x}`)), agent('custom-f', { installed: false })]
    await visit('/chat')
    const tiles = page.findAll('.tile input').map((x) => x.attributes('value'))
    expect(tiles).toEqual(['custom-a', 'custom-b', 'custom-c', 'custom-d'])
    expect(page.text()).toContain('More Agents (2)')
    const all = page.get('.agents').findComponent(Menu).props('items')
    expect(all.map((x) => x.id), 'all installed ones, and no other').toEqual([...['a', 'b', 'c', 'd', 'e'].map((x) => `custom-${x}`), 'tour'])
  })

  it('says of images, files and several directories what the chosen Agent can, and what only connecting tells R-AGT-111', async () => {
    const mixed = agent('custom-mixed')
    Object.assign(mixed.capabilities, { image: 'supported', embeddedContext: 'unsupported', multiRoot: 'unknown' })
    agents.value = [mixed, tour]
    await visit('/chat')
    const told = page.findAll('.abilities .visually-hidden').map((x) => x.text())
    expect(told).toEqual(['Images: supported', 'Files: not supported', 'Several directories: found out on connect'])
    expect(new Set(page.findAll('.abilities svg').map((x) => x.html())).size, 'not by colour alone').toBe(3)
    agents.value = [{ ...mixed, capabilities: { ...mixed.capabilities, multiRoot: 'supported' } }, tour]
    await flush()
    expect(page.findAll('.abilities .visually-hidden').at(-1)!.text()).toBe('Several directories: supported')
  })
})

describe('an open Session', () => {
  it('sends with the Agent and mode it was made with, and stops', async () => {
    core.on('POST /api/sessions/*/prompts', () => ({ message: { id: 'm' } }))
    core.on('POST /api/sessions/*/cancel', () => undefined)
    known.set('session-e', detail('session-e'))
    await visit('/chat/session-e')
    await write('Go on')
    const body = core.of('POST /api/sessions/*/prompts')[0]!.body
    expect(body).toMatchObject({ text: 'Go on', agentId: 'custom-a', mode: 'fyllocode' })
    applyToOpen([{ seq: ++seq, sessionId: 'session-e', type: 'turn', data: { state: 'streaming' } }])
    await flush()
    await page.get('button.stop').trigger('click')
    await flush()
    expect(core.of('POST /api/sessions/*/cancel')).toHaveLength(1)
  })

  it('says why a stale Session cannot go on R-CHAT-062', async () => {
    known.set('session-f', detail('session-f', { staleReason: { code: 'SESSION_FOLDER_REMOVED', message: 'a Project left' } }))
    await visit('/chat/session-f')
    expect(page.get('.stale').text()).toContain('a Project left')
    await write('Go on')
    expect(core.of('POST /api/sessions/*/prompts')).toHaveLength(0)
  })
})
