import { type Locator } from '@playwright/test'

import { axe, expect, fitsNarrow, test, type Chat } from '../fixtures.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const json64 = (value: object): string => base64(JSON.stringify(value))

const lineNumbers = (text: string): number[] => [...text.matchAll(/line (\d+) of/g)].map((m) => Number(m[1]))

/** Has the Agent say a text in chunks of some bytes. */
async function told(chat: Chat, text: string, size = 50): Promise<void> {
  await chat.begin(`say64 ${base64(text)} ${size}`)
  await chat.ended()
}

/** Scrolls the conversation until something of it is drawn. */
async function seek(chat: Chat, target: Locator): Promise<void> {
  await chat.log.evaluate((el) => (el.scrollTop = 0))
  await expect(async () => {
    if (!(await target.first().isVisible())) await chat.log.evaluate((el) => (el.scrollTop += 0.7 * el.clientHeight))
    await target.first().scrollIntoViewIfNeeded({ timeout: 300 })
  }).toPass()
}

const sample = `# A heading

Words with **bold**, *italic*, ~~struck~~, \`code\`, https://auto.example/x and [a link](https://ok.example/ "tip").

- one
- two
  1. nested
- [ ] open
- [x] done

> quoted

| left | right |
|:--|--:|
| a | 1 |

\`\`\`go
func main() {}
\`\`\`

---

[late] comes first.

[late]: https://late.example/

中文段落，标点。
`

