// The search for Sessions (R-CHAT-017…024).

import type { Locator, Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test, type Chat } from '../fixtures.ts'
import type { Core } from '../core.ts'

const dialog = (page: Page): Locator => page.getByRole('dialog', { name: 'Search Sessions' })
const field = (page: Page): Locator => dialog(page).getByRole('combobox', { name: 'Search' })
const hits = (page: Page): Locator => dialog(page).getByRole('option')
const active = (page: Page): Locator => dialog(page).getByRole('option', { selected: true })

async function open(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await expect(field(page)).toBeFocused()
}

/** Begins Sessions one after another, so that the last is the newest; returns their ids. */
async function begin(core: Core, prompts: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const prompt of prompts) {
    const id = await core.begin('Scripted', prompt, await core.workspace())
    await expect.poll(async () => (await core.turn(id)).state, 'the end of the turn').toBe('idle')
    ids.push(id)
  }
  return ids
}

/** Answers searches by hand: those that came, and what lets each go on. */
async function hold(page: Page): Promise<{ asked: string[]; running: () => number; most: () => number; answer: (i: number) => void }> {
  const asked: string[] = []
  const gates: (() => void)[] = []
  let running = 0
  let most = 0
  page.on('requestfailed', (r) => {
    if (r.url().includes('/api/search')) running--
  })
  page.on('requestfinished', (r) => {
    if (r.url().includes('/api/search')) running--
  })
  await page.route('**/api/search?**', async (route) => {
    asked.push(new URL(route.request().url()).searchParams.get('q') ?? '')
    most = Math.max(most, ++running)
    await new Promise<void>((go) => gates.push(go))
    await route.continue().catch(() => {}) // it was given up
  })
  return { asked, running: () => running, most: () => most, answer: (i) => gates[i]!() }
}

test('the button opens a dialog with a hint; Escape gives the focus back, and nothing has changed (R-CHAT-017)', async ({ chat, core, page }) => {
  await begin(core, ['echo one', 'echo two'])
  await expect(chat.sessions).toHaveCount(2)
  const button = chat.sidebar.getByRole('button', { name: 'Search Sessions' })
  await button.click()
  await expect(field(page)).toBeFocused()
  await expect(dialog(page)).toContainText('Find a Session of this Workspace')
  await axe(page)
  await field(page).fill('one')
  await expect(hits(page)).toHaveCount(1)
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toBeHidden()
  await expect(button).toBeFocused()
  await expect(page).toHaveURL(/\/chat$/)
  await expect(chat.sessions).toContainText(['echo two', 'echo one'])

  await chat.message.fill('half a thought')
  await open(page)
  await expect(field(page)).toHaveValue('')
  await page.keyboard.press('Escape')
  await expect(chat.message).toBeFocused()
  await expect(chat.message).toHaveValue('half a thought')
})

