import type { Locator, Page } from '@playwright/test'

import type { Core } from '../core.ts'
import { axe, type Chat, expect, fitsNarrow, test } from '../fixtures.ts'

const button = (page: Page): Locator => page.getByRole('button', { name: /^Session configuration/ })
const toast = (chat: Chat, text: string): Locator => chat.toasts.filter({ hasText: text })

/** pick chooses a value in the submenu of an option, with the pointer. */
async function pick(page: Page, option: string, value: string): Promise<void> {
  await button(page).click()
  await page.getByRole('menuitem', { name: new RegExp(`^${option} `) }).click()
  await page.getByRole('menuitemradio', { name: value }).click()
  await expect(page.getByRole('menu')).toHaveCount(0)
}

/** restart ends Core in order, starts it again, and opens the Session in the page. */
async function restart(core: Core, page: Page, id: string): Promise<void> {
  await page.goto('about:blank')
  await core.stop()
  await core.start()
  await page.goto(await core.url(core.project))
  await expect(page.getByRole('heading', { level: 1, name: 'New Session' }), 'the window is registered').toBeVisible()
  await page.goto(`${core.origin}/chat/${id}`)
}

/** What the scripted Agent was asked to set, in order. */
const sets = (core: Core): string[] =>
  core.received('session/set_config_option').map((p) => `${String(p.configId)}=${String(p.value)}`)

test('the draft shows what its probe offers and changes go to the probe (R-CHAT-033, 035, 036, 038, R-AGT-092, 096)', async ({ chat, core, page }) => {
  await expect(button(page)).toHaveText('Model One · Low')
  await button(page).click()
  const menu = page.getByRole('menu', { name: 'Session configuration' })
  await expect(menu.getByRole('menuitem').or(menu.getByRole('menuitemcheckbox'))).toHaveText([/^ModeAsk/, /^ModelModel One/, /^EffortLow/, /^Fast mode/])
  await menu.getByRole('menuitem', { name: /^Model/ }).click()
  const models = page.getByRole('menu', { name: 'Model Model One', exact: true })
  await expect(models.getByRole('menuitemradio')).toHaveText(['Model One', 'Model Two', 'Model Three'])
  await expect(models.getByRole('menuitemradio', { name: 'Model One' })).toBeChecked()
  await expect(models).toContainText('Large')
  await axe(page)
  await models.getByRole('menuitemradio', { name: 'Model Three' }).click()
  await expect(button(page)).toHaveText('Model Three · Low')

  await button(page).click()
  const fast = page.getByRole('menuitemcheckbox', { name: 'Fast mode' })
  await expect(fast).not.toBeChecked()
  await fast.click()
  await button(page).click()
  await expect(fast).toBeChecked()
  await page.keyboard.press('Escape')
  await expect(button(page)).toBeFocused()

  const id = await chat.begin('echo one')
  await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
  await expect(button(page)).toHaveText('Model Three · Low')
  expect(core.received('session/new'), 'the probe became the Session (R-CHAT-031)').toHaveLength(1)
  expect(sets(core)).toEqual(['model=m3', 'fast=true'])
  const [first] = await core.messages(id)
  expect(first).toMatchObject({ model: 'm3', effort: 'low' })
})

test('a change in a Session shows when the Agent confirmed it, by keyboard too (R-CHAT-036, 040)', async ({ chat, core, page }) => {
  await chat.begin('slow 400 20ms')
  await expect(chat.log).toContainText('0 1 2')
  await button(page).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: /^Mode / })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('menuitem', { name: /^Effort/ })).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('menuitemradio', { name: 'Low' })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(button(page)).toHaveText('Model One · High')
  await expect(chat.stop, 'the turn goes on').toBeVisible()
  await chat.stop.click()
  await chat.ended()

  // The Agent changes something by itself.
  await chat.say('config model m2')
  await expect(button(page)).toHaveText('Model Two · High')
  expect(sets(core)).toEqual(['effort=high'])
})

test.describe('options that depend on each other', () => {
  test.use({ agents: { Scripted: 'dependent' } })

  test('the whole snapshot replaces what was shown: values, choices, options that vanish (R-CHAT-036, R-AGT-093)', async ({ chat, page }) => {
    await pick(page, 'Model', 'Model Two')
    await expect(button(page)).toHaveText('Model Two · Medium')
    await button(page).click()
    await page.getByRole('menuitem', { name: /^Effort/ }).click()
    await expect(page.getByRole('menuitemradio')).toHaveText(['Medium', 'Maximum'])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await chat.begin('config model m3')
    await expect(button(page)).toHaveText('Model Three')
    await button(page).click()
    await expect(page.getByRole('menuitem', { name: /^Effort/ })).toHaveCount(0)
  })
})

