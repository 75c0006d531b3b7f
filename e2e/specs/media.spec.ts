import { existsSync, readdirSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

import { type Locator } from '@playwright/test'

import { type Core } from '../core.ts'
import { axe, type Chat, expect, fitsNarrow, test } from '../fixtures.ts'

/** Opens the only call of the newest answer, once there is one. */
async function open(chat: Chat, title: string): Promise<void> {
  const head = chat.log.getByRole('button', { name: title })
  await head.click()
  await expect(head).toHaveAttribute('aria-expanded', 'true')
}

/** Opens the group of calls of the answer. */
async function openGroup(chat: Chat): Promise<void> {
  await chat.log.locator('button[aria-expanded=false]').first().click()
}

/** What a picture shows: where its bytes come from and its size in pixels, once they are there. */
async function shown(picture: Locator): Promise<unknown[]> {
  await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0)).toBe(true)
  return picture.evaluate((img: HTMLImageElement) => [new URL(img.src).protocol, img.naturalWidth, img.naturalHeight])
}

/** Where the files of a Session lie. */
function filesOf(core: Core, session: string): string {
  const workspaces = join(core.dir, 'data', 'workspaces')
  const found = readdirSync(workspaces).map((w) => join(workspaces, w, 'sessions', session, 'attachments'))
  return found.find((dir) => existsSync(dir)) ?? found[0]!
}

test('pictures in a result are the same live, after a reload and after a restart, and are files (R-CHAT-096)', async ({ chat, core, page }) => {
  const id = await chat.begin('picture 3; permission')
  const pictures = chat.log.getByRole('img', { name: 'Image' })
  const sizes = [['blob:', 320, 200], ['blob:', 360, 200], ['blob:', 400, 200]]
  const same = async (when: string) => {
    await open(chat, 'Take a screenshot')
    await expect(chat.log.getByRole('heading', { name: 'Images' })).toBeVisible()
    await expect(chat.log.getByText('Took a screenshot.')).toBeVisible()
    await expect(pictures, when).toHaveCount(3)
    for (const [i, size] of sizes.entries()) expect(await shown(pictures.nth(i)), when).toEqual(size)
  }
  await expect(chat.log.getByRole('button', { name: 'Allow once' })).toBeVisible()
  await openGroup(chat)
  await same('while the turn runs')
  expect(existsSync(filesOf(core, id)), 'a file before the answer is stored').toBe(false)
  await page.reload()
  await openGroup(chat)
  await same('after a reload in the turn')
  const src = await pictures.first().getAttribute('src')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await expect.poll(async () => (await core.messages(id)).length, 'messages on disk').toBe(2)
  expect(await pictures.first().getAttribute('src'), 'the picture was loaded again when it was stored').toBe(src)
  expect(readdirSync(filesOf(core, id)).map((name) => name.replace(/^[0-9a-f-]{36}/, 'uuid'))).toEqual(['uuid.png', 'uuid.png', 'uuid.png'])
  await page.reload()
  await openGroup(chat)
  await same('stored')

  const port = Number(new URL(core.origin).port)
  await page.goto('about:blank')
  await core.stop()
  await core.start(port)
  await page.goto(await core.url(core.project))
  await expect(chat.message).toBeVisible() // the window has its Workspace
  await page.goto(`${core.origin}/chat/${id}`)
  await openGroup(chat)
  await same('after a restart')
  await axe(page)
  await fitsNarrow(page)
})

test('a picture opens large by keyboard, leads to its neighbours, and gives the focus back', async ({ chat, page }) => {
  await chat.begin('picture 3')
  await chat.ended()
  await open(chat, 'Take a screenshot')
  const second = chat.log.getByRole('button', { name: 'Enlarge Image' }).nth(1)
  await expect(second).toBeVisible()
  await second.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Image' })
  const picture = dialog.getByRole('img')
  expect(await shown(picture)).toEqual(['blob:', 360, 200])
  await expect(dialog.getByText('2 of 3')).toBeVisible()
  await axe(page)
  await page.keyboard.press('ArrowRight')
  await expect(dialog.getByText('3 of 3')).toBeVisible()
  await expect.poll(() => shown(picture)).toEqual(['blob:', 400, 200])
  await expect(dialog.getByRole('button', { name: 'Next image' })).toBeDisabled()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect(dialog.getByText('1 of 3')).toBeVisible()
  await expect.poll(() => shown(picture)).toEqual(['blob:', 320, 200])
  const saved = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const download = await saved
  expect(download.suggestedFilename()).toBe('image.png')
  expect(readFileSync(await download.path()).subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))
  await page.setViewportSize({ width: 390, height: 844 })
  await dialog.getByRole('button', { name: 'Actual size' }).click()
  await expect(dialog.getByRole('button', { name: 'Actual size' })).toHaveAttribute('aria-pressed', 'true')
  await axe(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(second).toBeFocused()
})

