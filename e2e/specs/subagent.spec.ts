import type { Locator, Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

/** The cards of subagents, and the details of the one that is shown. */
const cards = (log: Locator): Locator => log.locator('button[aria-haspopup="dialog"]')
const panel = (page: Page, name?: string): Locator => page.getByRole('dialog', name === undefined ? {} : { name, exact: true })

/** What the details tell of a fact. */
const fact = (details: Locator, name: string): Locator =>
  details.locator('dl > div').filter({ has: details.page().getByRole('term').filter({ hasText: new RegExp(`^${name}$`) }) }).getByRole('definition')

test('each subagent is a card of its own; its calls and words stand in its details only (R-CHAT-078, 106, 107)', async ({ chat, page }) => {
  await chat.begin('tool; subagent full; tool; think')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await expect(cards(chat.log)).toHaveText([/^Find callers\s*explore\s*Completed$/, /^Check the tests\s*general-purpose\s*Completed$/])
  await expect(chat.log.locator('.fold-head, .subagent, .md')).toHaveText([
    'Read main.go', /^Find callers/, /^Check the tests/, 'Both subagents are done.', 'Read 1 file, Think 1 time',
  ])
  for (const hidden of ['grep', 'There are three matches.', 'Read a.go', 'Edit a.go']) await expect(chat.log).not.toContainText(hidden)
  await page.reload()
  await expect(cards(chat.log)).toHaveCount(2)
  await expect(chat.log).not.toContainText('grep')
  await axe(page)
})

test('its details tell what the Agent told, in part order and indented by depth (R-CHAT-108, 109, 110)', async ({ chat, page }) => {
  await chat.begin('subagent full')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await cards(chat.log).first().click()
  const details = panel(page, 'Find callers')
  await expect(details).toContainText('Completed')
  const facts = ['Agent type', 'Model', 'Tokens', 'Duration', 'Tool calls', 'Files read', 'Searches', 'Commands', 'Lines added', 'Other tools']
  const told = await Promise.all(facts.map((name) => fact(details, name).innerText()))
  expect(told).toEqual(['explore', 'test-model-1', '54,321', '2 min 05 s', '4', '1', '3', '0', '1', '0'])
  await expect(details.getByText('Answer with a list of places.')).toBeVisible()

  const steps = details.locator('.child')
  await expect(steps).toHaveText(['Reasoning', 'grep', /^There are three matches\.\s*$/, /^Read the matches/, 'Read a.go', 'Edit a.go'])
  const lefts = await Promise.all((await steps.all()).map((el) => el.locator('> *').first().evaluate((child) => Math.round(child.getBoundingClientRect().left))))
  expect(lefts[4]! - lefts[1]!).toBe(24)
  expect(lefts[5]).toBe(lefts[1])

  // A child opens like any call; Markdown of the final answer is Markdown, its blocks parted.
  await details.getByRole('button', { name: 'Search: grep' }).click()
  await expect(details.getByText('3 matches')).toBeVisible()
  await details.getByRole('button', { name: 'Edit: Edit a.go' }).click()
  await expect(details.getByRole('listitem').filter({ hasText: '/project/a.go' })).toContainText('changed')
  await expect(details.locator('strong').filter({ hasText: 'three' })).toBeVisible()
  await expect(details.locator('.final p')).toHaveText(['There are three callers.', 'Two of them stand in a.go.'])
  await axe(page)
  await fitsNarrow(page)
})

test('a subagent inside of another has details of its own (R-CHAT-110)', async ({ chat, page }) => {
  await chat.begin('subagent full')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await cards(chat.log).first().click()
  await panel(page, 'Find callers').getByRole('button', { name: /^Read the matches/ }).click()
  const inner = panel(page, 'Read the matches')
  await expect(inner.locator('.child')).toHaveText(['Read a.go'])
  await expect(fact(inner, 'Duration')).toHaveText('4 s')
  await expect(inner.locator('.final')).toContainText('a.go calls it twice.')
  // What had the focus is gone; it is inside the panel still.
  await expect.poll(() => inner.evaluate((el) => el.contains(document.activeElement))).toBe(true)
  await inner.getByRole('button', { name: 'Find callers' }).click()
  await expect(panel(page, 'Find callers').locator('.child')).toHaveCount(6)
  await page.keyboard.press('Escape')
  await expect(panel(page)).toHaveCount(0)
  await expect(cards(chat.log).first()).toBeFocused()
})

test('a changed path of a child opens the file changes above the details, and closing gives back the focus (R-CHAT-086, 097)', async ({ chat, page }) => {
  await chat.begin('subagent full')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await cards(chat.log).first().click()
  const details = panel(page, 'Find callers')
  await details.getByRole('button', { name: 'Edit: Edit a.go' }).click()
  const path = details.getByRole('button', { name: '/project/a.go' })
  await path.focus()
  await page.keyboard.press('Enter')
  const changes = panel(page, 'File changes in this turn')
  await expect(changes).toContainText('No net change in this turn')
  await axe(page)
  await page.keyboard.press('Escape')
  await expect(changes).toHaveCount(0)
  await expect(details).toBeVisible()
  await expect(path).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(panel(page)).toHaveCount(0)
  await expect(cards(chat.log).first()).toBeFocused()
})

test('the panel is opened, read and closed by keyboard, and the focus returns (R-CHAT-111, 165)', async ({ chat, page }) => {
  await chat.begin('subagent full')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await chat.message.focus()
  const card = cards(chat.log).last()
  for (let i = 0; i < 15 && !(await card.evaluate((el) => el === document.activeElement)); i++) await page.keyboard.press('Shift+Tab')
  await expect(card).toBeFocused()
  await page.keyboard.press('Enter')
  const details = panel(page, 'Check the tests')
  await expect(details.getByRole('button', { name: 'Close' })).toBeFocused()
  const run = details.getByRole('button', { name: 'Run: go test ./...' })
  for (let i = 0; i < 15 && !(await run.evaluate((el) => el === document.activeElement)); i++) await page.keyboard.press('Tab')
  await expect(run).toBeFocused()
  await page.keyboard.press('Space')
  await expect(run).toHaveAttribute('aria-expanded', 'true')
  for (let i = 0; i < 20; i++) await page.keyboard.press('Tab')
  expect(await details.evaluate((el) => el.contains(document.activeElement)), 'focus stays in the panel').toBe(true)
  await page.keyboard.press('Escape')
  await expect(details).toHaveCount(0)
  await expect(card).toBeFocused()
})

test('a running subagent shimmers, says what it does, and asks on its card and in its details (R-CHAT-111, decision 1)', async ({ chat, page }) => {
  await chat.begin('subagent full')
  const second = cards(chat.log).last()
  await expect(second).toHaveText(/^Check the tests\s*general-purpose\s*Running\s*go test \.\/\.\.\.$|^Check the tests\s*explore\s*Running\s*go test \.\/\.\.\.$/)
  await expect(second.locator('.shimmer')).toHaveText('Check the tests')
  await expect(chat.log.getByRole('region', { name: /permission: go test/ })).toHaveCount(1)

  await second.click()
  const details = panel(page, 'Check the tests')
  await expect(details).toContainText('Running')
  await expect(fact(details, 'Tokens')).toHaveText('—')
  await expect(details.locator('.final')).toHaveText(/—$/)
  const asked = details.getByRole('region', { name: /permission: go test/ })
  await expect(asked).toBeVisible()
  await axe(page)
  await asked.getByRole('button', { name: 'Allow once' }).click()
  // Live while it is open.
  await expect(asked).toHaveCount(0)
  await expect(fact(details, 'Tokens')).toHaveText('12,345')
  await expect(fact(details, 'Duration')).toHaveText('1 min 05 s')
  await expect(details.locator('.final')).toContainText('The tests pass.')
  await expect(details).toContainText('Completed')
  await details.getByRole('button', { name: 'Run: go test ./...' }).click()
  await expect(details.getByText('You chose “Allow once”').first()).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(second.locator('.shimmer')).toHaveCount(0)
})

test('children appear while the details are open (R-CHAT-110, 111)', async ({ chat, page }) => {
  await chat.begin('subagent slow 8 400ms')
  await cards(chat.log).click()
  const details = panel(page, 'Read all files')
  await expect(details.locator('.child').last()).toHaveText('Read file 7')
  await expect(details.locator('.child')).toHaveCount(8)
  await expect(details.locator('.final')).toContainText('All read.')
  await expect(details.locator('.shimmer')).toHaveCount(0)
  await details.getByRole('button', { name: 'Close' }).click()
  await expect(cards(chat.log)).toBeFocused()
})

test('many children scroll in the panel and few are mounted (R-CHAT-110)', async ({ chat, page }) => {
  await chat.begin('subagent slow 150 1ms')
  await chat.ended()
  await cards(chat.log).click()
  const details = panel(page, 'Read all files')
  await expect(details.getByText('Read file 0', { exact: true })).toBeVisible()
  expect(await details.locator('.child').count()).toBeLessThan(80)
  await details.locator('.slideover-body').focus()
  await page.keyboard.press('End')
  await expect(details.getByText('All read.')).toBeInViewport()
  await expect(details.getByText('Read file 149', { exact: true })).toBeVisible()
  expect(await details.locator('.child').count()).toBeLessThan(80)
  await axe(page)
})

test('what was not told is a dash, and a subagent without calls says so (R-CHAT-109, 110, 111)', async ({ chat, page }) => {
  await chat.begin('subagent empty')
  await chat.ended()
  await cards(chat.log).click()
  const details = panel(page)
  await expect(details.getByRole('definition')).toHaveText(Array.from({ length: 12 }, () => '—'))
  await expect(details).toContainText('No calls were recorded.')
  await expect(details.locator('section').filter({ hasText: /^Prompt/ })).toHaveText(/—$/)
  await expect(details.locator('.final')).toHaveText(/—$/)
})

test('one that waits for its first call, one that failed, and one that was cut off (R-CHAT-111)', async ({ chat, core, page }) => {
  const start = { sessionUpdate: 'tool_call', title: 'Wait', kind: 'think', status: 'in_progress', _meta: { claudeCode: { toolName: 'Agent' } } }
  const id = await chat.begin(`update64 ${Buffer.from(JSON.stringify(start)).toString('base64')}; hang`)
  await cards(chat.log).click()
  await expect(panel(page, 'Wait')).toContainText('Waiting for the first call…')
  await page.keyboard.press('Escape')
  await chat.stop.click()
  await expect(cards(chat.log)).toContainText('Interrupted')
  await expect(chat.log.locator('.shimmer')).toHaveCount(0)
  await chat.ended()

  await chat.say('subagent fail')
  await expect(cards(chat.log).last()).toContainText('Failed')
  await cards(chat.log).last().click()
  const details = panel(page, 'Find callers')
  await expect(details.getByRole('heading', { name: 'Error' })).toBeVisible()
  await expect(details).toContainText('The subagent stopped: out of tokens.')
  await expect(details.getByRole('heading', { name: 'Final answer' })).toHaveCount(0)
  await page.keyboard.press('Escape')
  await chat.ended()

  await chat.say('subagent open')
  await expect(cards(chat.log).last()).toContainText('Interrupted')
  await chat.ended()
  await expect.poll(async () => (await core.messages(id)).length).toBe(6)
  await page.reload()
  await expect(cards(chat.log).last()).toContainText('Interrupted')
})

test('links that are not safe leave ordinary calls (R-CHAT-108)', async ({ chat }) => {
  await chat.begin('subagent orphan')
  await chat.ended()
  await expect(cards(chat.log)).toHaveText([/^Run the helper/])
  for (const head of await chat.log.locator('.fold-head').all()) await head.click()
  for (const name of ['Child of nobody', 'Child of itself', 'Circle one', 'Circle two', 'Words of nobody.']) {
    await expect(chat.log.getByText(name)).toBeVisible()
  }
})

test('a child session is a subagent like any other (R-CHAT-106, 110)', async ({ chat, page }) => {
  await chat.begin('childsession')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await expect(cards(chat.log)).toHaveCount(1)
  await cards(chat.log).click()
  const details = panel(page)
  await expect(details.locator('.child')).toHaveText([
    'Searching', 'grep', /^Three matches\.\s*$/, /^Reader/, 'Read a.go', /^go test/, /^There are three callers\.\s*$/,
  ])
  await expect(details.locator('section').filter({ hasText: /^Prompt/ })).toContainText('Find all callers.')
})

test('its details fill a narrow page (R-CHAT-165)', async ({ chat, page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await chat.begin('subagent full')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await cards(chat.log).first().click()
  const details = panel(page, 'Find callers')
  await expect(details.locator('.child').first()).toBeVisible()
  expect(await details.boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 })
  await axe(page)
  await fitsNarrow(page)
})

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('states of a subagent speak Chinese (R-CHAT-111)', async ({ core, page }) => {
    await page.goto(await core.url(core.project))
    await expect(page.locator('.draft-state')).toContainText('Scripted')
    await page.getByRole('textbox').fill('subagent open')
    await page.getByRole('textbox').press('Enter')
    const card = cards(page.getByRole('log'))
    await expect(card).toContainText('已中断')
    await card.click()
    await expect(panel(page).getByRole('heading', { name: '最终回答' })).toBeVisible()
  })
})
