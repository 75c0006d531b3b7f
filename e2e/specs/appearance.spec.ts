import { expect, test } from '../fixtures.ts'

const background = () => getComputedStyle(document.body).backgroundColor
const brightness = (rgb: string) => (rgb.match(/\d+(\.\d+)?/g) ?? []).slice(0, 3).reduce((sum, n) => sum + Number(n), 0) / 3

test('the theme follows the system and Settings override it at once and at the next start (decision 7)', async ({ chat, core, page }) => {
  await expect(chat.title).toBeVisible()
  await page.emulateMedia({ colorScheme: 'light' })
  expect(brightness(await page.evaluate(background))).toBeGreaterThan(200)
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(brightness(await page.evaluate(background))).toBeLessThan(60)
  await page.emulateMedia({ colorScheme: 'light' })
  await core.api('PATCH', '/api/settings', { theme: 'dark' })
  await expect.poll(async () => brightness(await page.evaluate(background))).toBeLessThan(60)
  await page.reload({ waitUntil: 'commit' })
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
  await expect(chat.title).toBeVisible()
  await core.api('PATCH', '/api/settings', { theme: 'system' })
  await expect.poll(async () => brightness(await page.evaluate(background))).toBeGreaterThan(200)
})

test.describe('a Chinese browser', () => {
  test.use({ locale: 'zh-CN' })

  test('the page is Chinese, and Settings override it (decision 7)', async ({ core, page }) => {
    await page.goto(await core.url(core.project))
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
    await expect(page.getByRole('button', { name: '发送' })).toBeVisible()
    await expect(page.getByRole('radio', { name: '原生' })).toBeVisible()
    await expect(page.getByRole('main')).not.toContainText(/Agent is ready|New Session|Session mode/)
    await core.api('PATCH', '/api/settings', { language: 'en' })
    await expect(page.locator('html')).toHaveAttribute('lang', 'en')
    await expect(page.getByRole('radio', { name: 'Native' })).toBeVisible()
  })
})

test('with reduced motion nothing is animated (R-CHAT-165)', async ({ chat, page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await chat.begin('echo Moving.; hang')
  await expect(chat.log.getByText('Moving.', { exact: true })).toBeVisible()
  const running = () => document.getAnimations().filter((a) => a.playState === 'running' && Number(a.effect?.getComputedTiming().duration) > 10).length
  await expect.poll(() => page.evaluate(running)).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await expect.poll(() => page.evaluate(running), 'the check sees animations').toBeGreaterThan(0)
})
