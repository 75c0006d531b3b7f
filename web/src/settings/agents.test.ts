// @vitest-environment happy-dom
import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import type { Agent, AgentList, RegistryState } from '@/api/types'
import { agents, applyToAgents, loadAgents } from '@/state/agents'
import { loadSettings } from '@/state/settings'
import { toasts } from '@/state/toasts'
import { agent, fakeCore, flush, type FakeCore } from '@/testing/core'

import AgentsPage from './AgentsPage.vue'

const state: RegistryState = { source: 'https://registry.example/list.json', fetchedAt: '2026-01-01T00:00:00Z', looking: false }
const claude = agent('claude-acp', {
  name: 'Claude',
  source: 'registry',
  version: '1.9.0',
  latestVersion: '1.10.0',
  updateAvailable: true,
  installMethod: 'npx',
  managedBy: 'user',
  installWays: [{ method: 'npx', text: 'npm install -g @acme/claude-acp@1.10.0' }],
})
const absent = agent('absent', {
  name: 'Absent Minded',
  source: 'registry',
  installed: false,
  latestVersion: '2.0.0',
  description: 'Not here yet',
  installWays: [
    { method: 'uvx', text: 'uv tool install absent' },
    { method: 'binary', text: 'https://example.invalid/absent.zip' },
  ],
})
const elsewhere = agent('elsewhere', { name: 'Elsewhere', source: 'registry', installed: false })
const mine = agent('custom-mine', { name: 'Mine', command: '/bin/mine' })
const tour = agent('tour', { name: 'Tour', source: 'builtin' })

let core: FakeCore
let page: VueWrapper
let list: AgentList
let seq = 0

function tell(next: Agent[], registry?: RegistryState): void {
  list = { agents: next, registry }
  applyToAgents([{ seq: ++seq, type: 'agents', data: { agents: next, registry } }])
}

async function open(): Promise<void> {
  await Promise.all([loadAgents(), loadSettings()])
  page = mount(AgentsPage, { attachTo: document.body })
  await flush()
}

/** The names in the list of what can be used, and in that of what is not installed. */
function names(): string[][] {
  return ['section[aria-label] > .card .name > :first-child', '[aria-labelledby="known"] .name > :first-child'].map((s) =>
    page.findAll(s).map((n) => n.text()),
  )
}

beforeEach(() => {
  core = fakeCore()
  list = { agents: [claude, absent, elsewhere, mine, tour], registry: state }
  core.on('GET /api/agents', () => list)
  core.on('POST /api/agents/look', () => list)
  core.on('GET /api/agents/suggestions', () => ({ suggestions: [] }))
  core.on('GET /api/settings', () => ({ theme: 'system', language: 'en', defaultPermissionPolicy: 'ask', hideTour: false }))
})

afterEach(() => {
  page.unmount()
  agents.value = []
  toasts.value = []
  vi.unstubAllGlobals()
})

it('shows what is installed with its update, and what is not with how to install it (R-AGT-030, 121)', async () => {
  await open()
  expect(names()).toEqual([['Claude', 'Mine', 'Tour (built in, no model)'], ['Absent Minded', 'Elsewhere']])
  const [first] = page.findAll('section[aria-label] > .card > li')
  expect(first!.text()).toContain('1.9.0 · installed with npm')
  expect(first!.text()).toContain('Update available: 1.10.0')
  expect(first!.text()).toContain('npm install -g @acme/claude-acp@1.10.0')
  const [there, nowhere] = page.findAll('[aria-labelledby="known"] > .card > li')
  expect(there!.text()).toContain('Not here yet')
  expect(there!.findAll('code').map((c) => c.text())).toEqual(['uv tool install absent', 'https://example.invalid/absent.zip'])
  expect(there!.findAll('a')).toHaveLength(0)
  expect(nowhere!.text()).toContain('There is no version for this computer.')
  expect(page.text()).toContain('List from registry.example')
})

it('filters and searches by name (R-AGT-121)', async () => {
  await open()
  await page.find('input[value="installed"]').setValue()
  expect(names()).toEqual([['Claude', 'Mine', 'Tour (built in, no model)'], []])
  await page.find('input[value="custom"]').setValue()
  expect(names()).toEqual([['Mine'], []])
  await page.find('input[value="all"]').setValue()
  await page.find('input[type="search"]').setValue(' MIN')
  expect(names()).toEqual([['Mine'], ['Absent Minded']])
  await page.find('input[type="search"]').setValue('zzz')
  expect(page.text()).toContain('No Agent matches.')
})

it('lets Core look when the page opens, and anew when a person asks; a failure is told and tried again (R-AGT-005, 034)', async () => {
  list = { agents: [mine, tour], registry: { source: state.source, looking: true } }
  await open()
  expect(core.of('POST /api/agents/look').map((c) => c.body)).toEqual([{ force: false }])
  expect(page.text()).toContain('Fetching the list of known Agents…')
  tell([mine, tour], { source: state.source, looking: false, problem: { code: 'REGISTRY_FAILED', message: 'no route' } })
  await flush()
  expect(page.find('[role="alert"]').text()).toContain('no route')
  expect(page.text()).not.toContain('Fetching')
  const asked = core.of('GET /api/agents/suggestions').length
  await page.findAll('[role="alert"] button').at(-1)!.trigger('click')
  await flush()
  expect(core.of('POST /api/agents/look').at(-1)!.body).toEqual({ force: true })
  tell([claude, mine, tour], state)
  await flush()
  expect(page.find('[role="alert"]').exists()).toBe(false)
  expect(page.text()).toContain('Every known Agent is installed.')
  expect(core.of('GET /api/agents/suggestions').length).toBeGreaterThan(asked)
})

it('says nothing of a registry where there is none, and asks for none (R-AGT-004)', async () => {
  list = { agents: [mine, tour] }
  await open()
  expect(core.of('POST /api/agents/look')).toHaveLength(0)
  expect(page.find('[aria-labelledby="known"]').exists()).toBe(false)
  expect(names()[0]).toEqual(['Mine', 'Tour (built in, no model)'])
})