test('the large picture stays when its row leaves the page', async ({ chat, core, page }) => {
  const id = await chat.begin('picture')
  await chat.ended()
  await open(chat, 'Take a screenshot')
  await chat.log.getByRole('button', { name: 'Enlarge Image' }).click()
  const dialog = page.getByRole('dialog', { name: 'Image' })
  await expect(dialog.getByRole('img')).toBeVisible()
  const text = `echo ${Array.from({ length: 200 }, (_, i) => `paragraph ${i}`).join('\\n\\n')}`
  await core.api('POST', `/api/sessions/${id}/prompts`, { requestId: crypto.randomUUID(), text }, await core.workspace())
  await expect.poll(async () => (await core.messages(id)).length, 'messages on disk').toBe(4)
  await chat.log.evaluate((el) => (el.scrollTop = el.scrollHeight))
  await expect(chat.log.locator('img')).toHaveCount(0)
  expect(await shown(dialog.getByRole('img'))).toEqual(['blob:', 320, 200])
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(chat.log).toBeFocused()
})

test('a picture in the details of a subagent opens large above them', async ({ chat, page }) => {
  const update = (u: object) => `update64 ${Buffer.from(JSON.stringify(u)).toString('base64')}`
  const claude = (toolName: string, parentToolUseId?: string) => ({ claudeCode: { toolName, parentToolUseId } })
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='
  const picture = { type: 'content', content: { type: 'image', mimeType: 'image/png', data: png } }
  await chat.begin(
    [
      update({ sessionUpdate: 'tool_call', toolCallId: 'root', title: 'Look around', kind: 'think', name: 'Agent', _meta: claude('Agent') }),
      update({
        sessionUpdate: 'tool_call', toolCallId: 'shot', title: 'Take a picture', kind: 'other', status: 'completed',
        content: [picture], _meta: claude('Shot', 'root'),
      }),
      update({ sessionUpdate: 'tool_call_update', toolCallId: 'root', status: 'completed', content: [picture] }),
    ].join('; '),
  )
  await chat.ended()
  await chat.log.getByRole('button', { name: /Look around/ }).click()
  const panel = page.getByRole('dialog', { name: 'Look around' })
  await panel.getByRole('button', { name: 'Take a picture' }).click()
  const enlarge = panel.getByRole('button', { name: 'Enlarge Image' })
  await expect(enlarge, 'of the call and of the final answer').toHaveCount(2)
  await enlarge.first().click()
  const large = page.getByRole('dialog', { name: 'Image' })
  expect(await shown(large.getByRole('img'))).toEqual(['blob:', 1, 1])
  await page.keyboard.press('Escape')
  await expect(large).toHaveCount(0)
  await expect(enlarge.first()).toBeFocused()
  await enlarge.last().click()
  await large.getByRole('button', { name: 'Close' }).click()
  await expect(large).toHaveCount(0)
  await page.keyboard.press('Escape')
  await expect(panel).toHaveCount(0)
})

test('sounds play from their bytes, and files are saved under a harmless name', async ({ chat, page }) => {
  await chat.begin('sound; file a\\u202Egnp..exe\\u0000')
  await chat.ended()
  await openGroup(chat)
  await open(chat, 'Record a sound')
  const sound = chat.log.locator('audio')
  await expect(sound).toHaveAttribute('src', /^blob:/)
  await expect.poll(() => sound.evaluate((a: HTMLAudioElement) => a.duration)).toBeCloseTo(0.25, 1)
  await open(chat, 'Make a report')
  await expect(chat.log.getByText('words of a resource')).toBeVisible()
  await expect(chat.log.getByText('a⟨U+202E⟩gnp..exe⟨U+0000⟩')).toBeVisible()
  const saved = page.waitForEvent('download')
  await chat.log.getByRole('button', { name: /^Save a/ }).click()
  const download = await saved
  expect(download.suggestedFilename()).toBe('a_gnp..exe_')
  expect(readFileSync(await download.path(), 'latin1')).toBe('%FILE-1.0\x00\x01\x02 the bytes of a file')
  await axe(page)
  await fitsNarrow(page)
})

