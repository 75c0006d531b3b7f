import { axe, Chat, expect, fitsNarrow, test, testagent } from '../fixtures.ts'

test.describe('with several Agents', () => {
  test.use({ agents: { First: 'default', Second: 'no-multiroot' } })

  test('the draft shows Agents with the Tour last, mode and probe, and no Session (R-CHAT-001, R-AGT-110)', async ({ chat, core, page }) => {
    await core.begin('First', 'echo an earlier talk', await core.workspace())
    await expect(chat.row('an earlier talk')).toBeVisible()
    await page.reload()
    await expect(page.getByText('First is ready')).toBeVisible()
    await expect(page).toHaveURL(`${core.origin}/chat`)
    await expect(chat.sidebar.locator('[aria-current]')).toHaveCount(0)
    await expect(chat.log).toHaveCount(0)
    await expect(chat.title).toHaveText('New Session')

    const tiles = page.getByRole('group', { name: 'Agent' }).getByRole('radio')
    await expect(tiles).toHaveCount(3)
    await expect(tiles.nth(0)).toHaveAccessibleName(/^First/)
    await expect(tiles.nth(0)).toBeChecked()
    await expect(tiles.nth(1)).toHaveAccessibleName(/^Second/)
    await expect(tiles.nth(2)).toHaveAccessibleName(/^Tour \(built in, no model\)/)

    await page.getByText('Tour (built in, no model)').click()
    await expect(page.getByText('Tour is ready')).toBeVisible()
    await axe(page)
    await fitsNarrow(page)
  })

  test('an Agent that takes one directory only cannot start in a collection (R-CHAT-032)', async ({ core, page }) => {
    await core.cli('agents', 'check', core.agentIds.get('Second')!)
    await core.cli('agents', 'check', core.agentIds.get('First')!)
    const url = await core.cli('--no-open', core.makeDir('a'), core.makeDir('b'))
    await page.goto(url)
    await expect(page.getByText('First is ready')).toBeVisible()
    const second = page.getByRole('radio', { name: /^Second/ })
    await expect(second).toBeDisabled()
    await expect(second).toHaveAccessibleName(/Does not support Workspaces of several directories/)
    await axe(page)
  })

  test('the Agent that was used last is chosen (R-AGT-110)', async ({ chat, core, page }) => {
    await page.getByRole('radio', { name: /^Second/ }).check({ force: true })
    await expect(page.getByText('Second is ready')).toBeVisible()
    await chat.begin('echo with the second')
    await page.goto(`${core.origin}/chat`)
    await expect(page.getByRole('radio', { name: /^Second/ })).toBeChecked()
    await expect(page.getByText('Second is ready')).toBeVisible()
  })
})

test.describe('without an Agent', () => {
  test.use({ agents: {} })

  test('only the Tour is there: known Agents on PATH are offered and added with a click (R-AGT-051)', async ({ core, page }) => {
    core.program('opencode', `FYLLO_TESTAGENT=default exec '${testagent()}'`)
    await page.goto(await core.url(core.project))
    await expect(page.getByRole('heading', { name: 'No Agent yet' })).toBeVisible()
    await expect(page.getByText('Tour is ready')).toBeVisible()
    await axe(page)
    await fitsNarrow(page)
    await page.getByRole('button', { name: 'Add OpenCode' }).click()
    await expect(page.getByText('OpenCode is ready')).toBeVisible()
    await expect(page.getByRole('heading', { name: 'No Agent yet' })).toBeHidden()
    await expect(page.getByRole('radio', { name: /^OpenCode/ })).toBeChecked()
    const chat = new Chat(page)
    await chat.begin('echo from a found Agent')
    await expect(chat.log.getByText('from a found Agent', { exact: true })).toBeVisible()
  })
})

test.describe('modes', () => {
  test('FylloCode and Native have tooltips on hover and focus, and stay fixed (R-CHAT-026, 027, 028)', async ({ chat, core, page }) => {
    const modes = page.getByRole('group', { name: 'Session mode' }).getByRole('radio')
    await expect(modes).toHaveCount(2)
    await expect(page.getByRole('radio', { name: 'FylloCode', exact: true })).toBeChecked()
    const native = page.getByRole('radio', { name: 'Native' })
    const tip = page.getByRole('tooltip')

    await native.hover()
    await expect(tip).toHaveText('Keeps the Agent’s default way of working.')
    await page.mouse.move(0, 0)
    await expect(tip).toHaveCount(0)

    await chat.message.focus()
    await page.keyboard.press('Shift+Tab')
    await expect(page.getByRole('radio', { name: 'FylloCode', exact: true })).toBeFocused()
    await expect(tip).toHaveText(/Works with the project’s specs/)
    await page.keyboard.press('ArrowRight')
    await expect(native).toBeChecked()
    await expect(native).toBeFocused()

    await expect(page.getByText('Scripted is ready')).toBeVisible()
    await chat.begin('mcp')
    await expect(page.getByRole('main').getByText('Native', { exact: true })).toBeVisible()
    await expect(chat.log.getByText('[]', { exact: true })).toBeVisible()
    await expect(page.getByRole('radio')).toHaveCount(0)
    const prompts = core.received('session/prompt')
    expect(prompts).toHaveLength(1)
    expect(prompts[0]!.prompt, 'a native prompt holds what the user wrote and nothing else').toHaveLength(1)
  })

  test('a Session in FylloCode mode gets the reminder, and does not show it (R-CHAT-157)', async ({ chat, core, page }) => {
    await chat.begin('echo one')
    await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
    await expect(page.getByRole('main').getByText('FylloCode', { exact: true })).toBeVisible()
    expect((core.received('session/prompt')[0]!.prompt as unknown[]).length).toBeGreaterThan(1)
    await expect(page.getByRole('article', { name: 'You' }).getByRole('paragraph')).toHaveText('echo one')
    await expect(chat.log).not.toContainText('system-reminder')
  })
})

for (const [script, words] of [
  ['crash-init', /Broken could not be reached: /],
  ['auth-new', /Sign-in needed for Broken: /],
] as const) {
  test.describe(`an Agent that fails (${script})`, () => {
    test.use({ agents: { Broken: script, Whole: 'default' } })

    test('the draft says why, blocks sending, keeps the text and lets one try again or choose another (R-AGT-081)', async ({ core, page }) => {
      await page.goto(await core.url(core.project))
      const state = page.getByRole('status').filter({ hasText: words })
      await expect(state).toBeVisible()
      await expect(state.getByRole('button', { name: 'Retry' })).toBeVisible()
      const chat = new Chat(page)
      await chat.say('echo a text')
      await expect(chat.message).toHaveValue('echo a text')
      await expect(page).toHaveURL(`${core.origin}/chat`)
      await expect(chat.send).toBeDisabled()
      await axe(page)
      await fitsNarrow(page)
      await page.getByText('Whole', { exact: true }).click()
      await expect(page.getByText('Whole is ready')).toBeVisible()
      await chat.message.press('Enter')
      await expect(chat.log.getByText('a text', { exact: true })).toBeVisible()
    })
  })
}