test('titles, ids and messages are found in that order, and keys open what is chosen (R-CHAT-018, 020, 022, 024)', async ({ chat, core, page }) => {
  const [oldest, said] = await begin(core, [
    'echo **标题**: Lighthouse keepers',
    'echo The keeper of a LIGHTHOUSE <b>went</b> home; think lighthouse secrets',
    'echo nothing of the kind',
  ])
  await core.api('PATCH', `/api/sessions/${oldest}`, { title: 'Lighthouse keepers' })
  await open(page)
  await page.keyboard.type('lighthouse')
  await expect(hits(page)).toHaveCount(2)
  await expect(hits(page).nth(0)).toContainText('Lighthouse keepers')
  await expect(hits(page).nth(0)).toContainText('Title')
  await expect(hits(page).nth(0).locator('mark')).toHaveText('Lighthouse')
  await expect(hits(page).nth(1)).toContainText('Message')
  await expect(hits(page).nth(1)).toContainText('LIGHTHOUSE <b>went</b> home')
  await expect(hits(page).nth(1).locator('mark')).toHaveText('LIGHTHOUSE')
  await expect(dialog(page).getByRole('status')).toHaveText('2 Sessions found')
  await axe(page)
  await fitsNarrow(page)

  await expect(active(page)).toContainText('Lighthouse keepers')
  await page.keyboard.press('ArrowUp')
  await expect(active(page)).toContainText('went')
  await page.keyboard.press('ArrowDown')
  await expect(active(page)).toContainText('Lighthouse keepers')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(dialog(page)).toBeHidden()
  await expect(page).toHaveURL(new RegExp(`/chat/${said}$`))
  await expect(chat.log).toContainText('<b>went</b> home')
  await expect(chat.sessions).toContainText(['nothing of the kind', 'The keeper of a', 'Lighthouse keepers'])

  await open(page)
  await page.keyboard.type(oldest!.slice(0, 20).toUpperCase())
  await expect(hits(page)).toHaveCount(1)
  await expect(hits(page)).toContainText('Session ID')
  await hits(page).click()
  await expect(page).toHaveURL(new RegExp(`/chat/${oldest}$`))
  await expect(chat.title).toHaveText('Lighthouse keepers')

  await open(page)
  await page.keyboard.type('system-reminder')
  await expect(dialog(page)).toContainText('No matching Sessions')
  await axe(page)
})

test('typing fast with slow answers asks for one text at a time and shows only the newest (R-CHAT-021)', async ({ chat, core, page, watch }) => {
  await begin(core, ['echo alpha', 'echo alphabet'])
  await expect(chat.sessions).toHaveCount(2)
  const core1 = await hold(page)
  await open(page)
  await page.keyboard.type('alp')
  await expect.poll(() => core1.asked).toEqual(['alp'])
  await page.keyboard.type('habet')
  await expect(dialog(page).getByText('Searching…').first()).toBeVisible()
  await expect.poll(() => core1.asked).toEqual(['alp', 'alphabet'])
  core1.answer(0) // of what nobody waits for any more
  await expect(hits(page)).toHaveCount(0)
  core1.answer(1)
  await expect(hits(page)).toHaveCount(1)
  await expect(hits(page)).toContainText('echo alphabet')
  expect(core1.most()).toBe(1)

  // New letters clear what was found before.
  await page.keyboard.press('Backspace')
  await expect(hits(page)).toHaveCount(0)
  await expect.poll(() => core1.asked.length).toBe(3)

  // What comes after the dialog was closed changes nothing.
  await page.keyboard.press('Escape')
  core1.answer(2)
  await open(page)
  await expect(dialog(page)).toContainText('Find a Session of this Workspace')
  watch.allow(/Failed to load resource: net::ERR_ABORTED/, { always: false })
})

test('a search that fails says why and is tried again (R-CHAT-021)', async ({ chat, core, page, watch }) => {
  await begin(core, ['echo alpha'])
  await expect(chat.sessions).toHaveCount(1)
  watch.allow(/500/)
  await page.route('**/api/search?**', (route) =>
    route.fulfill({ status: 500, json: { error: { code: 'STORAGE_FAILED', message: 'The disk is on fire.' } } }), { times: 1 })
  await open(page)
  await page.keyboard.type('alpha')
  await expect(dialog(page).getByRole('alert')).toContainText('The disk is on fire.')
  await axe(page)
  await dialog(page).getByRole('button', { name: 'Retry' }).click()
  await expect(hits(page)).toHaveCount(1)
})

