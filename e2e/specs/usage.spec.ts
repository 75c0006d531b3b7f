import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

test('the ring shows how full the context is, warns in time, and never what it costs (R-CHAT-115, 116, 117)', async ({ chat, page }) => {
  const ring = page.getByRole('img', { name: /^Context:/ })
  const tip = page.getByRole('tooltip')
  await expect(ring).toHaveCount(0)
  await chat.begin('echo one')
  await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
  await expect(ring, 'nothing is known yet').toHaveCount(0)

  const table = [
    [53_000, 'normal', /^Context: 26% used \(53K of 200K tokens\)\.$/],
    [149_980, 'normal', /^Context: 74% used \(150K of 200K tokens\)\.$/],
    [150_000, 'yellow', /^Context: 75% used .* Keep an eye on the use\.$/],
    [180_000, 'orange', /^Context: 90% used .* Start a new Session or have the conversation summarised\.$/],
    [190_000, 'red', /^Context: 95% used .* The next prompt may fail\. Start a new Session\.$/],
  ] as const
  for (const [used, level, text] of table) {
    await chat.say(`usage ${used} 200000`)
    await expect(ring).toHaveAccessibleName(text)
    await expect(ring).toHaveClass(new RegExp(`\\b${level}\\b`))
    await chat.ended()
  }
  await ring.hover()
  await expect(tip).toHaveText(await ring.getAttribute('aria-label') ?? '')
  await page.mouse.move(0, 0)
  await expect(tip).toHaveCount(0)
  await ring.focus()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Tab')
  await expect(ring).toBeFocused()
  await expect(tip).toHaveText(await ring.getAttribute('aria-label') ?? '')
  await expect(page.locator('body')).not.toContainText(/cost|remaining|USD|\$/i)
  await axe(page)
  await fitsNarrow(page)
})

test('the use survives a restart of Core, and a draft has none (R-CHAT-115)', async ({ chat, core, page }) => {
  const id = await chat.begin('usage 150000 200000')
  const ring = page.getByRole('img', { name: /^Context: 75% used/ })
  await expect(ring).toBeVisible()
  await chat.ended()
  await page.goto('about:blank')
  await core.stop()
  await core.start()
  await page.goto(await core.url(core.project))
  await expect(page.getByRole('heading', { level: 1, name: 'New Session' }), 'the window is registered').toBeVisible()
  await page.goto(`${core.origin}/chat/${id}`)
  await expect(ring).toBeVisible()
  await page.goto(`${core.origin}/chat`)
  await expect(chat.message).toBeVisible()
  await expect(ring).toHaveCount(0)
})
