import type { Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test, testagent } from '../fixtures.ts'

/** openAgents goes to Settings → Agents. */
async function openAgents(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Agents' }).click()
}

test('an Agent is added, checked and removed in Settings (R-AGT-020, 121)', async ({ chat, core, page }) => {
  await expect(chat.title).toBeVisible()
  await openAgents(page)
  await expect(page).toHaveURL(`${core.origin}/settings/acp-agents`)
  const item = (name: string) => page.getByRole('region', { name: 'Agents' }).getByRole('listitem').filter({ hasText: name })
  await expect(item('Scripted')).toContainText('Custom')
  await expect(item('Tour (built in, no model)')).toContainText('Built in')

  await page.getByRole('button', { name: 'Add Agent' }).click()
  await expect(page.getByText('Give the Agent a name.')).toBeVisible()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Another')
  await page.getByRole('textbox', { name: 'Command' }).fill(testagent())
  await page.getByRole('textbox', { name: /^Arguments/ }).fill('default\nanother')
  await page.getByRole('textbox', { name: /^Environment/ }).fill('TOKEN value')
  await expect(page.getByText('Line 1 is not of the form NAME=value.')).toBeVisible()
  await page.getByRole('textbox', { name: /^Environment/ }).fill('TOKEN=a-secret-value')
  await page.getByRole('button', { name: 'Add Agent' }).click()
  await expect(item('Another')).toContainText('Environment: TOKEN')
  await expect(page.locator('body')).not.toContainText('a-secret-value')

  await page.getByRole('button', { name: 'Check Another' }).click()
  await expect(item('Another').getByRole('status')).toContainText('Answered as')
  await expect(item('Another').getByRole('status')).toContainText('protocol 1')
  await axe(page)
  await fitsNarrow(page)

  await page.getByRole('button', { name: 'Remove Another' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove Another?' })
  await axe(page)
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Remove Another' })).toBeFocused()
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await expect(item('Another')).toHaveCount(0)
})

test('the Tour can be switched off (decision 20)', async ({ chat, core, page }) => {
  await expect(page.getByRole('radio', { name: /^Tour/ })).toBeAttached()
  await openAgents(page)
  await page.getByRole('checkbox', { name: /Offer the Tour/ }).uncheck()
  await expect(page.getByRole('listitem').filter({ hasText: 'Tour (built in' })).toHaveCount(0)
  await page.getByRole('link', { name: 'Chat' }).click()
  await expect(page.getByRole('radio', { name: /^Scripted/ })).toBeAttached()
  await expect(page.getByRole('radio', { name: /^Tour/ })).toHaveCount(0)
  await expect(chat.title).toHaveText('New Session')
  expect(await core.api('GET', '/api/settings')).toMatchObject({ hideTour: true })
})

test.describe('Agents that fail', () => {
  test.use({ agents: { Crashing: 'crash-init', Locked: 'auth-new' } })

  test('a check says what went wrong (R-AGT-081)', async ({ core, page }) => {
    await page.goto(await core.url(core.project))
    await openAgents(page)
    await page.getByRole('button', { name: 'Check Crashing' }).click()
    const crashing = page.getByRole('listitem').filter({ hasText: 'Crashing' })
    await expect(crashing.getByRole('alert')).toContainText(/AGENT_/)
    await page.getByRole('button', { name: 'Check Locked' }).click()
    const locked = page.getByRole('listitem').filter({ hasText: 'Locked' })
    await expect(locked.getByText(/Sign-in needed|Answered as/)).toBeVisible()
    await axe(page)
    await fitsNarrow(page)
  })
})

test.describe('the registry', () => {
  const npx = (name: string) => ({ npx: { package: name, args: ['default'] } })
  test.use({
    registry: [[
      { id: 'claude-acp', name: 'Claude', version: '1.10.0', description: 'Known to all', distribution: npx('@acme/claude-acp@1.10.0') },
      { id: 'absent', name: 'Absent', version: '2.0.0', description: 'Not here yet', distribution: npx('@an-organisation-with-a-long-name/and-a-package-with-a-longer-one@2.0.0') },
      { id: 'Malformed' },
    ], { scope: 'test' }],
  })

  test('what is installed can be used, and what is not says how to install it (R-AGT-005, 030, 051, 121)', async ({ core, page }) => {
    core.program('npm', `echo '{"dependencies":{"@acme/claude-acp":{"version":"1.9.0"}}}'`)
    core.program('npx', `[ "$1 $2" = "--no-install @acme/claude-acp" ] && shift 2 && exec ${testagent()} "$@"`)
    await page.goto(await core.url(core.project))
    // The draft's own choice has looked already, without anybody going to the settings.
    await page.getByRole('radio', { name: /^Claude/ }).check({ force: true })
    await expect(page.getByRole('status').filter({ hasText: 'Claude is ready' })).toBeVisible()
    await openAgents(page)
    const claude = page.getByRole('region', { name: 'Agents' }).getByRole('listitem').filter({ hasText: 'installed with npm' })
    await expect(claude).toContainText('Update available: 1.10.0')
    await expect(claude).toContainText('Running')
    const known = page.getByRole('region', { name: 'Not installed' })
    await expect(known.getByText('npm install -g @an-organisation')).toBeVisible()
    await axe(page)
    await fitsNarrow(page)

    core.program('npm', `echo '{}'`)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await expect(known.getByText('Claude', { exact: true })).toBeVisible()
  })
})

test.describe('preferences', () => {
  test('the pages of the settings stand in order, and an old address leads there (R-AGT-120)', async ({ chat, core, page }) => {
    await expect(chat.title).toBeVisible()
    await page.getByRole('link', { name: 'Settings' }).click()
    await expect(page).toHaveURL(`${core.origin}/settings/preferences`)
    const pages = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
    await expect(pages).toHaveText(['Preferences', 'Agents'])
    await expect(pages.first()).toHaveAttribute('aria-current', 'page')
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Settings · Preferences')
    await axe(page)
    await fitsNarrow(page)
    await pages.last().click()
    await expect(page).toHaveURL(`${core.origin}/settings/acp-agents`)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Settings · Agents')
    await expect(page.getByRole('link', { name: 'Settings' })).toHaveAttribute('aria-current', 'page')
    await page.goto(`${core.origin}/settings?tab=agents`)
    await expect(page).toHaveURL(`${core.origin}/settings/preferences`)
    await page.goto(`${core.origin}/settings/acp-agents?tab=preferences`)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Settings · Agents')
  })

  test('theme and language are stored, hold in every tab at once, and are there before the first paint (R-AGT-122)', async ({ chat, context, core, page }) => {
    await expect(chat.title).toBeVisible()
    const root = page.locator('html')
    const other = await context.newPage()
    await other.goto(await core.url(core.makeDir('another')))
    await expect(other.getByRole('main')).toBeVisible()
    await page.getByRole('link', { name: 'Settings' }).click()
    const theme = page.getByRole('group', { name: 'Theme' })
    await expect(theme.getByRole('radio', { name: 'System' })).toBeChecked()
    await theme.getByRole('radio', { name: 'System' }).focus()
    await page.keyboard.press('ArrowDown')
    await expect(root).toHaveAttribute('data-theme', 'light')
    await page.keyboard.press('ArrowDown')
    await expect(theme.getByRole('radio', { name: 'Dark' })).toBeChecked()
    await expect(root).toHaveAttribute('data-theme', 'dark')
    await expect(other.locator('html')).toHaveAttribute('data-theme', 'dark')
    expect(await core.api('GET', '/api/settings')).toMatchObject({ theme: 'dark', language: '' })

    await page.getByRole('group', { name: 'Language' }).getByRole('radio', { name: '简体中文' }).check()
    await expect(root).toHaveAttribute('lang', 'zh-CN')
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('设置 · 偏好设置')
    await expect(other.locator('html')).toHaveAttribute('lang', 'zh-CN')
    await axe(page)
    await fitsNarrow(page)
    const sent = await (await page.request.get(`${core.origin}/settings/preferences`)).text()
    expect(sent).toMatch(/^<!doctype html>\s*<html data-theme="dark" data-language="zh-CN"/)
    await page.reload({ waitUntil: 'commit' })
    await expect(root).toHaveAttribute('data-theme', 'dark')
    await expect(page.getByRole('radio', { name: '深色' })).toBeChecked()
    await page.getByRole('radio', { name: '跟随浏览器' }).check()
    await expect(root).toHaveAttribute('lang', 'en')
    await page.getByRole('radio', { name: 'System' }).check()
    await expect(root).not.toHaveAttribute('data-theme')
    await expect(other.locator('html')).not.toHaveAttribute('data-theme')
  })

  test('the policy is that of new Sessions only, and a refused change shows the old one (R-AGT-122, decision 1)', async ({ chat, core, page, watch }) => {
    const asked = await chat.begin('permission')
    await expect(chat.log.getByRole('button', { name: 'Allow once' })).toBeVisible()
    await page.getByRole('link', { name: 'Settings' }).click()
    const field = page.getByRole('group', { name: 'Permissions in new Sessions' })
    await expect(field.getByRole('radio', { name: /^Ask/ })).toBeChecked()

    watch.allow(/ERR_FAILED/)
    await page.route('**/api/settings', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.fallback()))
    await field.getByRole('radio', { name: /^Allow once/ }).click()
    await expect(chat.toasts).toContainText(['The setting was not changed'])
    await expect(field.getByRole('radio', { name: /^Ask/ })).toBeChecked()
    await page.unroute('**/api/settings')

    await field.getByRole('radio', { name: /^Allow once/ }).check()
    await expect.poll(() => core.api('GET', '/api/settings')).toMatchObject({ defaultPermissionPolicy: 'allow_once' })
    expect(await core.api('GET', `/api/sessions/${asked}`)).toMatchObject({ permissionPolicy: 'ask', attention: 1 })
    await page.getByRole('link', { name: 'Chat' }).click()
    await expect(chat.message).toBeVisible()
    const allowed = await chat.begin('permission')
    await expect(chat.log).toContainText('permission: selected')
    expect(await core.api('GET', `/api/sessions/${allowed}`)).toMatchObject({ permissionPolicy: 'allow_once', attention: 0 })
  })
})