test('a result that does not open leaves the dialog and the open Session alone (R-CHAT-024)', async ({ chat, core, page, watch }) => {
  const [first, second] = await begin(core, ['echo alpha', 'echo beta alpha'])
  await chat.row('echo alpha').click()
  await expect(chat.log).toContainText('alpha')
  await open(page)
  await page.keyboard.type('beta')
  await expect(hits(page)).toHaveCount(1)
  watch.allow(/404/)
  await core.api('DELETE', `/api/sessions/${second}`)
  await page.keyboard.press('Enter')
  await expect(dialog(page).getByRole('alert')).toContainText('“echo beta alpha” could not be opened. It does not exist any more.')
  await expect(page).toHaveURL(new RegExp(`/chat/${first}$`))
  await axe(page)
  await field(page).fill('alpha')
  await expect(dialog(page).getByRole('alert')).toBeHidden()
  await expect(hits(page)).toHaveCount(1)
  await page.keyboard.press('Escape')
  await expect(chat.title).toHaveText('echo alpha')
})

/** Whether the marked words are in the view of the transcript. */
function seen(page: Page): Promise<string> {
  return page.evaluate(() => {
    const range = [...(CSS.highlights.get('find-current') ?? [])][0] as Range | undefined
    const view = document.querySelector('[role=log]')?.getBoundingClientRect()
    const at = range?.getBoundingClientRect()
    const drawn = getComputedStyle(document.body, '::highlight(find-current)').backgroundColor !== 'rgba(0, 0, 0, 0)'
    return range && drawn && view && at && at.top >= view.top && at.bottom <= view.bottom ? range.toString() : ''
  })
}

async function arrives(chat: Chat, words: string): Promise<void> {
  await expect.poll(() => seen(chat.page)).toBe(words)
  await expect(chat.page).not.toHaveURL(/message=/)
}

test.describe('in a long Session', () => {
  test.use({ histories: [[{ messages: 3000 }], { scope: 'test' }] })

  test('a message is gone to, however far up, and the address forgets it (R-CHAT-002, 024)', async ({ chat, page }) => {
    await open(page)
    await page.keyboard.type('NEEDLE-400.')
    await expect(hits(page)).toHaveCount(1)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/chat\/session-history/)
    await arrives(chat, 'needle-400.')
    await expect(chat.log.getByText(/Question 400:/)).toBeInViewport()
    expect((await chat.scroll()).toEnd).toBeGreaterThan(1000)

    // Again, in the Session that is open already; going back does not lead to the message before.
    await open(page)
    await expect.poll(() => seen(page)).toBe('') // a key ends the mark
    await page.keyboard.type('needle-2400.')
    await expect(hits(page)).toHaveCount(1)
    await page.keyboard.press('Enter')
    await arrives(chat, 'needle-2400.')
    await page.goto(page.url().replace(/\?.*/, '') + '?message=msg-000200')
    await expect(chat.log.getByText(/Question 200:/)).toBeInViewport()
    await expect(page).not.toHaveURL(/message=/)
    await page.goto(page.url() + '?message=msg-nowhere')
    await expect(page).not.toHaveURL(/message=/)
    await expect(chat.log.getByText(/End of answer 2999/)).toBeInViewport()
  })
})

test.describe('in Chinese, on a telephone', () => {
  test.use({ locale: 'zh-CN', viewport: { width: 390, height: 844 } })

  test('the dialog speaks Chinese, fits, and leads from the drawer to a Session (R-CHAT-017, 021)', async ({ core, page }) => {
    const [id] = await begin(core, ['echo 修复解析器的错误 🚀'])
    await page.goto(await core.url(core.project))
    await page.getByRole('button', { name: '打开导航' }).click()
    await page.getByRole('button', { name: '搜索会话' }).click()
    const search = page.getByRole('dialog', { name: '搜索会话' })
    await search.getByRole('combobox', { name: '搜索' }).fill('没有这样的词')
    await expect(search).toContainText('没有匹配的会话')
    await search.getByRole('combobox').fill('解析器')
    await expect(search.getByRole('option').locator('mark')).toHaveText('解析器')
    await fitsNarrow(page)
    await axe(page)
    await search.getByRole('option').click()
    await expect(page).toHaveURL(new RegExp(`/chat/${id}$`))
    await expect(search).toBeHidden()
    await expect(page.getByRole('log')).toBeVisible()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })
})
