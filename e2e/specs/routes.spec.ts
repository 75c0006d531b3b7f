import { expect, test } from '../fixtures.ts'

test('after the first message the URL is replaced: Back does not return to the draft (R-CHAT-005)', async ({ chat, core, page }) => {
  await page.getByRole('link', { name: 'Settings' }).click()
  await expect(page).toHaveURL(`${core.origin}/settings/preferences`)
  await page.getByRole('link', { name: 'Chat' }).click()
  await expect(page).toHaveURL(`${core.origin}/chat`)
  const id = await chat.begin('echo the first')
  await expect(page).toHaveURL(`${core.origin}/chat/${id}`)
  await expect(chat.title).toHaveText('echo the first')
  await page.goBack()
  await expect(page).toHaveURL(`${core.origin}/settings/preferences`)
  await page.goForward()
  await expect(page).toHaveURL(`${core.origin}/chat/${id}`)
  await expect(chat.log.getByText('the first', { exact: true })).toBeVisible()
})

test('a link to a Session loads it and it stays after a reload (R-CHAT-002)', async ({ chat, core, page }) => {
  const id = await core.begin('Scripted', 'echo linked', await core.workspace())
  await chat.row('echo linked').click()
  await expect(page).toHaveURL(`${core.origin}/chat/${id}`)
  await expect(chat.log.getByText('linked', { exact: true })).toBeVisible()
  await page.reload()
  await expect(page).toHaveURL(`${core.origin}/chat/${id}`)
  await expect(chat.log.getByText('linked', { exact: true })).toBeVisible()
  await expect(chat.row('echo linked')).toHaveAttribute('aria-current', 'page')
})

test('a missing, malformed, deleted or foreign id leads to /chat with one toast (R-CHAT-003)', async ({ chat, core, page, watch }) => {
  watch.allow(/status of 404/)
  const own = await core.workspace()
  await core.url(core.makeDir('other'))
  const foreign = await core.begin('Scripted', 'echo elsewhere', await core.workspace(`${core.dir}/other`))
  const deleted = await core.begin('Scripted', 'echo short life', own)
  await core.api('DELETE', `/api/sessions/${deleted}`)
  for (const id of ['session-01J0000000000000000000000', 'not%20an%20id!', deleted, foreign]) {
    await page.goto(`${core.origin}/chat/${id}`)
    await expect(page).toHaveURL(`${core.origin}/chat`)
    await expect(chat.toasts).toHaveText(['This Session does not exist or has expired.'])
    await expect(chat.title).toHaveText('New Session')
    await expect(page.getByText('Scripted is ready')).toBeVisible()
  }
})

test('deleting the open Session leads to /chat, deleting another changes nothing else (R-CHAT-004)', async ({ chat, core, page }) => {
  const workspace = await core.workspace()
  await core.begin('Scripted', 'echo other', workspace)
  await expect(chat.row('echo other')).toBeVisible()
  const id = await chat.begin('echo open one')
  await chat.ended()

  await chat.menu('echo other')
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete this Session?' })
  await expect(dialog).toContainText('echo other')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(dialog).toBeHidden()
  await expect(chat.sessions).toHaveCount(2)

  await chat.menu('echo other')
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await expect(chat.sessions).toHaveCount(1)
  await expect(page).toHaveURL(`${core.origin}/chat/${id}`)
  await expect(chat.title).toHaveText('echo open one')

  await chat.row('echo open one').focus()
  await page.keyboard.press('Delete')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await expect(page).toHaveURL(`${core.origin}/chat`)
  await expect(chat.title).toHaveText('New Session')
  await expect(chat.sessions).toHaveCount(0)
  await expect(chat.toasts).toHaveCount(0)
  const { sessions } = await core.api<{ sessions: unknown[] }>('GET', '/api/sessions')
  expect(sessions).toHaveLength(0)
})

test('switching quickly: only the last Session becomes active, late answers are dropped (R-CHAT-006)', async ({ chat, core, page }) => {
  const workspace = await core.workspace()
  const ids: Record<string, string> = {}
  for (const name of ['alpha', 'beta', 'gamma']) {
    ids[name] = await core.begin('Scripted', `echo answer of ${name}`, workspace)
    await expect(chat.row(name)).toBeVisible()
  }
  // The answers for the first two are held back until the third is shown.
  const held: (() => void)[] = []
  let arrived = 0
  for (const name of ['alpha', 'beta']) {
    await page.route(`**/api/sessions/${ids[name]}`, async (route) => {
      arrived++
      await new Promise<void>((resolve) => held.push(resolve))
      await route.continue()
    })
  }
  for (const name of ['alpha', 'beta', 'gamma']) await chat.row(name).click()
  await expect(chat.log.getByText('answer of gamma', { exact: true })).toBeVisible()
  await expect.poll(() => arrived).toBe(2)
  const late = ['alpha', 'beta'].map((name) => page.waitForResponse((r) => r.url().endsWith(`/api/sessions/${ids[name]}/messages?limit=60`)))
  for (const release of held) release()
  await Promise.all(late)
  await expect(chat.log.getByText('answer of gamma', { exact: true })).toBeVisible()
  await expect(page).toHaveURL(`${core.origin}/chat/${ids.gamma}`)
  await expect(chat.title).toHaveText('echo answer of gamma')
  await expect(chat.log).not.toContainText('alpha')
  await expect(chat.log).not.toContainText('beta')
})

test('the view follows the stream within 48 px of its end only, and “To latest” leads back (R-CHAT-007)', async ({ chat, page }) => {
  const lines = Array.from({ length: 60 }, (_, i) => `Paragraph ${i}.\\n\\n`).join('')
  const slow = Array.from({ length: 900 }, (_, i) => `echo Line ${i}.\\n\\n; sleep 30ms`).join(';')
  await chat.begin(`echo ${lines};${slow}`)
  const toLatest = page.getByRole('button', { name: 'To latest' })
  await expect.poll(async () => (await chat.scroll()).height, 'the answer fills the page').toBeGreaterThan(2000)
  await expect(toLatest).toBeHidden()
  expect((await chat.scroll()).toEnd).toBeLessThan(48)

  await chat.log.hover()
  await page.mouse.wheel(0, -600)
  await expect(toLatest).toBeVisible()
  const { top, height } = await chat.scroll()
  await expect.poll(async () => (await chat.scroll()).height, 'the answer grows').toBeGreaterThan(height + 200)
  expect((await chat.scroll()).top, 'what is being read stays').toBeCloseTo(top, -1)

  await chat.log.evaluate((el) => (el.scrollTop = el.scrollHeight - el.clientHeight - 40))
  await expect(toLatest).toBeHidden()
  const again = (await chat.scroll()).height
  await expect.poll(async () => (await chat.scroll()).height, 'the answer grows').toBeGreaterThan(again + 200)
  expect((await chat.scroll()).toEnd).toBeLessThan(48)

  await page.mouse.wheel(0, -600)
  await toLatest.click()
  await expect(toLatest).toBeHidden()
  expect((await chat.scroll()).toEnd).toBeLessThan(48)
  await chat.stop.click()
  await chat.ended()
})