test('everything of GitHub Markdown is drawn while it streams (R-CHAT-131)', async ({ chat, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await told(chat, sample, 7)
  const { log } = chat
  await expect(log.getByRole('heading', { name: 'A heading', level: 3 })).toBeVisible()
  for (const [selector, text] of [['strong', 'bold'], ['em', 'italic'], ['s', 'struck'], ['p code', 'code'], ['blockquote', 'quoted'], ['td[align=right]', '1']] as const) {
    await expect(log.locator(selector).filter({ hasText: text }).first()).toHaveText(text)
  }
  await expect(log.getByRole('checkbox')).toHaveCount(2)
  await expect(log.getByRole('checkbox', { checked: true })).toHaveCount(1)
  for (const [name, href] of [['https://auto.example/x', 'https://auto.example/x'], ['a link', 'https://ok.example/'], ['late', 'https://late.example/']] as const) {
    await expect(log.getByRole('link', { name, exact: true })).toHaveAttribute('href', href)
    await expect(log.getByRole('link', { name, exact: true })).toHaveAttribute('rel', 'noopener noreferrer')
  }
  await log.getByRole('group', { name: 'go' }).getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('func main() {}\n')
  await expect(log).toContainText('中文段落，标点。')
  await axe(page)
  await fitsNarrow(page)
})

test('a half-open block leaves those before it alone (R-CHAT-131)', async ({ chat }) => {
  await chat.begin(`say64 ${base64('# First\n\nsecond with [a](https://ok.example/)\n\nthird\n\nfourth\n\n')}; sleep 2s; say64 ${base64('```js\nlet a = 1\n**not bold**')}; sleep 3s; say64 ${base64('\n```\nafter\n')}`)
  const { log } = chat
  await log.locator('h3').evaluate((el) => (el.dataset.seen = 'yes'))
  const code = log.getByRole('group', { name: 'js' })
  await expect(code.locator('pre')).toHaveText('let a = 1\n**not bold**')
  await chat.ended()
  await expect(code.locator('pre')).toHaveText('let a = 1\n**not bold**\n')
  await expect(log.getByText('after', { exact: true })).toBeVisible()
  await expect(log.locator('h3[data-seen=yes]')).toHaveText('First')
})

test('a long list goes on counting and a long table stays one table (R-CHAT-131)', async ({ chat, page }) => {
  const items = Array.from({ length: 70 }, (_, i) => `${i + 1}. item ${i + 1}`).join('\n')
  const rows = Array.from({ length: 70 }, (_, i) => `| ${i + 1} | ${'word '.repeat(1 + (i % 9))}| ${'wide'.repeat(i % 4)} |${' more |'.repeat(7)}`).join('\n')
  const head = `| n | words | x |${' c |'.repeat(7)}\n|--:|---|:-:|${'---|'.repeat(7)}`
  await told(chat, `${items}\n\nbetween\n\n${head}\n${rows}\n\nthe end\n`, 200)
  await seek(chat, chat.log.getByText('item 45', { exact: true }))
  const starts = await chat.log.locator('ol').evaluateAll((all) => all.map((ol) => [ol.getAttribute('start') ?? '1', ol.firstElementChild!.textContent!.trim()]))
  expect(starts.length).toBeGreaterThan(1)
  for (const [start, text] of starts) expect(text).toBe(`item ${start}`)

  await seek(chat, chat.log.getByRole('cell', { name: '44', exact: true }))
  const parts = chat.log.locator('.md-table')
  await expect(parts.nth(1)).toBeVisible()
  const edges = () => parts.evaluateAll((all) => all.map((t) => [...t.querySelector('tbody tr')!.children].map((c) => Math.round(c.getBoundingClientRect().left)).join(' ')))
  expect(new Set(await edges()).size, 'columns of the parts agree').toBe(1)
  const heights = await parts.evaluateAll((all) => all.slice(1).map((t) => t.querySelector('thead')!.getBoundingClientRect().bottom - t.querySelector('tbody')!.getBoundingClientRect().top))
  expect(heights.every((h) => h <= 60), 'a repeated head takes no room').toBe(true)
  const gaps = await parts.evaluateAll((all) => all.slice(1).map((t, i) => t.getBoundingClientRect().top - all[i]!.getBoundingClientRect().bottom))
  expect(Math.max(...gaps.map(Math.abs)), 'the parts touch').toBeLessThanOrEqual(2)
  await page.setViewportSize({ width: 600, height: 800 })
  await seek(chat, chat.log.getByRole('cell', { name: '41', exact: true }))
  await parts.first().evaluate((el) => (el.scrollLeft = 150))
  await expect.poll(() => parts.evaluateAll((all) => all.map((el) => el.scrollLeft))).toEqual(await parts.evaluateAll((all) => all.map(() => 150)))
  await fitsNarrow(page)
})

test('code of 2,000 lines is drawn in part and copied whole (R-CHAT-131)', async ({ chat, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const code = Array.from({ length: 2000 }, (_, i) => `line ${i + 1} of`).join('\n')
  await told(chat, `before\n\n\`\`\`ts\n${code}\n\`\`\`\n\nafter`, 4000)
  const block = chat.log.getByRole('group', { name: 'ts', exact: true })
  const box = block.getByRole('group', { name: '2,001 lines' })
  await expect(box).toContainText('line 1 of')
  expect(lineNumbers(await box.innerText()).length).toBeLessThan(120)
  await box.press('Control+a')
  await box.press('Control+c')
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${code}\n`)
  await block.getByRole('button', { name: 'Copy' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${code}\n`)
  await axe(page)
  await fitsNarrow(page)
})

test('a remote picture is never fetched, and a link says where it goes (R-CHAT-132)', async ({ chat, context }) => {
  const requests: string[] = []
  context.on('request', (r) => requests.push(r.url()))
  await told(chat, '![a chart](https://img.example/p.png?q=secret)\n\n[https://bank.example](https://evil.example/x) and [docs](https://ok.example)\n\n![local](/tmp/shot.png) the end')
  await expect(chat.log.getByText('a chart')).toBeVisible()
  const open = chat.log.getByRole('link', { name: 'Open image at img.example' })
  await expect(open).toHaveAttribute('target', '_blank')
  await expect(open).toHaveAttribute('rel', 'noopener noreferrer')
  await expect(chat.log.getByRole('link', { name: 'https://bank.example evil.example' })).toHaveAttribute('title', 'https://evil.example/x')
  await expect(chat.log.getByRole('link', { name: 'docs', exact: true })).toBeVisible()
  await expect(chat.log.getByRole('button', { name: 'local' })).toHaveAttribute('data-path', '/tmp/shot.png')
  await expect(chat.log.locator('img')).toHaveCount(0)
  expect(requests.filter((url) => url.includes('img.example'))).toEqual([])
})

const flow = 'graph LR\n  A[Agent] --> B{Same?}\n  B -- yes --> C[(log)]\n'

test('a diagram is code while it is open and a picture when it is whole (R-CHAT-133)', async ({ chat, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.emulateMedia({ colorScheme: 'light' })
  await chat.begin(`say64 ${base64(`before\n\n\`\`\`mermaid\n${flow}`)}; sleep 4s; say64 ${base64('```\n\nafter')}`)
  const { log } = chat
  await expect(log.getByRole('group', { name: 'mermaid' }).locator('pre')).toHaveText(flow)
  await expect(log.locator('.diagram')).toHaveCount(0)
  await chat.ended()
  const block = log.locator('.diagram')
  const image = block.getByRole('img', { name: 'Diagram' })
  await expect(image).toBeVisible()
  const light = await image.getAttribute('src')
  expect(light).toMatch(/^blob:/)
  const size = await image.evaluate((el: HTMLImageElement) => [el.naturalWidth, el.naturalHeight])
  expect(Math.min(...size)).toBeGreaterThan(50)
  await expect(page.locator('body > :not(#app) svg')).toHaveCount(0)

  await page.emulateMedia({ colorScheme: 'dark' })
  await expect(image).not.toHaveAttribute('src', light!)

  await block.getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(flow)
  await block.getByRole('button', { name: 'Show source' }).click()
  await expect(block.locator('pre')).toHaveText(flow)
  await block.getByRole('button', { name: 'Show diagram' }).click()
  await expect(image).toBeVisible()
  await axe(page)
  await fitsNarrow(page)
})

test('what cannot be drawn stays source and breaks nothing (R-CHAT-133)', async ({ chat, page }) => {
  const long = `graph TD\n${'  A --> B\n'.repeat(6000)}`
  const text = ['first', '```mermaid\ngraph TD\n  A[never closed\n```', '```mermaid\nnot a diagram\n```', '```mermaid\n```', `\`\`\`mermaid\n${long}\`\`\``, 'then', '```mermaid\nunfinished'].join('\n\n')
  await told(chat, text, 3000)
  const diagrams = chat.log.locator('.diagram')
  await seek(chat, diagrams.filter({ hasText: 'never closed' }))
  await expect(diagrams.filter({ hasText: 'never closed' }).locator('.problem')).toContainText('The diagram cannot be drawn:')
  await seek(chat, diagrams.filter({ hasText: 'not a diagram' }))
  await expect(diagrams.filter({ hasText: 'not a diagram' }).locator('.problem')).toContainText('The diagram cannot be drawn:')
  await expect(diagrams.locator('img')).toHaveCount(0)
  await seek(chat, chat.log.getByRole('group', { name: '6,002 lines' }))
  await seek(chat, chat.log.getByRole('group', { name: 'mermaid' }).filter({ hasText: 'unfinished' }))
  await expect(chat.log.getByText('then', { exact: true })).toBeVisible()
  await expect(page.locator('body > :not(#app):has(svg)')).toHaveCount(0)
})

test('formulas are drawn when one is shown, and what draws them loads only then', async ({ chat, page, context }) => {
  const scripts: string[] = []
  context.on('request', (r) => scripts.push(r.url()))
  await told(chat, 'It costs $5 and $10, see `$x$`.')
  await expect(chat.log.getByText('It costs $5 and $10')).toBeVisible()
  expect(scripts.filter((url) => /typeset|draw-|mermaid/i.test(url))).toEqual([])
  await chat.say(`say64 ${base64('So $x^2$ and\n\n$$\n\\frac{a}{b}\n$$\n\nbut $\\broken{$ stays.')} 9`)
  await chat.ended()
  await expect(chat.log.locator('math')).toHaveCount(2)
  await expect(chat.log.locator('math[display=block] mfrac')).toBeVisible()
  await expect(chat.log.locator('.md-math').filter({ hasText: '$\\broken{$' })).toBeVisible()
  await axe(page)
})

test('what a person wrote keeps its lines (R-CHAT-134)', async ({ chat, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const text = 'first line\n\n  * not a list\n<b>no tag</b>  two blanks'
  await chat.begin(text)
  const mine = chat.log.getByRole('article', { name: 'You' })
  expect(await mine.locator('p').innerText()).toBe(text)
  await mine.hover()
  await mine.getByRole('button', { name: 'Copy message' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text)
})

test('an output of 50,000 lines opens in few elements, with every line in reach (R-CHAT-082)', async ({ chat }) => {
  await chat.begin('lines 50000')
  await chat.ended()
  await chat.log.getByRole('button', { name: 'Print lines' }).click()
  await chat.log.getByRole('button', { name: /^Show all/ }).click()
  const box = chat.log.getByRole('group', { name: '50,001 lines' })
  await expect(box).toBeVisible()
  expect(await box.locator('*').count(), 'elements of the output').toBeLessThan(500)
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