test.describe('an Agent that takes its time', () => {
  test.use({ agents: { Scripted: '{"setDelay":"600ms"}' } })

  test('a pending change disables its option alone; quick changes apply in order, and the message waits for them (R-CHAT-037)', async ({ chat, core, page }) => {
    await pick(page, 'Model', 'Model Two')
    await button(page).click()
    await expect(page.getByRole('menuitem', { name: /^Model/ })).toBeDisabled()
    await expect(page.getByRole('menuitem', { name: /^Model/ }), 'nothing is shown that is not confirmed').toContainText('Model One')
    await page.getByRole('menuitem', { name: /^Effort/ }).click()
    await page.getByRole('menuitemradio', { name: 'High' }).click()
    const id = await chat.begin('echo one')
    await expect(button(page)).toHaveText('Model Two · High')
    expect(sets(core)).toEqual(['model=m2', 'effort=high'])
    expect((await core.messages(id))[0]).toMatchObject({ model: 'm2', effort: 'high' })
  })
})

test.describe('a refused change', () => {
  test.use({ agents: { Scripted: 'no-resume+no-load' } })

  test('a cold Session is activated by resume or load only; what was shown stays, and a toast says why (R-CHAT-037, 039)', async ({ chat, core, page, watch }) => {
    watch.allow(/the server responded with a status of/)
    const id = await chat.begin('echo one')
    await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
    await chat.ended()
    await restart(core, page, id)
    await expect(button(page), 'what the Agent confirmed last').toHaveText('Model One · Low')
    const before = core.received('session/new').length
    await pick(page, 'Model', 'Model Two')
    await expect(toast(chat, 'The configuration was not changed')).toContainText('Send a message first')
    await expect(button(page)).toHaveText('Model One · Low')
    await button(page).click()
    await expect(page.getByRole('menuitem', { name: /^Model/ })).toBeEnabled()
    expect(core.received('session/new')).toHaveLength(before)
  })
})

test('a cold Session that the Agent knows gets its values back, and then the change (R-CHAT-039, 148, R-AGT-095)', async ({ chat, core, page }) => {
  await pick(page, 'Model', 'Model Two')
  const id = await chat.begin('echo one')
  await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
  await chat.ended()
  await restart(core, page, id)
  await expect(button(page)).toHaveText('Model Two · Low')
  const before = sets(core).length
  await pick(page, 'Effort', 'High')
  await expect(button(page)).toHaveText('Model Two · High')
  expect(sets(core).slice(before)).toEqual(['model=m2', 'effort=high'])
  expect(core.received('session/resume')).toHaveLength(1)
})

test.describe('older Agents', () => {
  test.use({ agents: { Scripted: 'legacy' } })

  test('modes and models are options, set the older way (R-AGT-097)', async ({ chat, core, page }) => {
    await expect(button(page)).toHaveText('Model One')
    await pick(page, 'Model', 'Model Two')
    await expect(button(page)).toHaveText('Model Two')
    await pick(page, 'Mode', 'Code')
    await expect.poll(() => core.received('session/set_mode')).toHaveLength(1)
    await chat.begin('echo one')
    await button(page).click()
    await expect(page.getByRole('menuitem', { name: /^Mode Code/ })).toBeVisible()
    expect(core.received('session/set_model')).toMatchObject([{ modelId: 'm2' }])
    expect(sets(core)).toEqual([])
  })
})

test.describe('an Agent without options', () => {
  test.use({ agents: { Scripted: 'empty-config' } })

  test('has no button (R-CHAT-034)', async ({ chat, page }) => {
    await expect(button(page)).toHaveCount(0)
    await chat.begin('echo one')
    await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
    await expect(button(page)).toHaveCount(0)
  })
})

test('the menu fits a telephone', async ({ page, chat }) => {
  await expect(chat.message).toBeVisible()
  await fitsNarrow(page)
  await page.setViewportSize({ width: 390, height: 844 })
  await pick(page, 'Model', 'Model Two')
  await expect(button(page)).toHaveText('Model Two · Low')
})
