// The rows that stand around what an Agent did: what a person wrote, and the foot of an answer.

import type { Locator, Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
const foot = (log: Locator) => log.getByRole('group', { name: 'About this answer' })

const said = 'A **bold** word, `code`, [a link](https://example.com/).\n\n- one\n- two\n\n```js\nlet a = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n'

test.beforeEach(({ context }) => context.grantPermissions(['clipboard-read', 'clipboard-write']))

test('copying an answer gives its source, without thoughts, calls and what subagents said (R-CHAT-134)', async ({ chat, page }) => {
  await chat.begin(`think Hidden thought.; say64 ${base64(said)} 7; tool Look; subagent; echo The end.`)
  await expect(chat.log).toContainText('The end.')
  await chat.ended()
  await foot(chat.log).hover()
  await foot(chat.log).getByRole('button', { name: 'Copy message' }).click()
  await expect(page.getByText('Copied', { exact: true })).toBeVisible()
  const text = await clipboard(page)
  expect(text).toContain(said.trimEnd())
  expect(text).toContain('The end.')
  for (const not of ['Hidden thought.', 'Look', 'Child']) expect(text).not.toContain(not)
  await page.reload()
  await foot(chat.log).hover()
  await page.evaluate(() => navigator.clipboard.writeText(''))
  await foot(chat.log).getByRole('button', { name: 'Copy message' }).click()
  await expect.poll(() => clipboard(page), 'the same after a reload').toBe(text)
})

test('an answer without words has nothing to copy, and a long message is copied whole (R-CHAT-134)', async ({ chat, page }) => {
  const lines = Array.from({ length: 200 }, (_, i) => `line ${i} of what I mean`).join('\n')
  await chat.begin(`tool Look\n${lines}`)
  await chat.ended()
  await expect(foot(chat.log).locator('time')).toHaveCount(1)
  await expect(foot(chat.log).getByRole('button', { name: 'Copy message' })).toHaveCount(0)
  const mine = chat.log.getByRole('article', { name: 'You' })
  await expect(mine).not.toContainText('line 150')
  await mine.getByRole('button', { name: 'Copy message' }).click()
  await expect.poll(() => clipboard(page)).toBe(`tool Look\n${lines}`)
  const more = mine.getByRole('button', { name: 'Show all' })
  await more.press('Enter')
  await expect(mine).toContainText('line 199')
  await mine.getByRole('button', { name: 'Show less' }).press('Enter')
  await expect(mine).not.toContainText('line 199')
})

test('times are those of the clock today and have a date before; their title is the full date', async ({ chat, core, page }) => {
  const id = await chat.begin('echo Then.; sleep 1100ms')
  const read = () => core.api<{ messages: { createdAt: string; end?: { at: string } }[] }>('GET', `/api/sessions/${id}/messages`)
  await expect.poll(async () => (await read()).messages[1]?.end?.at).toBeTruthy()
  const { messages } = await read()
  const asked = new Date(messages[0]!.createdAt)
  const answered = new Date(messages[1]!.end!.at)
  const times = [chat.log.getByRole('article', { name: 'You' }).locator('time'), foot(chat.log).locator('time')]
  const write = (at: Date, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', options).format(at)
  for (const [i, at] of [asked, answered].entries()) {
    await expect(times[i]!).toHaveText(write(at, { timeStyle: 'short' }))
    await expect(times[i]!).toHaveAttribute('title', write(at, { dateStyle: 'medium', timeStyle: 'short' }))
    expect(Date.parse((await times[i]!.getAttribute('datetime'))!)).toBe(at.getTime())
  }
  await expect(foot(chat.log)).toContainText(/took [1-9]\d* s/)
  await page.clock.setFixedTime(answered.getTime() + 36 * 3600_000)
  await page.reload()
  for (const [i, at] of [asked, answered].entries()) {
    await expect(times[i]!).toHaveText(`${write(at, { month: 'short', day: 'numeric' })} ${write(at, { timeStyle: 'short' })}`)
  }
})

test('the foot counts the files and opens what changed, by keyboard, on a narrow page too (R-CHAT-165)', async ({ chat, page }) => {
  await chat.begin('change a.txt - one\\n; change b.txt - two\\n; echo Both done.')
  await chat.ended()
  const files = foot(chat.log).getByRole('button', { name: '2 files changed' })
  await files.focus()
  await expect(files).toBeFocused()
  // What shows under the pointer only shows for the keyboard too.
  const copy = foot(chat.log).getByRole('button', { name: 'Copy message' })
  await expect(copy).toHaveCSS('opacity', '1')
  await page.keyboard.press('Tab')
  await expect(copy).toBeFocused()
  await page.keyboard.press('Enter')
  await expect.poll(() => clipboard(page)).toBe('Both done.')
  await axe(page)
  await fitsNarrow(page)
  await page.setViewportSize({ width: 390, height: 844 })
  await files.press('Enter')
  const panel = page.getByRole('dialog')
  await expect(panel).toContainText('a.txt')
  await page.keyboard.press('Escape')
  await expect(panel).toHaveCount(0)
  await expect(files).toBeFocused()
})

test('only the last message that failed is sent again (R-CHAT-056)', async ({ chat, core }) => {
  await chat.begin('error -32603 First failure')
  await expect(chat.log).toContainText('AGENT_ERROR')
  await chat.ended()
  await chat.say('error -32603 Second failure')
  await expect(chat.log.getByText(/Second failure/)).toHaveCount(2)
  await chat.ended()
  const again = chat.log.getByRole('button', { name: 'Send again' })
  await expect(again).toHaveCount(1)
  await again.press('Enter')
  await expect.poll(() => core.received('session/prompt').length).toBe(3)
  await expect(chat.log.getByRole('article', { name: 'You' })).toHaveCount(2)
  expect(JSON.stringify(core.received('session/prompt').at(-1))).toContain('Second failure')
})

test('lines of code and outputs are wrapped or not, as a person chose, and copied as they are', async ({ chat, page }) => {
  const code = `let a = '${'word '.repeat(80)}'\nlet b = 2\n`
  const output = `${'wide '.repeat(100)}\nshort`
  await chat.begin(`say64 ${base64(`\`\`\`js\n${code}\`\`\`\n`)}; tool64 ${base64(JSON.stringify({ title: 'Wide', kind: 'execute', output }))}; echo end`)
  await chat.ended()
  await chat.log.getByRole('button', { name: 'Wide' }).click()
  const block = chat.log.getByRole('group', { name: 'js' })
  const pre = block.locator('pre')
  const text = chat.log.locator('.body-text')
  const sideways = (el: Locator) => el.evaluate((el) => el.scrollWidth > el.clientWidth)
  const inCode = block.getByRole('button', { name: 'Wrap lines' })
  const inOutput = chat.log.locator('.body-block').getByRole('button', { name: 'Wrap lines' })
  await expect(inCode).toHaveAttribute('aria-pressed', 'false')
  await expect(inOutput).toHaveAttribute('aria-pressed', 'true')
  expect([await sideways(pre), await sideways(text)]).toEqual([true, false])

  await inCode.press('Enter')
  await inOutput.press('Space')
  for (const _ of ['now', 'after a reload']) {
    await expect(inCode).toHaveAttribute('aria-pressed', 'true')
    await expect(inOutput).toHaveAttribute('aria-pressed', 'false')
    await expect.poll(async () => [await sideways(pre), await sideways(text)]).toEqual([false, true])
    await block.getByRole('button', { name: 'Copy' }).click()
    await expect.poll(() => clipboard(page)).toBe(code)
    await chat.log.locator('.body-block').getByRole('button', { name: 'Copy', exact: true }).click()
    await expect.poll(() => clipboard(page)).toBe(output)
    await page.reload()
    await chat.log.getByRole('button', { name: 'Wide' }).click()
  }
  await page.keyboard.press('Control+f')
  await expect(page.getByRole('textbox', { name: 'Find' })).toBeFocused()
  await page.keyboard.type('word')
  await expect(page.getByText('of 80')).toBeVisible()
  await page.keyboard.press('Escape')
  await axe(page)
  await fitsNarrow(page)
})

test('a call with thousands of files and places shows a few first, and one with an endless title its text when opened (R-CHAT-082, 085, 087)', async ({ chat, page }) => {
  const call = (o: object) => `tool64 ${base64(JSON.stringify(o))}`
  const many = <T>(n: number, f: (i: number) => T) => Array.from({ length: n }, (_, i) => f(i))
  const path = `/begin/${'x'.repeat(30_000)}/end.ts`
  await chat.begin([
    call({ title: 'Reads', kind: 'read', locations: [...many(10_000, (i) => ({ path: `/a/file${i}.ts` })), { path }] }),
    'echo \\n\\nBetween.\\n\\n',
    call({ title: 'Edits', kind: 'edit', content: [{ type: 'diff', path, oldText: 'a', newText: 'b' }, ...many(3000, (i) => ({ type: 'diff', path: `/a/${i}.ts`, oldText: 'a', newText: 'b' }))] }),
    'echo \\n\\nAgain.\\n\\n',
    call({ title: `${'t'.repeat(300_000)} last words`, output: 'done' }),
  ].join('; '))
  await chat.ended()
  await chat.log.getByRole('button', { name: /^Read: Reads/ }).click()
  await expect(chat.log.getByRole('button', { name: /^\/a\/file\d+\.ts$/ })).toHaveCount(50)
  const more = chat.log.getByRole('button', { name: '9,951 more…' })
  await more.press('Enter')
  await expect(chat.log.getByRole('button', { name: /^\/a\/file\d+\.ts$/ })).toHaveCount(100)
  await chat.log.getByRole('button', { name: /^Read: Reads/ }).click()

  await chat.log.getByRole('button', { name: /^Edit: Edits/ }).click()
  await expect(chat.log.getByRole('button', { name: '2,951 more…' })).toBeVisible()
  const long = chat.log.getByRole('button', { name: /^\/begin\/x+…x+\/end\.ts$/ })
  await expect(long).toBeVisible()
  expect((await long.innerText()).length).toBeLessThan(1100)
  await fitsNarrow(page)
  await chat.log.getByRole('button', { name: /^Edit: Edits/ }).click()

  const titled = chat.log.getByRole('button', { name: /^Tool: t+…/ })
  await titled.click()
  const whole = chat.log.getByRole('group', { name: '1 line' })
  await expect(whole).toContainText('tttt')
  await fitsNarrow(page)
})

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('the rows speak Chinese on a narrow page', async ({ core, page }) => {
    const id = await core.begin('Scripted', 'change a.txt - one\\n; echo 好了。; sleep 1100ms', await core.workspace())
    await expect.poll(async () => (await core.turn(id)).state).toBe('idle')
    await page.goto(await core.url(core.project))
    await page.locator(`[href="/chat/${id}"]`).click()
    const foot = page.getByRole('group', { name: '关于此回答' })
    await expect(foot.getByRole('button', { name: '1 个文件变更' })).toBeVisible()
    await expect(foot).toContainText(/用时 \d+ 秒/)
    await foot.getByRole('button', { name: '复制消息' }).click()
    await expect(page.getByText('已复制', { exact: true })).toBeVisible()
    expect(await clipboard(page)).toBe('好了。')
    await axe(page)
    await fitsNarrow(page)
  })
})
