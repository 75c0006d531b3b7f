// Messages that wait for the end of a turn (R-CHAT-052).

import type { Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test, type Chat } from '../fixtures.ts'

const queue = (page: Page) => page.getByRole('region', { name: 'Queued messages' })
const entries = (page: Page) => queue(page).getByRole('listitem')
const texts = (page: Page) => entries(page).locator('.text')
const files = Buffer.from('# words, 词')

/** Queues messages one after another. */
async function line(chat: Chat, ...messages: string[]): Promise<void> {
  for (const text of messages) {
    await chat.say(text)
    await expect(chat.message).toHaveValue('')
  }
}

/** What the user said, in order. */
const said = (chat: Chat) => chat.log.getByRole('article', { name: 'You' }).allInnerTexts().then((all) => all.map((t) => t.split('\n')[0]))

test('follow-ups are queued, edited, moved and removed by keys, stay over a reload, and go when the turn ends (R-CHAT-052)', async ({ chat, core, page }) => {
  const id = await chat.begin('permission')
  await expect(chat.log.getByRole('button', { name: 'Allow once' })).toBeVisible()
  await line(chat, 'echo first', 'echo second', 'echo third')
  await expect(texts(page)).toHaveText(['echo first', 'echo second', 'echo third'])
  await expect(queue(page)).toContainText('Sent in this order when the turn has ended')

  await chat.message.fill('words being written')
  await queue(page).getByRole('button', { name: 'Edit “echo second”' }).press('Enter')
  const field = queue(page).getByRole('textbox', { name: 'Queued message' })
  await expect(field).toBeFocused()
  await field.fill('echo changed')
  await field.press('Enter')
  await expect(texts(page)).toHaveText(['echo first', 'echo changed', 'echo third'])
  await expect(queue(page).getByRole('button', { name: 'Edit “echo changed”' })).toBeFocused()
  await expect(chat.message).toHaveValue('words being written')

  await queue(page).getByRole('button', { name: 'Send “echo third” earlier' }).press('Enter')
  await expect(texts(page)).toHaveText(['echo first', 'echo third', 'echo changed'])
  await queue(page).getByRole('button', { name: 'Remove “echo first”' }).press('Enter')
  await expect(texts(page)).toHaveText(['echo third', 'echo changed'])
  await expect(queue(page).getByRole('button', { name: 'Remove “echo third”' })).toBeFocused()
  await axe(page)
  await fitsNarrow(page)

  // What comes from elsewhere shows at once, and once, however often it is asked for.
  for (let i = 0; i < 2; i++) await core.api('POST', `/api/sessions/${id}/queue`, { id: 'elsewhere', text: 'echo elsewhere' }, await core.workspace())
  await expect(texts(page)).toHaveText(['echo third', 'echo changed', 'echo elsewhere'])
  await page.reload()
  await expect(texts(page)).toHaveText(['echo third', 'echo changed', 'echo elsewhere'])
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.log.getByText('elsewhere', { exact: true })).toBeVisible()
  await expect(queue(page)).toHaveCount(0)
  await chat.ended()
  expect(await said(chat)).toEqual(['permission', 'echo third', 'echo changed', 'echo elsewhere'])
})

test('a turn that is stopped or fails holds the queue until the user lets it go on (R-CHAT-052)', async ({ chat, page }) => {
  await chat.begin('hang')
  await line(chat, 'error -32603 broken', 'echo last')
  await expect(entries(page)).toHaveCount(2)
  await chat.stop.click()
  await expect(queue(page).getByRole('status')).toHaveText('On hold, since you stopped the turn')
  await chat.say('echo between') // what is sent by hand goes, and the queue stays held
  await expect(chat.log.getByText('between', { exact: true })).toBeVisible()
  await chat.ended()
  await expect(entries(page)).toHaveCount(2)
  await axe(page)
  await queue(page).getByRole('button', { name: 'Continue' }).click()
  await expect(chat.log).toContainText('broken')
  await expect(queue(page).getByRole('status')).toHaveText('On hold, since the last turn failed')
  await expect(texts(page)).toHaveText(['echo last'])
  await queue(page).getByRole('button', { name: 'Continue' }).click()
  await expect(chat.log.getByText('last', { exact: true })).toBeVisible()
  await expect(queue(page)).toHaveCount(0)
})

