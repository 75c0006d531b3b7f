import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Locator, Page } from '@playwright/test'

import type { Core } from '../core.ts'
import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

const bar = (page: Page): Locator => page.getByRole('region', { name: 'Delegated work' })
const rows = (page: Page): Locator => bar(page).getByRole('listitem')
const panel = (page: Page): Locator => page.getByRole('dialog')

/** delegate has the parent's Agent hand words to another Agent; together they must fit on a line. */
function delegate(core: Core, agent: string, prompt: string, more: object = {}): string {
  const args = { agentId: core.agentIds.get(agent), prompt, background: true, ...more }
  return `call prompt_to_agent ${JSON.stringify(args).replaceAll(';', '\\u003b')}`
}

interface Child {
  sessionId: string
  status: string
  latestResponseId?: string
}

/** children is what Core says that a Session has spawned. */
async function children(core: Core, parent: string): Promise<Child[]> {
  return (await core.api<{ spawned: Child[] }>('GET', `/api/sessions/${parent}/spawned`, undefined, await core.workspace())).spawned
}

/** settled waits until nothing that a Session has spawned runs, and its Agent has been told of everything. */
async function settled(core: Core, parent: string): Promise<Child[]> {
  const workspace = await core.workspace()
  await expect
    .poll(async () => {
      const { spawned, telling } = await core.api<{ spawned: Child[]; telling: boolean }>('GET', `/api/sessions/${parent}/spawned`, undefined, workspace)
      return !telling && spawned.every((s) => s.status !== 'running' && s.status !== 'starting') && (await core.turn(parent)).state === 'idle'
    })
    .toBe(true)
  return children(core, parent)
}

/** recorded is what lies on disk of all Sessions. */
function recorded(core: Core): Record<string, string> {
  const all = readdirSync(core.dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile() && e.parentPath.includes('/sessions'))
  return Object.fromEntries(
    all.map((e) => {
      const path = join(e.parentPath, e.name)
      return [path, createHash('sha256').update(readFileSync(path)).digest('hex')]
    }),
  )
}

