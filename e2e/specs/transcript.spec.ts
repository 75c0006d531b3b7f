import type { Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test, type Chat } from '../fixtures.ts'
import { holdStill } from '../reading.ts'

test('Markdown streams in and code is highlighted (R-CHAT-131)', async ({ chat, page }) => {
  await chat.begin('echo The beginning.\\n\\n; markdown; permission; echo The \\u0065nd.')
  await expect(chat.log.getByText('The beginning.', { exact: true })).toBeVisible()
  await expect(chat.log.getByRole('heading', { name: 'Heading' })).toBeVisible()
  await expect(chat.log.getByText('The end.')).toHaveCount(0)
  await expect(chat.log.getByRole('listitem')).toHaveText(['one', 'two'])
  await expect(chat.log.getByRole('cell')).toHaveText(['1', '2'])
  await expect(chat.log.getByRole('link', { name: 'a link' })).toHaveAttribute('href', 'https://example.com/')
  await expect(chat.log.getByRole('group', { name: 'go' })).toContainText('fmt.Println("hello")')
  const coloured = () => page.evaluate(() => [...CSS.highlights.values()].reduce((n, h) => n + h.size, 0))
  await expect.poll(coloured, 'ranges with a colour').toBeGreaterThan(1)
  await axe(page)
  await fitsNarrow(page)
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.log).toContainText('The end.')
})

