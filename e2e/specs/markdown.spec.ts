import { expect, test } from '../fixtures.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const json64 = (value: object): string => base64(JSON.stringify(value))

const lineNumbers = (text: string): number[] => [...text.matchAll(/line (\d+) of/g)].map((m) => Number(m[1]))

test('an output of 50,000 lines opens at once, in few elements, with every line in reach (R-CHAT-082)', async ({ chat, page }) => {
  await chat.begin('lines 50000')
  await chat.ended()
  await chat.log.getByRole('button', { name: 'Print lines' }).click()
  await page.evaluate(() => {
    const tasks: number[] = []
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' })
    Object.assign(window, { tasks })
  })
  await chat.log.getByRole('button', { name: /^Show all/ }).click()
  const box = chat.log.getByRole('group', { name: '50,001 lines' })
  await expect(box).toBeVisible()
  expect(await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks.filter((ms) => ms > 100))).toEqual([])
  await expect(box).toContainText('line 1 of')
  await box.press('End')
  await expect(box).toContainText('line 50000 of')
  for (const at of [0.25, 0.5, 0.77]) {
    await box.evaluate((el, at) => (el.scrollTop = el.scrollHeight * at), at)
    await expect.poll(async () => lineNumbers(await box.innerText()).includes(Math.round(50_001 * at))).toBe(true)
    const drawn = lineNumbers(await box.innerText())
    expect(drawn).toEqual(drawn.map((_, i) => drawn[0]! + i))
    expect(drawn.length).toBeLessThan(120)
  }
  expect((await box.boundingBox())!.height).toBeLessThanOrEqual(425)
})

test('an output shows its colours, not its escapes, and copies as plain text (R-CHAT-082)', async ({ chat, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const E = '\u001b'
  const output = `${E}[31mred${E}[0m plain\n10%\r50%\r100%\n${E}]8;;https://evil.example${E}\\link${E}]8;;${E}\\ ${E}]0;title\u0007end\n`
  await chat.begin(`tool64 ${json64({ title: 'Colours', kind: 'execute', output })}`)
  await chat.ended()
  await chat.log.getByRole('button', { name: 'Colours' }).click()
  const text = chat.log.locator('.body-text')
  await expect(text).toHaveText('red plain\n100%\nlink end\n')
  const colored = await page.evaluate(() => [...CSS.highlights.values()].flatMap((h) => [...h]).map((r) => r.startContainer.textContent!.slice(r.startOffset, r.endOffset)))
  expect(colored).toEqual(['red'])
  await text.hover()
  await chat.log.locator('.body-block').getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('red plain\n100%\nlink end\n')
  await expect(page).not.toHaveTitle(/title/)
})

test('a growing output is followed, and left alone by who scrolls away (R-CHAT-084)', async ({ chat }) => {
  const step = (n: number, status: string) =>
    json64({ sessionUpdate: n === 0 ? 'tool_call' : 'tool_call_update', toolCallId: 'grow', title: 'Growing', kind: 'execute', status, rawInput: { command: 'grow' },
      content: [{ type: 'content', content: { type: 'text', text: Array.from({ length: 40 * (n + 1) }, (_, i) => `line ${i} of\n`).join('') } }] })
  const steps = [0, 1, 2].map((n) => `update64 ${step(n, 'in_progress')}; sleep 1500ms`)
  await chat.begin(`${steps.join('; ')}; sleep 2s; update64 ${step(4, 'in_progress')}; sleep 4s; update64 ${step(20, 'completed')}`)
  await chat.log.getByRole('button', { name: 'Growing' }).click()
  const text = chat.log.locator('.body-text').last()
  const toEnd = () => text.evaluate((el) => el.scrollHeight - el.clientHeight - el.scrollTop)
  await expect(text).toContainText('line 119 of')
  await expect.poll(toEnd).toBeLessThan(48)
  await text.evaluate((el) => (el.scrollTop = 100))
  await expect(text).toContainText('line 199 of')
  expect(await text.evaluate((el) => el.scrollTop)).toBe(100)
  await chat.ended()
  await expect(chat.log.getByRole('group', { name: '841 lines' })).toBeVisible()
})
