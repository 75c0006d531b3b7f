// Files that go along with messages: how they come in, who takes them, where they wait, and what the Agent gets.

import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { Locator, Page } from '@playwright/test'

import { axe, Chat, expect, fitsNarrow, test } from '../fixtures.ts'

/** A picture of one colour that a browser can draw. */
function png(width = 40, height = 30, shade = 120): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const out = Buffer.alloc(12 + data.length)
    out.writeUInt32BE(data.length, 0)
    body.copy(out, 4)
    out.writeUInt32BE(crc(body), 8 + data.length)
    return out
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  const rows = Buffer.alloc((width + 1) * height, shade)
  for (let y = 0; y < height; y++) rows[y * (width + 1)] = 0
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([magic, chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function crc(bytes: Buffer): number {
  let c = ~0
  for (const b of bytes) {
    c ^= b
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1
  }
  return ~c >>> 0
}

const sum = (b: Buffer) => createHash('sha256').update(b).digest('hex').slice(0, 16)

const shot = { name: 'shot.png', mimeType: 'image/png', buffer: png() }
const notes = { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# words, 词') }
const data = { name: 'data.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2, 255]) }

/** The files of the composer. */
const tray = (page: Page) => page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
const picker = (page: Page) => page.locator('form input[type=file]')
const told = (page: Page) => page.locator('form').getByRole('status')

/** Pastes or drops onto the composer as a person's browser does; a name that ends in "/" is a directory. */
async function give(target: Locator, how: 'paste' | 'drop', files: { name: string; mimeType: string; buffer: Buffer }[], text = ''): Promise<boolean> {
  const given = files.map((f) => ({ name: f.name, type: f.mimeType, bytes: [...f.buffer] }))
  return target.evaluate(
    (el, { given, how, text }) => {
      const transfer = new DataTransfer()
      for (const f of given) transfer.items.add(new File([new Uint8Array(f.bytes)], f.name, { type: f.type }))
      if (text) transfer.setData('text/plain', text)
      const init = { bubbles: true, cancelable: true }
      if (how === 'paste') return el.dispatchEvent(new ClipboardEvent('paste', { ...init, clipboardData: transfer }))
      el.dispatchEvent(new DragEvent('dragenter', { ...init, dataTransfer: transfer }))
      el.dispatchEvent(new DragEvent('dragover', { ...init, dataTransfer: transfer }))
      return el.dispatchEvent(new DragEvent('drop', { ...init, dataTransfer: transfer }))
    },
    { given, how, text },
  )
}

test('a first message carries what was picked, pasted and dropped, and the Agent gets the bytes (R-CHAT-042, 046, 047, 049, 053)', async ({ chat, core, page }) => {
  await picker(page).setInputFiles([shot])
  expect(await give(chat.message, 'paste', [{ ...shot, name: 'pasted.png', buffer: png(8, 8, 9) }, notes], 'words'), 'the browser inserts text').toBe(true)
  expect(await give(chat.message, 'drop', [notes, data]), 'a drop of files is ours').toBe(false)
  expect(await give(chat.message, 'drop', [], 'text'), 'a drop of text is not').toBe(true)
  await expect(tray(page)).toHaveCount(4)
  await expect(tray(page)).toContainText(['shot.png', 'pasted.png', 'notes.md', 'data.bin'])
  await expect(tray(page).locator('img')).toHaveCount(2)
  await expect(chat.send, 'files alone make no message (R-CHAT-041)').toBeDisabled()
  expect((await core.api<{ total: number }>('GET', '/api/sessions', undefined, await core.workspace())).total).toBe(0)
  await axe(page)
  await fitsNarrow(page)

  await page.getByRole('button', { name: 'Remove pasted.png' }).press('Enter')
  await expect(tray(page)).toHaveCount(3)
  await expect(page.getByRole('button', { name: 'Remove notes.md' })).toBeFocused()
  await chat.begin('blocks')
  const lines = [
    `image image/png ${shot.buffer.length} ${sum(shot.buffer)}`,
    `text-resource text/markdown ${notes.buffer.length} ${sum(notes.buffer)}`,
    `blob-resource application/octet-stream 4 ${sum(data.buffer)}`,
  ]
  for (const line of lines) await expect(chat.log).toContainText(line)
  await expect(chat.title).toHaveText('blocks')
  await expect(tray(page)).toHaveCount(0)

  const row = chat.log.getByRole('article', { name: 'You' })
  await expect(row.getByRole('img', { name: 'shot.png' })).toBeVisible()
  await expect(row.getByText('notes.md')).toBeVisible()
  const saved = page.waitForEvent('download')
  await row.getByRole('button', { name: 'Save data.bin' }).click()
  expect((await saved).suggestedFilename()).toBe('data.bin')
  await row.getByRole('button', { name: 'Enlarge shot.png' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await axe(page)
  await fitsNarrow(page)
  await page.goto(`${core.origin}/chat`)
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  await expect(tray(page)).toHaveCount(0)
})

test('files of a Session wait in it, through switches, reloads and restarts (R-CHAT-006, 043)', async ({ chat, core, page }) => {
  const one = await chat.begin('echo the first')
  await chat.ended()
  await picker(page).setInputFiles([shot, notes])
  await expect(tray(page)).toHaveCount(2)
  await expect(tray(page).getByRole('progressbar')).toHaveCount(0)
  const two = await core.begin('Scripted', 'echo the second', await core.workspace())
  await chat.row('the second').click()
  await page.waitForURL(`**/${two}`)
  await expect(tray(page)).toHaveCount(0)
  await page.goBack()
  await expect(tray(page)).toContainText(['shot.png', 'notes.md'])

  await page.reload()
  await expect(tray(page)).toContainText(['shot.png', 'notes.md'])
  await expect(tray(page).locator('img')).toHaveCount(1)
  await page.getByRole('button', { name: 'Remove shot.png' }).click()
  await expect(tray(page)).toHaveCount(1)
  await chat.say('blocks')
  await expect(chat.log).toContainText(`text-resource text/markdown ${notes.buffer.length} ${sum(notes.buffer)}`)
  await expect(chat.log).not.toContainText('image/png')
  await expect(tray(page)).toHaveCount(0)
  const kept = await core.api<{ attachments: unknown[] }>('GET', `/api/composer?sessionId=${one}`, undefined, await core.workspace())
  expect(kept.attachments).toEqual([])
})

test('files that were not sent survive the end of Core (R-CHAT-043)', async ({ chat, core, page, watch }) => {
  watch.allowEndOfCore()
  const id = await chat.begin('echo something')
  await chat.ended()
  await picker(page).setInputFiles([notes])
  await expect(tray(page)).toHaveCount(1)
  await expect(tray(page).getByRole('progressbar')).toHaveCount(0)
  await page.goto('about:blank')
  await core.kill()
  await core.start()
  await page.goto(await core.url(core.project))
  await expect(page.getByText('Scripted is ready')).toBeVisible() // the tab has its identity, and keeps it
  await page.goto(`${core.origin}/chat/${id}`)
  await expect(tray(page)).toContainText(['notes.md'])
  await chat.say('blocks')
  await expect(chat.log).toContainText(`text-resource text/markdown ${notes.buffer.length} ${sum(notes.buffer)}`)
})

test('a failed first message keeps text, files and their order, and works when tried again (R-CHAT-054)', async ({ chat, core, page, watch }) => {
  watch.allow(/status of 500/)
  await picker(page).setInputFiles([shot, notes])
  let failures = 1
  await page.route('**/api/sessions', async (route) => {
    if (route.request().method() !== 'POST' || failures-- <= 0) return route.fallback()
    await route.fulfill({ status: 500, json: { error: { code: 'STORAGE_FAILED', message: 'the disk is full' } } })
  })
  await chat.say('blocks')
  await expect(page.getByRole('alert')).toContainText('the disk is full')
  await expect(tray(page)).toContainText(['shot.png', 'notes.md'])
  await expect(chat.message).toHaveValue('blocks')
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  expect((await core.api<{ total: number }>('GET', '/api/sessions', undefined, await core.workspace())).total).toBe(0)
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.waitForURL(/\/chat\/session-/)
  await expect(chat.log).toContainText(sum(shot.buffer))
  await expect(chat.log).toContainText(sum(notes.buffer))
  expect(core.received('session/new'), 'the probe was taken over').toHaveLength(1)
})

test('an upload that fails can be tried again, and blocks sending until then (R-CHAT-043)', async ({ chat, page, watch }) => {
  watch.allow(/status of 500/)
  await chat.begin('echo something')
  await chat.ended()
  let failures = 1
  await page.route('**/attachments?*', async (route) => {
    if (failures-- <= 0) return route.fallback()
    await route.fulfill({ status: 500, json: { error: { code: 'STORAGE_FAILED', message: 'the disk is full' } } })
  })
  await picker(page).setInputFiles([notes])
  await expect(tray(page)).toContainText(['the disk is full'])
  await chat.message.fill('blocks')
  await expect(chat.send).toBeDisabled()
  await axe(page)
  await page.getByRole('button', { name: 'Upload notes.md again' }).click()
  await expect(chat.send).toBeEnabled()
  await chat.message.press('Enter')
  await expect(chat.log).toContainText(sum(notes.buffer))
})

test('a reload tells which files of a draft must be added again (R-CHAT-006)', async ({ page, chat }) => {
  await picker(page).setInputFiles([shot, notes])
  await expect(tray(page)).toHaveCount(2)
  await page.reload()
  await expect(told(page).filter({ hasText: 'must be added again: shot.png, notes.md' })).toBeVisible()
  await page.reload()
  await expect(chat.message).toBeVisible()
  await expect(picker(page)).toHaveCount(1)
  await expect(page.getByText('must be added again')).toHaveCount(0)
})

test('an upload belongs to the Session it was begun in, though another one is shown when it ends (R-CHAT-043)', async ({ chat, core, page }) => {
  const other = await core.begin('Scripted', 'echo the other', await core.workspace())
  const one = await chat.begin('echo the first')
  await chat.ended()
  let go = () => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  await page.route('**/attachments?*', async (route) => {
    await held
    await route.fallback()
  })
  await picker(page).setInputFiles([notes])
  await expect(tray(page).getByRole('progressbar', { name: 'Uploading notes.md' })).toBeVisible()
  await chat.message.fill('blocks')
  await expect(chat.send).toBeDisabled()
  await chat.row('the other').click()
  await page.waitForURL(`**/${other}`)
  go()
  type Kept = { attachments: { name: string }[] }
  const workspace = await core.workspace()
  const kept = async (id: string) => (await core.api<Kept>('GET', `/api/composer?sessionId=${id}`, undefined, workspace)).attachments.map((a) => a.name)
  await expect.poll(() => kept(one)).toEqual(['notes.md'])
  expect(await kept(other)).toEqual([])
  await expect(tray(page)).toHaveCount(0)
  await page.goBack()
  await expect(tray(page)).toContainText(['notes.md'])
  await expect(chat.send).toBeEnabled()
})

test('a drag is marked on the composer only while it is there, and what is too large is counted (R-CHAT-044, 045, 047)', async ({ chat, page }) => {
  const hint = page.getByText('Drop images and files here')
  const drag = (type: string, file = true) =>
    chat.message.evaluate(
      (el, { type, file }) => {
        const dataTransfer = new DataTransfer()
        if (file) dataTransfer.items.add(new File(['x'], 'x.txt'))
        else dataTransfer.setData('text/plain', 'x')
        return el.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
      },
      { type, file },
    )
  await expect(picker(page)).toHaveCount(1)
  expect(await drag('dragenter', false)).toBe(true)
  await expect(hint).toHaveCount(0)
  await drag('dragenter')
  await expect(hint).toBeVisible()
  await drag('dragleave')
  await expect(hint).toHaveCount(0)
  const large = { name: 'film.mov', mimeType: 'video/quicktime', buffer: Buffer.alloc(25 * 1024 * 1024 + 1) }
  await picker(page).setInputFiles([large, notes])
  await expect(told(page).filter({ hasText: 'Not attached: 1 over 25 MiB.' })).toBeVisible()
  await expect(tray(page)).toContainText(['notes.md'])
  await expect(tray(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Close' }).click()
  await expect(page.getByText('Not attached')).toHaveCount(0)
})

test('a file of 25 MiB reaches the Agent as it is (R-CHAT-044)', async ({ chat, page }) => {
  const whole = { name: 'big.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(25 * 1024 * 1024, 0xfe) }
  await picker(page).setInputFiles([whole])
  await chat.begin('blocks')
  await expect(chat.log).toContainText(`blob-resource application/octet-stream ${whole.buffer.length} ${sum(whole.buffer)}`, { timeout: 30_000 })
})

const caps = (image: boolean, embeddedContext: boolean) =>
  JSON.stringify({ caps: { loadSession: true, promptCapabilities: { image, embeddedContext }, mcpCapabilities: { http: true }, sessionCapabilities: {} } })

test.describe('Agents that differ', () => {
  test.use({ agents: { Images: caps(true, false), Files: caps(false, true), Nothing: caps(false, false) } })

  test('take what they can, and one sentence counts the rest (R-CHAT-044, 045, 048)', async ({ chat, page }) => {
    await picker(page).setInputFiles([shot, notes, data])
    await expect(tray(page)).toContainText(['shot.png'])
    await expect(tray(page)).toHaveCount(1)
    await expect(told(page).filter({ hasText: 'Not attached: 2 files the Agent does not take.' })).toBeVisible()
    await chat.message.fill('blocks')
    await expect(chat.send).toBeEnabled()

    for (const [agent, sends] of [['Files', false], ['Nothing', false], ['Images', true]] as const) {
      await page.getByRole('radio', { name: new RegExp(`^${agent}`) }).check({ force: true })
      await expect(page.getByText(`${agent} is ready`)).toBeVisible()
      await expect(tray(page).getByText('The Agent does not take this.')).toHaveCount(sends ? 0 : 1)
      if (sends) await expect(chat.send).toBeEnabled()
      else await expect(chat.send).toBeDisabled()
      if (!sends) {
        await chat.message.press('Enter')
        await expect(page.getByText('Cannot be sent: 1 image the Agent does not take.')).toBeVisible()
        await axe(page)
      }
    }
    await chat.message.press('Enter')
    await page.waitForURL(/\/chat\/session-/)
    await expect(new Chat(page).log).toContainText(`image image/png ${shot.buffer.length} ${sum(shot.buffer)}`)
  })
})

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('the composer of files speaks Chinese and is accessible (decision 7)', async ({ core, page }) => {
    await page.goto(await core.url(core.project))
    await expect(page.getByRole('button', { name: '添加附件…' })).toBeVisible()
    await expect(page.getByText('Scripted').first()).toBeVisible()
    await page.locator('form input[type=file]').setInputFiles([])
    await axe(page)
  })
})