test.describe('delegated work', () => {
  test.use({ agents: { Scripted: 'default', Helper: 'default' } })

  test('the bar counts the children of the Session that is shown, and lists them (R-CHAT-112, 113, R-SPAWN-118, 119, 120)', async ({ chat, core, page }) => {
    await expect(chat.title).toBeVisible()
    await expect(bar(page)).toHaveCount(0)
    const id = await chat.begin(delegate(core, 'Helper', 'echo Look at the parser.'))
    await settled(core, id)
    await expect(bar(page)).toHaveText('Child Agents 1')
    await chat.say(delegate(core, 'Helper', 'hang'))
    await expect(bar(page)).toHaveText(/Child Agents 2\s*1 running/)

    const head = bar(page).getByRole('button').first()
    await expect(head).toHaveAttribute('aria-expanded', 'false')
    await head.press('Enter')
    await expect(rows(page)).toHaveText([/^Helper\s*Background\s*Running…\s*just now\s*hang$/, /^Helper\s*Background\s*Completed\s*just now\s*echo Look at the parser\.$/])
    await axe(page)
    await fitsNarrow(page)

    await chat.sidebar.getByRole('button', { name: 'New Session' }).click()
    await expect(chat.title).toHaveText('New Session')
    await expect(bar(page)).toHaveCount(0)
    const other = await chat.begin('echo nothing delegated')
    expect(other).not.toBe(id)
    await expect(bar(page)).toHaveCount(0)
    await page.goto(`${core.origin}/chat/${id}`)
    await expect(bar(page)).toHaveText(/Child Agents 2\s*1 running/)
    const [running] = await children(core, id)
    await chat.say(`call cancel_session {"sessionId":"${running!.sessionId}"}`)
    await expect(bar(page)).toHaveText('Child Agents 2')
    await bar(page).getByRole('button').first().click()
    await expect(rows(page).first()).toHaveText(/^Helper\s*Background\s*Failed/)
  })

  test('the details tell whose work it is, where it is done, and what was done and said (R-SPAWN-115, 121, 123, 126, 127)', async ({ chat, core, page }) => {
    const words = ['think Which files are there?', 'tool Read a.go', 'tool Read b.go', 'echo The **parser** is fine.']
    const id = await chat.begin(delegate(core, 'Helper', words.join('; ')))
    const [child] = await settled(core, id)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await expect.poll(() => Object.keys(recorded(core)).filter((path) => path.endsWith('turn.jsonl'))).toEqual([])
    const before = recorded(core)
    const opener = bar(page).getByRole('button').first()
    await opener.click()
    await rows(page).getByRole('button').click()
    const details = panel(page)
    await expect(details).toBeVisible()
    await expect(details.getByRole('heading', { level: 2 })).toHaveText(/^think Which files/)
    await expect(details).toContainText(`Helper · ${child!.sessionId}`)
    await expect(details).toContainText('Workspace · project')
    await expect(details.getByLabel('Turn')).toHaveText('Turn 1 · Background · Completed')
    await expect(details.getByText(child!.latestResponseId!)).toBeVisible()
    await expect(details.locator('section').filter({ has: page.getByRole('heading', { name: 'Prompt' }) })).toContainText('tool Read a.go')
    // What was done is one closed line; what was said is Markdown.
    await expect(details.locator('.fold-head')).toHaveText([/Read 2 files/])
    await expect(details.locator('.fold-head')).toHaveAttribute('aria-expanded', 'false')
    await expect(details.locator('.md strong').filter({ hasText: 'parser' })).toBeVisible()
    await details.locator('.fold-head').click()
    await expect(details.getByRole('button', { name: 'Read: Read b.go' })).toBeVisible()
    await details.getByRole('button', { name: 'Copy the response id' }).click()
    await expect(details.getByRole('status').filter({ hasText: 'Copied' })).toBeVisible()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(child!.latestResponseId)
    await axe(page)
    await fitsNarrow(page)

    await page.keyboard.press('Escape')
    await expect(details).toHaveCount(0)
    await expect(rows(page).getByRole('button')).toBeFocused()
    expect(recorded(core)).toEqual(before)

    // Reopened, in a page that knows nothing, it is the same.
    await page.reload()
    await bar(page).getByRole('button').first().click()
    await rows(page).getByRole('button').click()
    await expect(details.locator('.md strong').filter({ hasText: 'parser' })).toBeVisible()
    await expect(details.locator('.fold-head')).toHaveText([/Read 2 files/])
    expect(recorded(core)).toEqual(before)
  })

  test('a running child is seen while it works, and its words stand there once (R-SPAWN-116, 123, 126)', async ({ chat, core, page }) => {
    const id = await chat.begin(delegate(core, 'Helper', 'permission; slow 300 10ms'))
    await bar(page).getByRole('button').first().click()
    await rows(page).getByRole('button').click()
    const details = panel(page)
    await expect(details).toContainText('Running…')
    const said = details.locator('.md').last()
    await expect(said).toContainText(/0 1 2 3 /)
    await expect(details.getByText('Lately')).toBeVisible()
    await expect(details.locator('.lately')).toContainText('Permission')
    const early = (await said.innerText()).length
    await expect.poll(async () => (await said.innerText()).length).toBeGreaterThan(early)
    await expect(details.getByLabel('Turn')).toHaveText('Turn 1 · Background · Completed')
    await settled(core, id)
    await expect(said).toHaveText(`permission: selected allow${Array.from({ length: 300 }, (_, i) => `${i} `).join('').trimEnd()}`)
    await expect(details.locator('.md')).toHaveCount(1)
  })

  test('the latest turn is followed, and one that was chosen stays (R-SPAWN-122)', async ({ chat, core, page }) => {
    const id = await chat.begin(delegate(core, 'Helper', 'echo first answer'))
    const [child] = await settled(core, id)
    const more = (words: string): string => delegate(core, 'Helper', words, { sessionId: child!.sessionId })
    await bar(page).getByRole('button').first().click()
    await rows(page).getByRole('button').click()
    const details = panel(page)
    await expect(details.locator('.md')).toHaveText('first answer')

    const workspace = await core.workspace()
    const say = (text: string): Promise<unknown> => core.api('POST', `/api/sessions/${id}/prompts`, { requestId: crypto.randomUUID(), text }, workspace)
    await say(more('echo second answer'))
    await expect(details.locator('.md')).toHaveText('second answer')
    await expect(details.getByLabel('Turn').locator('option')).toHaveText([/^Turn 2 · Background/, /^Turn 1 · Background · Completed$/])
    await details.getByLabel('Turn').selectOption({ index: 1 })
    await expect(details.locator('.md')).toHaveText('first answer')
    await settled(core, id)
    await say(more('echo third answer'))
    await expect(details.getByText('A newer turn is there.')).toBeVisible()
    await settled(core, id)
    await expect(details.locator('.md')).toHaveText('first answer')
    await details.getByRole('button', { name: 'Show it' }).click()
    await expect(details.locator('.md')).toHaveText('third answer')
    await expect(details.getByText('A newer turn is there.')).toHaveCount(0)
  })

  test('long outputs, pictures and subagents of a child open as they do in a conversation (R-SPAWN-121)', async ({ chat, core, page }) => {
    const id = await chat.begin(delegate(core, 'Helper', 'lines 1200; picture 1; subagent empty; image'))
    await settled(core, id)
    await bar(page).getByRole('button').first().click()
    await rows(page).getByRole('button').click()
    const details = panel(page)
    await details.locator('.fold-head').first().click()
    await details.getByRole('button', { name: /Print lines/ }).click()
    await expect(details.getByText('1,201 lines').first()).toBeVisible()
    await details.locator('.subagent button').click()
    await expect(page.getByRole('dialog', { name: 'Task' })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog', { name: 'Task' })).toHaveCount(0)
    await expect(details.getByRole('img').last()).toBeVisible()
  })

  test('what cannot be read says so, in place (R-SPAWN-125)', async ({ chat, core, page, watch }) => {
    watch.allow(/ERR_FAILED/)
    watch.allow(/status of 404/)
    const id = await chat.begin(delegate(core, 'Helper', 'sleep 1ms'))
    await settled(core, id)
    await bar(page).getByRole('button').first().click()
    await page.route('**/spawned/*?turn=*', (route) => route.abort())
    await rows(page).getByRole('button').click()
    const details = panel(page)
    await expect(details.getByRole('alert')).toContainText('The details could not be loaded')
    await page.unroute('**/spawned/*?turn=*')
    await details.getByRole('button', { name: 'Try again' }).click()
    await expect(details).toContainText('No activity was recorded.')
    await expect(details).toContainText('Nothing was recorded.')
    await page.keyboard.press('Escape')

    await page.route('**/spawned/*?turn=*', (route) => route.continue({ url: route.request().url().replace(/spawned\/[^?]+/, 'spawned/session-other') }))
    await rows(page).getByRole('button').click()
    await expect(details.getByText('This child is not there any more')).toBeVisible()
    await page.keyboard.press('Escape')

    await page.unroute('**/spawned/*?turn=*')
    const answer = { summary: { sessionId: 'session-x', agentId: 'a', agentName: 'Helper', scope: { kind: 'folder', name: 'docs' }, status: 'idle', updatedAt: new Date().toISOString() }, turns: [] }
    await page.route('**/spawned/*?turn=*', (route) => route.fulfill({ json: answer }))
    await rows(page).getByRole('button').click()
    await expect(details.getByText('No turn has begun')).toBeVisible()
    await expect(details).toContainText('Folder · docs')
    await expect(details.getByRole('heading', { level: 2 }).first()).toHaveText('Prompt not recorded')
  })

  test.describe('in Chinese', () => {
    test.use({ locale: 'zh-CN' })

    test('everything is said in Chinese', async ({ core, page }) => {
      await page.goto(await core.url(core.project))
      await expect(page.locator('.draft-state')).toContainText('Scripted')
      await page.getByRole('textbox').fill(delegate(core, 'Helper', 'hang'))
      await page.getByRole('textbox').press('Enter')
      await page.waitForURL(/\/chat\/session-/)
      const id = page.url().split('/').pop()!
      const strip = page.getByRole('region', { name: '委派的工作' })
      await expect(strip).toHaveText(/子 Agent 1\s*1 正在运行/)
      await strip.getByRole('button').first().click()
      await expect(strip.getByRole('listitem')).toContainText('后台')
      await expect(strip.getByRole('listitem')).toContainText('正在运行…')
      await strip.getByRole('listitem').getByRole('button').click()
      await expect(panel(page)).toContainText('第 1 轮 · 后台 · 正在运行…')
      await expect(panel(page)).toContainText('正在等待输出…')
      const [child] = await children(core, id)
      await core.api('POST', `/api/sessions/${id}/prompts`, { requestId: 'c', text: `call cancel_session {"sessionId":"${child!.sessionId}"}` }, await core.workspace())
      await expect(panel(page)).toContainText('第 1 轮 · 后台 · 运行失败')
      await settled(core, id)
    })
  })
})

test.describe('the Agent is told of the end of what it delegated', () => {
  test.use({ agents: { Scripted: '{"told":"echo I have heard of it.; slow 400 10ms"}', Helper: 'default' } })

  test('it answers in a turn of its own, in which nobody sends and nothing of the page changes (R-SPAWN-105, 107…110)', async ({ chat, core, page }) => {
    const id = await chat.begin(`${delegate(core, 'Helper', 'sleep 1s; echo one')}; ${delegate(core, 'Helper', 'sleep 2s; echo two')}`)
    await chat.ended()
    await chat.message.fill('my thought')
    const heard = chat.log.getByText('I have heard of it.')
    await expect(heard).toHaveCount(1)
    await expect(chat.stop).toBeVisible()
    await expect(chat.row(/^call prompt_to_agent/).getByRole('img', { name: 'Running' })).toBeVisible()
    await chat.message.press('Enter')
    await expect(page.getByText('The Agent is just being told about work that it delegated.')).toBeVisible()
    await expect(chat.message).toHaveValue('my thought')
    await expect(page.getByRole('region', { name: /queue|wait/i }).filter({ hasText: 'my thought' })).toHaveCount(0)

    await expect(heard).toHaveCount(2) // one after the other
    await settled(core, id)
    await chat.ended()
    await expect(page).toHaveURL(`${core.origin}/chat/${id}`)
    await expect(chat.message).toHaveValue('my thought')
    await expect(chat.log.getByRole('article', { name: 'You' })).toHaveCount(1)
    await expect(chat.log).not.toContainText('notificationId')
    await page.reload()
    await expect(heard).toHaveCount(2)
    await expect(chat.log.getByRole('article', { name: 'You' })).toHaveCount(1)
    await expect(chat.log).not.toContainText('notificationId')
    await chat.message.press('Enter')
    await expect(chat.log.getByText('You said: my thought')).toBeVisible()
  })
})
