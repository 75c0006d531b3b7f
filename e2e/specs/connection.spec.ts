import type { WebSocketRoute } from '@playwright/test'

import { Chat, expect, test } from '../fixtures.ts'

const banner = 'Reconnecting… This page catches up by itself.'

/** Whether the page is still the one that was marked before. */
const mark = (page: import('@playwright/test').Page) => page.evaluate(() => void Object.assign(window, { marked: true }))
const marked = (page: import('@playwright/test').Page) => page.evaluate(() => 'marked' in window)

test('a lost stream is taken up again without a reload, and nothing is missing', async ({ chat, core, page }) => {
  const sockets: WebSocketRoute[] = []
  let down = false
  await page.routeWebSocket('**/api/stream**', (socket) => {
    if (down) return void socket.close()
    socket.connectToServer()
    sockets.push(socket)
  })
  await page.reload() // now through the route
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  const id = await chat.begin('slow 400 10ms')
  await mark(page)
  await expect(chat.log.getByText(/^0 1 2 3 /)).toBeVisible()

  down = true
  for (const socket of sockets) await socket.close()
  await expect(page.getByRole('status').filter({ hasText: banner })).toBeVisible()
  const missed = (await core.turn(id)).text.length + 300
  await expect.poll(async () => (await core.turn(id)).text.length).toBeGreaterThan(missed)
  down = false
  await expect(page.getByText(banner)).toHaveCount(0)
  await chat.ended()
  const all = Array.from({ length: 400 }, (_, i) => `${i} `).join('').trim()
  await expect(chat.log.getByText(all, { exact: true })).toBeVisible()
  expect(await marked(page)).toBe(true)
})

test('a Core that died and came back wants a fresh link; then everything is there, and the turn has ended (R-CHAT-149)', async ({ chat, core, page, watch }) => {
  watch.allowEndOfCore()
  watch.allow(/status of 401/)
  const id = await chat.begin('echo Kept text.; hang')
  await expect(chat.log.getByText('Kept text.', { exact: true })).toBeVisible()
  await mark(page)
  await core.kill()
  await expect(page.getByText(banner)).toBeVisible()
  await expect(chat.log.getByText('Kept text.', { exact: true })).toBeVisible()

  // Core makes new secrets at each start, so the old cookie is refused and the page says what helps.
  await core.start(Number(new URL(core.origin).port))
  await expect(page.getByRole('heading', { name: 'This page needs a fresh link' })).toBeVisible()
  expect(await marked(page)).toBe(true)

  await page.goto(await core.url(core.project))
  const again = new Chat(page)
  await again.row('Kept text.').click()
  await expect(page).toHaveURL(`${core.origin}/chat/${id}`)
  await expect(again.log.getByText('Kept text.', { exact: true })).toBeVisible()
  await expect(again.log).toContainText('FylloCode ended while this turn ran.')
  await again.ended()
  await again.say('echo It goes on.')
  await expect(again.log.getByText('It goes on.', { exact: true })).toBeVisible()
})

test('a page that opens while Core is away connects as soon as it is there', async ({ chat, core, page, watch }) => {
  watch.allow(/ERR_FAILED.*\/api\/windows/)
  await expect(chat.title).toBeVisible()
  await page.route('**/api/windows', (route) => route.abort())
  await page.reload()
  await expect(page.getByRole('heading', { name: 'FylloCode does not answer' })).toBeVisible()
  await page.unroute('**/api/windows')
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  await expect(page).toHaveURL(`${core.origin}/chat`)
})

test('a part of the page that could not be loaded comes with its looks once Core answers again', async ({ chat, page, watch }) => {
  watch.allow(/ERR_FAILED.*\/assets\/SearchDialog-.*\.css/)
  watch.allow(/ERR_FAILED.*\/assets\/SearchDialog-.*\.js/)
  await expect(chat.title).toBeVisible()
  const asked = { css: 0, js: 0 }
  await page.route(/\/assets\/SearchDialog-/, (route) => {
    const kind = route.request().url().endsWith('.css') ? 'css' : 'js'
    return ++asked[kind] > 2 ? route.continue() : route.abort()
  })
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog', { name: 'Search' })
  await expect(dialog).toBeVisible()
  expect(asked.js).toBeGreaterThan(2)
  expect(asked.css).toBeGreaterThan(2)
})
