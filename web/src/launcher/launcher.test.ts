// @vitest-environment happy-dom
import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { fakeCore, flush, Refusal, type FakeCore } from '@/testing/core'

import LauncherPage from './LauncherPage.vue'

let core: FakeCore
let page: VueWrapper

const workspace = {
  workspaceId: 'w1',
  name: 'two',
  kind: 'collection',
  primaryFolderId: 'f1',
  lastOpenedAt: '2026-01-01T00:00:00Z',
  folders: [
    { folderId: 'f1', folderName: 'a', folderPath: '/home/a', pathMissing: false },
    { folderId: 'f2', folderName: 'b', folderPath: '/home/b', pathMissing: true },
  ],
}

beforeEach(async () => {
  core = fakeCore()
  core.on('GET /api/workspaces', () => ({ workspaces: [{ ...workspace, open: true }] }))
  core.on('GET /api/directories', (call) => {
    const all = ['/home/a', '/home/a/deep', '/home/b']
    return { home: '/home', directories: all.filter((d) => d.startsWith(call.query.get('prefix')!)) }
  })
  core.on('POST /api/workspaces/open', () => ({ status: 'focused-existing', workspace }))
  page = mount(LauncherPage, { attachTo: document.body })
  await flush()
})

afterEach(() => {
  page.unmount()
  vi.unstubAllGlobals()
})

async function type(text: string): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await page.get('input').setValue(text)
  await vi.advanceTimersByTimeAsync(150)
  vi.useRealTimers()
  await flush()
}

const press = (key: string) => page.get('input').trigger('keydown', { key })

it('lists recent Workspaces with kind, paths and what is missing', () => {
  const text = page.get('.recent').text()
  for (const part of ['two', '/home/a · /home/b', 'Collection · 2 Projects', '1 directory missing', 'Open in another tab']) {
    expect(text).toContain(part)
  }
})

it('completes a directory with the keyboard', async () => {
  await type('/home/')
  expect(page.findAll('[role=option]')).toHaveLength(3)
  await press('ArrowDown')
  await press('ArrowDown')
  const selected = page.get('[aria-selected=true]')
  expect(selected.text()).toBe('/home/a/deep')
  expect(page.get('input').attributes('aria-activedescendant')).toBe(selected.attributes('id'))
  await press('Enter')
  expect((page.get('input').element as HTMLInputElement).value).toBe('/home/a/deep/')
  expect(core.of('POST /api/workspaces/open')).toHaveLength(0)
})

it('opens a completed directory at once, before its own suggestions are there', async () => {
  await type('/home/b')
  await press('ArrowDown')
  await press('Tab')
  await press('Enter')
  await flush()
  expect(core.of('POST /api/workspaces/open')[0]!.body).toEqual({ paths: ['/home/b/'] })
})

it('opens several directories as one Workspace and says where it is', async () => {
  await type('/home/a')
  await page.findAll('button').find((b) => b.text() === 'Add another directory')!.trigger('click')
  await page.findAll('input')[1]!.setValue('/home/b')
  await page.get('form').trigger('submit')
  await flush()
  expect(core.of('POST /api/workspaces/open')[0]!.body).toEqual({ paths: ['/home/a', '/home/b'] })
  expect(page.get('.elsewhere').text()).toContain('already open in another tab')
})

it('shows a refusal beside the field, with its code', async () => {
  core.on('POST /api/workspaces/open', () => {
    throw new Refusal('FOLDER_PATH_UNAVAILABLE', 400, 'cannot open /nope: no such directory')
  })
  await type('/nope')
  await press('Enter')
  await flush()
  expect(page.get('[role=alert]').text()).toBe('cannot open /nope: no such directory FOLDER_PATH_UNAVAILABLE')
  expect(page.get('input').attributes('aria-invalid')).toBe('true')
  expect((page.get('input').element as HTMLInputElement).value).toBe('/nope')
})
