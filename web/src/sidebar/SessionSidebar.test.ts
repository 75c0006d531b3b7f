// @vitest-environment happy-dom
import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import { now } from '@/i18n/time'
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
    expect(rows()[1]!.get('.attention').text()).toContain('1 to do')
    expect(rows()[2]!.get('.attention').text()).toContain('99+')
    expect(rows()[2]!.get('.attention').text()).toContain('120 to do')
  })

  it('moves a Session to the top when it changes', async () => {
    applyToSessions([{ seq: 5, sessionId: 'c', type: 'session', data: session('c', { updatedAt: time(9) }) }])
    await flush()
    expect(titles()[0]).toBe('Title of c')
  })

  it('has one stop for Tab in a group and moves with the arrow keys', async () => {
    const links = sidebar.findAll('a.link')
    expect(links.map((x) => x.attributes('tabindex'))).toEqual(['0', '-1', '-1'])
    ;(links[0]!.element as HTMLElement).focus()
    await links[0]!.trigger('keydown', { key: 'ArrowDown' })
    expect(document.activeElement).toBe(links[1]!.element)
  })
})

describe('groups', () => {
  const header = (name: string) => sidebar.findAll('h2 button').find((b) => b.text().startsWith(name))
  const headers = () => sidebar.findAll('h2').map((h) => h.text())
  const open = (name: string) => header(name)!.attributes('aria-expanded')
  let seq = 10

  /** Core tells that a Session is as given. */
  async function told(id: string, change: Parameters<typeof session>[1]): Promise<void> {
    applyToSessions([{ seq: seq++, sessionId: id, type: 'session', data: session(id, change) }])
    await flush()
  }

  it('shows no empty group, and a Session in one group only R-CHAT-008', async () => {
    expect(headers()).toEqual(['Recent Sessions 3'])
    await told('b', { updatedAt: time(2), pinned: true })
    expect(headers()).toEqual(['Pinned Sessions 1', 'Recent Sessions 2'])
    expect(titles()).toEqual(['Title of b', 'Title of a', 'Title of c'])
    await told('a', { updatedAt: time(3), pinned: true })
    await told('c', { updatedAt: time(1), pinned: true })
    expect(headers()).toEqual(['Pinned Sessions 3'])
    expect(titles()).toEqual(['Title of a', 'Title of b', 'Title of c'])
  })

  it('collapses each by itself and forgets it R-CHAT-010', async () => {
    await told('b', { updatedAt: time(2), pinned: true })
    await header('Recent')!.trigger('click')
    expect([open('Pinned'), open('Recent')]).toEqual(['true', 'false'])
    expect(titles()).toEqual(['Title of b'])
    await header('Pinned')!.trigger('click')
    expect(titles()).toEqual([])
    sidebar.unmount()
    sidebar = mount(SessionSidebar, { attachTo: document.body, props: { activeId: 'a' }, global: { plugins: [router] } })
    expect([open('Pinned'), open('Recent')]).toEqual(['true', 'true'])
  })

  it('opens the group that the open Session enters, once R-CHAT-013', async () => {
    await told('b', { updatedAt: time(2), pinned: true })
    await header('Pinned')!.trigger('click')
    await told('c', { updatedAt: time(1), pinned: true }) // not the open one
    await told('b', { updatedAt: time(9), pinned: true })
    expect(open('Pinned')).toBe('false')
    await told('a', { updatedAt: time(3), pinned: true })
    expect(open('Pinned')).toBe('true')
    await header('Pinned')!.trigger('click')
    await told('a', { updatedAt: time(8), pinned: true, running: true })
    expect(open('Pinned')).toBe('false')

    await told('b', { updatedAt: time(9), pinned: false })
    await header('Recent')!.trigger('click')
    await sidebar.setProps({ activeId: 'b' }) // selected
    expect([open('Pinned'), open('Recent')]).toEqual(['false', 'true'])
    await header('Recent')!.trigger('click')
    await sidebar.setProps({ activeId: 'new' }) // created: its event is still to come
    expect(open('Recent')).toBe('true')
    await header('Recent')!.trigger('click')
    await told('new', { updatedAt: time(9) })
    expect(open('Recent')).toBe('false')
  })

  it('pins by the menu, and changes nothing else R-CHAT-009', async () => {
    const row = () => sidebar.findAllComponents({ name: 'SessionRow' }).find((r) => r.text().includes('Title of b'))!
    core.on('PATCH /api/sessions/*', () => session('b', { pinned: true, updatedAt: time(2) }))
    row().vm.$emit('pin')
    await flush()
    expect(core.of('PATCH /api/sessions/b').map((c) => c.body)).toEqual([{ pinned: true }])
    expect(headers()).toEqual(['Pinned Sessions 1', 'Recent Sessions 2'])
    expect(router.currentRoute.value.path).toBe('/chat/a')
    core.on('PATCH /api/sessions/*', () => {
      throw new Refusal('STORAGE_FAILED', 500, 'the disk is full')
    })
    row().vm.$emit('pin')
    await flush()
    expect(headers()).toEqual(['Pinned Sessions 1', 'Recent Sessions 2'])
    expect(toasts.value.map((x) => [x.title, x.text])).toEqual([['The Session was not unpinned', 'the disk is full']])
  })

  it('goes through both groups with the arrow keys R-CHAT-008', async () => {
    await told('c', { updatedAt: time(1), pinned: true })
    const link = (id: string) => sidebar.get(`a[href="/chat/${id}"]`)
    ;(link('c').element as HTMLElement).focus()
    const press = async (key: string) => {
      document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      await flush()
      return document.activeElement!.getAttribute('href')
    }
    expect(await press('ArrowDown')).toBe('/chat/a')
    expect(await press('ArrowDown')).toBe('/chat/b')
    expect(await press('ArrowDown')).toBe('/chat/b')
    expect(await press('Home')).toBe('/chat/c')
    expect(await press('End')).toBe('/chat/b')
    await header('Recent')!.trigger('click')
    ;(link('c').element as HTMLElement).focus()
    expect(await press('ArrowDown')).toBe('/chat/c')
  })

  it('reads pages until every pinned Session is there', async () => {
    const pages = [
      { sessions: [session('p1', { pinned: true }), session('p2', { pinned: true })], total: 9, next: 'one', seq: 1 },
      { sessions: [session('p3', { pinned: true })], total: 9, next: 'two', seq: 1 },
      { sessions: [session('r1')], total: 9, next: 'three', seq: 1 },
    ]
    core.calls.length = 0
    core.on('GET /api/sessions', (call) => {
      const at = ['one', 'two', 'three'].indexOf(call.query.get('cursor') ?? '') + 1
      return pages[at] ?? { sessions: null, total: 9, seq: 1 }
    })
    await loadSessions()
    await flush()
    const asked = core.of('GET /api/sessions').map((c) => c.query.get('cursor'))
    expect(asked.slice(0, 3)).toEqual([null, 'one', 'two']) // and more of Recent, which has room here
    expect(headers()).toEqual(['Pinned Sessions 3', 'Recent Sessions 6'])
  })
})

it('writes times that move on by themselves R-CHAT-014', async () => {
  const ago = () => sidebar.findAll('time')[0]!.text()
  now.value = Date.parse(time(3)) + 59_000
  await flush()
  expect(ago()).toBe('just now')
  now.value += 3 * 60_000
  await flush()
  expect(ago()).toBe('3m ago')
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