test('code is copied as it was written (R-CHAT-131)', async ({ chat, context, page }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await chat.begin('markdown')
  await chat.log.getByRole('group', { name: 'go' }).getByRole('button', { name: 'Copy' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Copied' })).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('fmt.Println("hello")\n')
})

test('reasoning and tools are one closed line each; a tool opens to input, output and places (R-CHAT-079, 082)', async ({ chat, page }) => {
  await chat.begin('think; tool; failtool; diff; terminal; echo Done.')
  await expect(chat.log.getByText('Done.', { exact: true })).toBeVisible()
  await expect(chat.log).not.toContainText('The project has files.')
  await expect(chat.log).not.toContainText('package main')
  const heads = chat.log.locator('button[aria-expanded]')
  await expect(heads).toHaveCount(1)
  await heads.click()
  await expect(heads).toHaveCount(6)
  for (const head of (await heads.all()).slice(1)) await expect(head).toHaveAttribute('aria-expanded', 'false')

  await heads.nth(1).click()
  await expect(chat.log).toContainText('The project has files.')

  const read = chat.log.getByRole('button', { name: 'Read: Read main.go' })
  await read.focus()
  await page.keyboard.press('Enter')
  await expect(read).toHaveAttribute('aria-expanded', 'true')
  await expect(chat.log.getByRole('heading', { name: 'Input' })).toBeVisible()
  await expect(chat.log.getByText('"path": "/project/main.go"')).toBeVisible()
  await expect(chat.log.getByRole('heading', { name: 'Output' })).toBeVisible()
  await expect(chat.log.getByText('package main')).toBeVisible()
  await expect(chat.log.getByRole('button', { name: '/project/main.go:1' })).toBeVisible()
  await page.keyboard.press('Space')
  await expect(chat.log).not.toContainText('package main')

  await chat.log.getByRole('button', { name: 'Run, failed: Run tests' }).click()
  await expect(chat.log.getByRole('heading', { name: 'Error' })).toBeVisible()
  await expect(chat.log).toContainText('exit status 2')
  await chat.log.getByRole('button', { name: /Edit \/project\/main.go$/ }).click()
  await expect(chat.log.getByRole('listitem').filter({ hasText: 'main.go.new' })).toContainText('added')
  await axe(page)
  await fitsNarrow(page)
})

test('a long output is a preview until its whole is asked for (R-CHAT-082)', async ({ chat, context, page }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await chat.begin('bigtool 300000')
  await chat.log.getByRole('button', { name: 'Print a lot' }).click()
  const output = chat.log.locator('pre')
  await expect(output).toHaveText(/^b{1000,}$/)
  expect((await output.innerText()).length).toBeLessThan(10_000)
  await chat.log.getByRole('button', { name: 'Show all (293 KB)' }).click()
  await expect(chat.log.getByRole('group', { name: '1 line', exact: true })).toContainText(/b{500,}/)
  await expect(chat.log.getByRole('button', { name: /Show all/ })).toHaveCount(0)
  // Only what is seen is drawn; copying gives everything.
  await chat.log.getByRole('button', { name: 'Copy', exact: true }).click()
  await expect.poll(async () => (await page.evaluate(() => navigator.clipboard.readText())).length, 'characters copied').toBe(300_000)
})

test('before the first chunk the turn waits, from then on it works, and afterwards nothing is left (R-CHAT-073, 075)', async ({ chat, page }) => {
  await chat.begin('hang')
  await expect(chat.log).toContainText('Waiting for the Agent…')
  await expect(chat.log).not.toContainText('Working')
  await chat.stop.click()
  await expect(chat.log).toContainText('Stopped')
  await expect(chat.log).not.toContainText('Waiting for the Agent…')
  await chat.ended()

  await chat.say('echo Something.; hang')
  await expect(chat.log.getByText('Something.', { exact: true })).toBeVisible()
  await expect(chat.log.getByText(/^(Working|Still at it|On its way|Making progress)$/)).toBeVisible()
  await expect(chat.log.getByText(/^\d+ s$/)).toBeVisible()
  await expect(chat.log).not.toContainText('Waiting for the Agent…')
  await chat.stop.click()
  await chat.ended()
  await expect(chat.log.getByText(/^(Working|Still at it|On its way|Making progress)$/)).toHaveCount(0)
  await expect(chat.log.getByText(/^\d+ s$/)).toHaveCount(0)
  await page.reload()
  await expect(chat.log.getByText('Something.', { exact: true })).toBeVisible()
  await expect(chat.log.getByText(/^(Working|Still at it|On its way|Making progress|Waiting for the Agent…)$/)).toHaveCount(0)
})

test('the indicator keeps its time while another Session is shown (R-CHAT-076)', async ({ chat, core, page }) => {
  await core.begin('Scripted', 'echo quiet one', await core.workspace())
  await chat.begin('echo Busy.; hang')
  const time = chat.log.getByText(/^\d+ s$/)
  await expect(time).toHaveText(/^([2-9]|\d\d) s$/)
  await chat.row('quiet one').click()
  await expect(chat.title).toHaveText('echo quiet one')
  await expect(time).toHaveCount(0)
  await expect(chat.row('Busy.').getByRole('img', { name: 'Running' })).toBeVisible()
  await chat.row('Busy.').click()
  await expect(time).toHaveText(/^([2-9]|\d\d) s$/)
  await page.keyboard.press('Escape')
  await chat.stop.click()
  await chat.ended()
})

test('what no client knows, and halves of characters, do no harm (R-ACP-001)', async ({ chat }) => {
  await chat.begin('split; echo \\n\\n; unknown; echo \\n\\n; noise; echo \\n\\n; messages; image; echo End.')
  await expect(chat.log).toContainText('face: 😀 done')
  await expect(chat.log).toContainText('known again')
  await expect(chat.log).toContainText('noise done')
  await expect(chat.log).toContainText('Message 1.')
  await expect(chat.log.getByRole('img', { name: 'Image' })).toBeVisible()
  await expect(chat.log).toContainText('End.')
})

test('older messages come when one scrolls up', async ({ chat, core, page }) => {
  const workspace = await core.workspace()
  const id = await core.begin('Scripted', 'echo first of all', workspace)
  const idle = () => core.turn(id).then((t) => t.state)
  for (let i = 1; i <= 40; i++) {
    await expect.poll(idle, { intervals: [20] }).toBe('idle')
    await core.api('POST', `/api/sessions/${id}/prompts`, { requestId: crypto.randomUUID(), text: `echo answer ${i}` }, workspace)
  }
  await chat.row('first of all').click()
  await expect(chat.log.getByText('answer 40', { exact: true })).toBeVisible()
  await chat.log.hover()
  await expect(async () => {
    await page.mouse.wheel(0, -2000)
    await expect(chat.log.getByText('first of all', { exact: true })).toBeVisible({ timeout: 200 })
  }).toPass({ timeout: 30_000 })
})

test.describe('a long history', () => {
  test.use({ histories: [{ messages: 400 }] })

  /** Lets older messages come only when `go` is called; `all` resolves when the last page came. */
  async function holdOlder(page: Page): Promise<{ go: () => void; all: Promise<unknown> }> {
    let go: () => void = () => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    await page.route(/\/messages\?before=/, async (route) => {
      await gate
      await route.continue()
    })
    const all = page.waitForResponse(async (r) => /\/messages\?before=/.test(r.url()) && !((await r.json()) as { before?: string }).before)
    return { go, all }
  }

  /** Presses Home until the very first message is in view: what is loaded meanwhile comes above. */
  async function home(chat: Chat, page: Page): Promise<void> {
    await chat.log.focus()
    await expect(async () => {
      await page.keyboard.press('Home')
      await expect(chat.log.getByText(/^Question 0:/)).toBeInViewport({ timeout: 300 })
    }).toPass()
  }

  test('what is read stays where it is while older messages come and the answer grows below', async ({ chat, page }) => {
    const older = await holdOlder(page)
    await chat.row('A long history').click()
    await expect(chat.log).toContainText('End of answer 399.')
    await chat.say('slow 4000 2ms')
    await expect(chat.log.getByText(/^0 1 2 .*200 /)).toBeVisible()
    await chat.log.hover()
    await page.mouse.wheel(0, -250)
    await expect(page.getByRole('button', { name: 'To latest' })).toBeVisible()
    const still = await holdStill(page)
    older.go()
    await older.all
    await expect.poll(async () => (await chat.scroll()).top, 'height above').toBeGreaterThan(50_000)
    await expect(page.getByRole('button', { name: 'To latest' })).toContainText('new')
    const { moved, frames } = await still()
    expect(frames).toBeGreaterThan(8)
    expect(moved, 'how far the text moved, in px').toBeLessThanOrEqual(0.5)
    await page.getByRole('button', { name: 'To latest' }).click()
    await expect.poll(async () => (await chat.scroll()).toEnd, 'distance to the end').toBeLessThanOrEqual(1)
    await expect(page.getByRole('button', { name: 'To latest' })).toBeHidden()
  })

  test('older messages come by themselves, stop for another Session, and go on afterwards', async ({ chat, page }) => {
    const older = await holdOlder(page)
    const asked: string[] = []
    page.on('request', (r) => void (/before=/.test(r.url()) && asked.push(r.url())))
    await chat.row('A long history').click()
    await expect(chat.log).toContainText('End of answer 399.')
    await expect.poll(() => asked.length).toBe(1)
    await page.keyboard.press('Control+Shift+O')
    await expect(page).toHaveURL(/\/chat$/)
    const answered = page.waitForResponse(/before=/)
    older.go()
    await answered
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)))
    expect(asked.length).toBe(1)
    await chat.row('A long history').click()
    await older.all
    await home(chat, page)
    expect(new Set(asked).size, 'no page is asked for twice').toBe(asked.length)
  })

  test('what could not be loaded is tried again, at once for who looks at the place', async ({ chat, page, watch }) => {
    watch.allow(/503/)
    let refuse = true
    await page.route(/\/messages\?before=/, (route) => (refuse ? route.fulfill({ status: 503, body: '{}' }) : route.continue()))
    const refused = page.waitForResponse((r) => r.status() === 503)
    await chat.row('A long history').click()
    await expect(chat.log).toContainText('End of answer 399.')
    await refused
    await expect(chat.toasts).toHaveCount(0)
    await chat.log.focus()
    await page.keyboard.press('Home')
    await expect(chat.log.getByText('Older messages could not be loaded. Trying again…')).toBeVisible()
    refuse = false
    await home(chat, page)
    await expect(chat.log.getByText(/^Older messages/)).toHaveCount(0)
  })

  test('keys go through the log, to both ends and by pages', async ({ chat, page }) => {
    await chat.row('A long history').click()
    await home(chat, page)
    await expect.poll(async () => (await chat.scroll()).top).toBe(0)
    await page.keyboard.press('PageDown')
    await expect(chat.log.getByText(/^Question 0:/)).not.toBeInViewport()
    expect((await chat.scroll()).top).toBeGreaterThan(300)
    await page.keyboard.press('PageUp')
    await expect(chat.log.getByText(/^Question 0:/)).toBeInViewport()
    await expect.poll(async () => (await chat.scroll()).top).toBe(0)
    await page.keyboard.press('End')
    await expect(chat.log.getByText('End of answer 399.')).toBeInViewport()
    await expect.poll(async () => (await chat.scroll()).toEnd).toBeLessThanOrEqual(1)
    await expect(page.getByRole('button', { name: 'To latest' })).toBeHidden()
  })

  test('the end is followed until one turns away, at once and by however little (R-CHAT-007)', async ({ chat, page }) => {
    await chat.row('A long history').click()
    await chat.say('slow 1500 2ms; echo \\n\\nSecond block.\\n\\nThird block.')
    await expect(chat.log.getByText(/^0 1 2 .*100 /)).toBeVisible()
    await expect.poll(async () => (await chat.scroll()).toEnd).toBeLessThanOrEqual(1)
    await chat.log.hover()
    await page.mouse.wheel(0, -3)
    await expect.poll(async () => (await chat.scroll()).toEnd).toBeGreaterThanOrEqual(3)
    const still = await holdStill(page)
    const toEnd = page.getByRole('button', { name: 'To latest' })
    await expect(toEnd).toContainText('2 new')
    expect((await still()).moved).toBeLessThanOrEqual(0.5)
    await chat.ended()
    await toEnd.click()
    await expect(chat.log.getByText('Third block.')).toBeInViewport()
    await expect(toEnd).toBeHidden()
  })
})
