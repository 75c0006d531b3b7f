import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { axe, expect, test } from '../fixtures.ts'

const hostile = '</title></style><script>document.title = "ran"</script><img src=https://example.invalid/x onerror=alert(1)>'

test('an exported page shows everything, runs nothing and fetches nothing (R-CLI-008)', async ({ core, browser }) => {
  await core.url(core.project)
  const id = await core.begin('Scripted', `tool Read it; markdown; picture; echo ${hostile} [link](javascript:alert(2))`, await core.workspace())
  await expect.poll(async () => (await core.turn(id)).state).toBe('idle')
  const path = join(core.dir, 'out.html')
  await core.cli('sessions', 'export', id, '--format', 'html', '--output', path)
  const context = await browser.newContext()
  const page = await context.newPage()
  const problems: string[] = []
  page.on('request', (r) => void (r.url() === pathToFileURL(path).href || problems.push(`request ${r.url()}`)))
  page.on('dialog', (d) => (problems.push(`dialog ${d.message()}`), void d.dismiss()))
  page.on('console', (m) => void (m.type() === 'error' && problems.push(m.text())))
  await page.goto(pathToFileURL(path).href)
  await expect(page.getByText('onerror=alert(1)').last()).toBeVisible()
  await expect(page).not.toHaveTitle('ran')
  expect(await page.locator('script, a:not([href^="https://"]), iframe, object, link').count()).toBe(0)
  await page.locator('details:has(img) > summary').click()
  const width = page.locator('img[src^="data:"]').first()
  await expect.poll(() => width.evaluate((el) => (el as HTMLImageElement).naturalWidth)).toBe(320)
  await page.getByText('Read it', { exact: true }).click()
  await expect(page.locator('details[open] pre').first()).toBeVisible()
  await axe(page)
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(problems).toEqual([])
  await context.close()
})

test.describe('a long Session', () => {
  test.use({ histories: [[{ messages: 10_000, output: 20_000, diff: 2000 }], { scope: 'test' }] })

  test('a Session of 10,000 messages is exported whole and in order (R-CLI-008)', async ({ core }) => {
    test.setTimeout(180_000)
    const path = join(core.dir, 'long.json')
    await core.cli('sessions', 'export', 'session-history', '--format', 'json', '--output', path)
    const { messages } = JSON.parse(readFileSync(path, 'utf8')) as { messages: { id: string; parts: { output?: string }[] }[] }
    expect(messages.map((m) => m.id)).toEqual(Array.from({ length: 10_000 }, (_, i) => `msg-${String(i).padStart(6, '0')}`))
    const longest = Math.max(...messages.at(-1)!.parts.map((p) => (p.output ?? '').split('\n').length))
    expect(longest, 'lines of the output, which is kept beside the message').toBeGreaterThan(20_000)
  })
})