test('a queued message can be sent now, which stops the turn (R-CHAT-052)', async ({ chat, page }) => {
  await chat.begin('hang')
  await line(chat, 'echo later', 'echo sooner')
  await expect(entries(page)).toHaveCount(2)
  await entries(page).nth(1).getByRole('button', { name: 'Stop this turn and send “echo sooner” now' }).click()
  await expect(chat.log.getByText('later', { exact: true })).toBeVisible()
  await expect(queue(page)).toHaveCount(0)
  expect(await said(chat)).toEqual(['hang', 'echo sooner', 'echo later'])
})

test('the queue and its files survive the end of Core, and nothing of it is sent by itself (R-CHAT-052)', async ({ chat, core, page, watch }) => {
  watch.allowEndOfCore()
  const id = await chat.begin('hang')
  await expect(chat.stop).toBeVisible()
  await page.locator('form input[type=file]').setInputFiles([{ name: 'notes.md', mimeType: 'text/markdown', buffer: files }])
  const tray = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
  await expect(tray).toHaveCount(1)
  await expect(tray.getByRole('progressbar')).toHaveCount(0)
  await chat.say('blocks')
  await expect(texts(page)).toHaveText(['blocks · 1 file'])
  await expect(tray).toHaveCount(0)
  await page.goto('about:blank')
  await core.kill()
  await core.start()
  await page.goto(await core.url(core.project))
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  await page.goto(`${core.origin}/chat/${id}`)
  await expect(queue(page).getByRole('status')).toHaveText('On hold, since FylloCode was restarted')
  await expect(texts(page)).toHaveText(['blocks · 1 file'])
  await expect(tray).toHaveCount(0)
  const composer = async () => core.api<{ attachments: unknown[] }>('GET', `/api/composer?sessionId=${id}`, undefined, await core.workspace())
  expect((await composer()).attachments, 'the file is of the queued message').toEqual([])
  await queue(page).getByRole('button', { name: 'Continue' }).click()
  await expect(chat.log).toContainText(`text-resource text/markdown ${files.length} `)
  await expect(queue(page)).toHaveCount(0)
  expect((await composer()).attachments).toEqual([])
})

test('the queue moves to another tab with its Session, and an edit outlives its message (R-CHAT-052)', async ({ chat, core, page }) => {
  const id = await chat.begin('permission')
  await expect(chat.log.getByRole('button', { name: 'Allow once' })).toBeVisible()
  await line(chat, 'echo first', 'echo second')
  const other = await page.context().newPage()
  await other.goto(`${core.origin}/chat/${id}`)
  await other.getByRole('button', { name: 'Move here' }).click()
  await expect(texts(other)).toHaveText(['echo first', 'echo second'])
  await queue(other).getByRole('button', { name: 'Remove “echo second”' }).click()
  await expect(texts(other)).toHaveText(['echo first'])
  await page.getByRole('button', { name: 'Move here' }).click()
  await expect(texts(page)).toHaveText(['echo first'])
  await other.close()

  await chat.message.fill('words being written')
  await queue(page).getByRole('button', { name: 'Edit “echo first”' }).press('Enter')
  await queue(page).getByRole('textbox', { name: 'Queued message' }).fill('echo better')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.log.getByText('first', { exact: true })).toBeVisible()
  await expect(queue(page)).toHaveCount(0)
  await expect(chat.message).toHaveValue('words being written\n\necho better')
  await expect(chat.message).toBeFocused()
  await expect(page.getByText('The message went before your edit was saved')).toBeVisible()
})
