// @vitest-environment happy-dom
import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import '@/frame/ConfirmDialog.vue' // loaded here, so that no test waits for it
import { applyToSessions, loadSessions } from '@/state/sessions'
import { toasts } from '@/state/toasts'
import { fakeCore, flush, Refusal, session, type FakeCore } from '@/testing/core'

import SessionSidebar from './SessionSidebar.vue'

let core: FakeCore
let router: Router
let sidebar: VueWrapper

const time = (minute: number) => `2026-01-01T00:0${minute}:00Z`

beforeEach(async () => {
  core = fakeCore()
  core.on('GET /api/sessions', () => ({
    sessions: [
      session('a', { updatedAt: time(3), running: true }),
      session('b', { updatedAt: time(2), attention: 1 }),
      session('c', { updatedAt: time(1), attention: 120 }),
    ],
    total: 3,
    seq: 1,
  }))
  core.on('PATCH /api/sessions/*', (call) => session('a', { title: (call.body as { title: string }).title, updatedAt: time(3) }))
  core.on('DELETE /api/sessions/*', () => undefined)
  await loadSessions()
  const page = { template: '<i />' }
  router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/chat/:id?', component: page }] })
  await router.push('/chat/a')
  sidebar = mount(SessionSidebar, { attachTo: document.body, props: { activeId: 'a' }, global: { plugins: [router] } })
})

afterEach(() => {
  sidebar.unmount()
  toasts.value = []
  vi.unstubAllGlobals()
})

const rows = () => sidebar.findAll('.row')
const titles = () => sidebar.findAll('.title').map((x) => x.text())

describe('the list', () => {
  it('shows title, running pulse and attention with its name R-CHAT-014 R-CHAT-015', () => {
    expect(titles()).toEqual(['Title of a', 'Title of b', 'Title of c'])
    expect(rows()[0]!.find('[role=img][aria-label=Running]').exists()).toBe(true)
    expect(rows()[0]!.find('.attention').exists()).toBe(false)
    expect(rows()[1]!.get('.attention').text()).toContain('1 needs attention')
    expect(rows()[2]!.get('.attention').text()).toContain('99+')
    expect(rows()[2]!.get('.attention').text()).toContain('120 need attention')
  })

  it('moves a Session to the top when it changes', async () => {
    applyToSessions([{ seq: 5, sessionId: 'c', type: 'session', data: session('c', { updatedAt: time(9) }) }])
    await flush()
    expect(titles()[0]).toBe('Title of c')
  })

  it('has one stop for Tab and moves with the arrow keys', async () => {
    const links = sidebar.findAll('a.link')
    expect(links.map((x) => x.attributes('tabindex'))).toEqual(['0', '-1', '-1'])
    ;(links[0]!.element as HTMLElement).focus()
    await links[0]!.trigger('keydown', { key: 'ArrowDown' })
    expect(document.activeElement).toBe(links[1]!.element)
  })
})

describe('rename', () => {
  async function rename(title: string): Promise<void> {
    await sidebar.findAll('a.link')[0]!.trigger('keydown', { key: 'F2' })
    await sidebar.get('input').setValue(title)
    await sidebar.get('input').trigger('keydown', { key: 'Enter' })
    await flush()
  }

  it('stores the trimmed title R-CHAT-014', async () => {
    await rename('  Better  ')
    expect(core.of('PATCH /api/sessions/a').map((c) => c.body)).toEqual([{ title: 'Better' }])
    expect(titles()[0]).toBe('Better')
  })

  it.each(['   ', 'Title of a'])('does nothing for %j R-CHAT-014', async (title) => {
    await rename(title)
    expect(core.of('PATCH /api/sessions/*')).toHaveLength(0)
    expect(titles()[0]).toBe('Title of a')
  })

  it('keeps the old title and says why it failed', async () => {
    core.on('PATCH /api/sessions/*', () => {
      throw new Refusal('STORAGE_FAILED', 500, 'the disk is full')
    })
    await rename('Better')
    expect(titles()[0]).toBe('Title of a')
    expect(toasts.value.map((x) => x.text)).toEqual(['the disk is full'])
  })
})

describe('delete', () => {
  async function confirmDelete(row: number): Promise<void> {
    await sidebar.findAll('a.link')[row]!.trigger('keydown', { key: 'Delete' })
    await flush()
    const button = [...document.querySelectorAll('[role=dialog] button')].find((b) => b.textContent === 'Delete')
    ;(button as HTMLElement).click()
    await flush()
  }

  it('asks first and leads from the open Session to the draft R-CHAT-004', async () => {
    await confirmDelete(0)
    expect(core.of('DELETE /api/sessions/a')).toHaveLength(1)
    expect(router.currentRoute.value.path).toBe('/chat')
    expect(toasts.value).toHaveLength(0)
  })

  it('of another Session leaves the page where it is R-CHAT-004', async () => {
    await confirmDelete(1)
    expect(core.of('DELETE /api/sessions/b')).toHaveLength(1)
    expect(router.currentRoute.value.path).toBe('/chat/a')
  })
})

it('shows why the list did not come and reads it again', async () => {
  core.on('GET /api/sessions', () => {
    throw new Refusal('STORAGE_FAILED', 500, 'the disk does not answer')
  })
  await loadSessions()
  await flush()
  expect(sidebar.get('[role=alert]').text()).toContain('the disk does not answer')
  core.on('GET /api/sessions', () => ({ sessions: null, total: 0, seq: 9 }))
  await sidebar.get('[role=alert] button').trigger('click')
  await flush()
  expect(sidebar.text()).toContain('No Sessions yet')
})