test('an SVG runs nothing and is not shown, whatever it says it is (R-CHAT-132)', async ({ chat, context, core, page, watch }) => {
  const requests: string[] = []
  context.on('request', (r) => requests.push(r.url()))
  watch.allow(/404/) // one of the broken pictures cannot be decoded
  const id = await chat.begin('svg; badimage; permission')
  await expect(chat.log.getByRole('button', { name: 'Allow once' })).toBeVisible()
  const look = async () => {
    await openGroup(chat)
    await open(chat, 'Draw a diagram')
    await expect(chat.log.getByText('An SVG can hold scripts')).toBeVisible()
    await expect(chat.log.getByText('These are not the bytes of a picture')).toBeVisible()
    await expect(chat.log.locator('img, svg circle, svg script, object, iframe, embed')).toHaveCount(0)
    await open(chat, 'Take a bad screenshot')
    await expect(chat.log.getByText('what the Agent sent cannot be decoded')).toBeVisible()
    await expect(chat.log.getByText('These are not the bytes of a picture')).toHaveCount(2)
  }
  await look()
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await expect.poll(async () => (await core.messages(id)).length, 'messages on disk').toBe(2)
  await page.reload()
  await look()

  // Nor does it run when somebody opens its address: without the window nothing is given out at all.
  const [message] = (await core.messages(id)).slice(-1)
  const answers = await page.evaluate(async (base) => {
    const window = { 'X-Fyllo-Window': sessionStorage.getItem('fyllo.window')! }
    const out = []
    for (const index of [0, 1]) {
      const answer = await fetch(`${base}&index=${index}`, { headers: window })
      out.push([answer.status, ...['content-type', 'content-disposition', 'content-security-policy', 'x-content-type-options'].map((h) => answer.headers.get(h))])
    }
    return out
  }, `/api/sessions/${id}/media?part=${message!.id}.0`)
  const plain = [200, 'application/octet-stream', 'attachment', "default-src 'none'; sandbox", 'nosniff']
  expect(answers).toEqual([plain, plain])
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false)
  expect(requests.filter((url) => url.includes('evil.example'))).toEqual([])
})

test('a huge picture waits for a click, and one that is too large for a file is shown too', async ({ chat, core, page }) => {
  const id = await chat.begin('hugeimage 9000000; hugeimage 27000000')
  await chat.ended()
  await expect.poll(async () => (await core.messages(id)).length, 'messages on disk').toBe(2)
  await openGroup(chat)
  const heads = chat.log.getByRole('button', { name: 'Take a huge screenshot' })
  const pictures = chat.log.getByRole('img', { name: 'Image' })
  for (const [i, size] of ['8.6 MB', '25.7 MB'].entries()) {
    await heads.nth(i).click()
    const load = chat.log.getByRole('button', { name: `Load Image (${size})` })
    await expect(load).toHaveText(`Load (${size})`)
    await expect(pictures).toHaveCount(i)
    const height = () => chat.log.locator('.media-list').nth(i).evaluate((el) => el.clientHeight)
    const before = await height()
    await load.click()
    await expect(pictures).toHaveCount(i + 1)
    expect(await shown(pictures.nth(i))).toEqual(['blob:', 320, 200])
    expect(await height(), 'the page shifted').toBe(before)
  }
  expect(readdirSync(filesOf(core, id))).toHaveLength(1)
  await fitsNarrow(page)
})

test('a deleted Session gives out no picture, and a file that was swapped for a link is not followed (R-WS-134)', async ({ chat, core, page, watch }) => {
  watch.allow(/404/)
  const id = await chat.begin('picture')
  await chat.ended()
  await expect.poll(async () => (await core.messages(id)).length, 'messages on disk').toBe(2)
  const [message] = (await core.messages(id)).slice(-1)
  const path = `/api/sessions/${id}/media?part=${message!.id}.0&index=0`
  const dir = filesOf(core, id)
  const file = join(dir, readdirSync(dir)[0]!)
  expect((await core.api<string>('GET', path)).length).toBeGreaterThan(100)
  unlinkSync(file)
  symlinkSync(join(core.dir, 'data', 'core.token'), file)
  await expect(core.api('GET', path)).rejects.toThrow('404')
  await open(chat, 'Take a screenshot')
  await expect(chat.log.getByText('It is not there, or')).toBeVisible()
  await core.api('DELETE', `/api/sessions/${id}`)
  await expect(core.api('GET', path)).rejects.toThrow('CHAT_SESSION_NOT_FOUND')
  expect(existsSync(dir)).toBe(false)
  await expect(page).toHaveURL(/\/chat$/)
})
