// Find in a Session (R-CHAT-002, 007): the browser's own find sees mounted rows only.

import type { Locator, Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test, type Chat } from '../fixtures.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const say = (text: string): string => `say64 ${base64(text)} 100000`
const call = (title: string): string => `tool64 ${base64(JSON.stringify({ title, kind: 'read' }))}`

const bar = (page: Page): Locator => page.getByRole('search', { name: 'Find in this session' })
const field = (page: Page): Locator => bar(page).getByRole('textbox', { name: 'Find' })
const count = (page: Page): Locator => bar(page).locator('.find-count')

async function open(page: Page): Promise<void> {
  await page.keyboard.press('Control+f')
  await expect(field(page)).toBeFocused()
}

interface Marked {
  all: number
  text: string
  /** The current occurrence is in the view of the transcript, not below the bar, and nothing else lies over it. */
  seen: boolean
}

function marked(page: Page): Promise<Marked> {
  return page.evaluate(() => {
    const range = [...(CSS.highlights.get('find-current') ?? [])][0] as Range | undefined
    const all = CSS.highlights.get('find')?.size ?? 0
    if (!range) return { all, text: '', seen: false }
    const { top, bottom, left, right } = range.getBoundingClientRect()
    const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    const own = range.commonAncestorContainer
    const seen = !!at && (own.contains(at) || at.contains(own)) && at.closest('[role=log]') !== null
    return { all, text: range.toString(), seen }
  })
}

/** Waits until the current occurrence is marked and seen. */
async function lands(page: Page, text: string): Promise<void> {
  await expect.poll(async () => JSON.stringify(await marked(page))).toContain(`"text":${JSON.stringify(text)},"seen":true`)
}

/** An answer with something to find in each kind of row; each word of it stands once. */
async function rich(chat: Chat): Promise<void> {
  const filler = (n: number): string => Array.from({ length: n }, (_, i) => `Paragraph ${i} of ${n}.\n\n`).join('')
  const wide = Array.from({ length: 12 }, (_, i) => `column ${i} is wide`)
  const table = `| ${wide.join(' | ')} |\n|${'---|'.repeat(12)}\n| ${wide.map((_, i) => (i === 11 ? 'tablefish' : `value_${i}`)).join(' | ')} |\n\n`
  const code = `\`\`\`go\nfunc codefish() {}\n\`\`\`\n\n`
  const long = `\`\`\`text\n${Array.from({ length: 900 }, (_, i) => (i % 300 === 200 ? `longfish ${i}` : `plain line ${i}`)).join('\n')}\n\`\`\`\n\n`
  const group = Array.from({ length: 80 }, (_, i) => call(i === 70 ? 'Read groupfish.go' : `Read file-${i}.go`))
  const thought = `**Deep title**\\n\\n${'Words of a thought. '.repeat(300)} The *thought*fish swims.`
  await chat.begin(
    [
      say(`${filler(40)}A **bold** word${' '}and **bold**fish.\n\n${table}${code}${filler(20)}`),
      `think ${thought}`,
      say(`${filler(20)}查找会话 and 🚀rocket and İstanbul and Straße.\n\n${filler(20)}`),
      ...group,
      say(`${filler(20)}${long}${filler(30)}The end of it.`),
    ].join('; '),
  )
  await expect(chat.log.getByText('The end of it.')).toBeVisible()
  await chat.ended()
}

test('what is typed before the bar is there goes into it, and not into the message (R-CHAT-002)', async ({ chat, page }) => {
  await chat.begin(say('alpha beta alphabet'))
  await chat.ended()
  let release = () => {}
  const asked = new Promise<void>((resolve) => {
    const gate = new Promise<void>((open) => (release = open))
    void page.route('**/FindBar-*.js', async (route) => {
      resolve()
      await gate
      await route.continue()
    })
  })
  await page.reload()
  await chat.message.fill('a message')
  await chat.message.press('Control+f')
  await asked
  await page.keyboard.type('alphax')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Enter')
  release()
  await expect(field(page)).toBeFocused()
  await page.keyboard.type('b')
  await expect(field(page)).toHaveValue('alphab')
  await expect(count(page)).toContainText('1')
  await expect(chat.message).toHaveValue('a message')
})

test('words are found in code, tables, thoughts, closed groups, and in any script (R-CHAT-002)', async ({ chat, page }) => {
  await rich(chat)
  await open(page)
  const cases = [
    ['bold word', 'bold word'],
    ['BOLDFISH', 'boldfish'],
    ['tablefish', 'tablefish'],
    ['codefish', 'codefish'],
    ['thoughtfish', 'thoughtfish'],
    ['查找会话', '查找会话'],
    ['🚀', '🚀'],
    ['istanbul', 'İstanbul'],
    ['straße', 'Straße'],
    ['groupfish', 'groupfish'],
  ] as const
  for (const [words, shown] of cases) {
    await field(page).fill(words)
    // The question holds what the Agent was told in base64, except for the thought.
    await expect(count(page), words).toHaveText(words === 'thoughtfish' ? /^\d of [12]$/ : '1 of 1')
    if (words !== 'thoughtfish') await lands(page, shown)
  }
  // Lines of a long code that were never drawn.
  await field(page).fill('longfish')
  await expect(count(page)).toHaveText(/^\d of 3$/)
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('Enter')
    await lands(page, 'longfish')
  }
  await field(page).fill('nothing like it')
  await expect(count(page)).toHaveText('No matches')
  await expect.poll(() => marked(page)).toEqual({ all: 0, text: '', seen: false }) // marks follow in the next frame
})

test('the next one comes after the last, by keyboard alone, and closing gives the focus back (R-CHAT-002)', async ({ chat, page }) => {
  const text = Array.from({ length: 60 }, (_, i) => (i % 20 === 5 ? `Fish number ${i} and FISH.` : `Paragraph ${i}.`)).join('\n\n')
  await chat.begin(say(text))
  await expect(chat.log.getByText('Paragraph 59.')).toBeVisible()
  await chat.ended()
  await chat.message.focus()
  await open(page)
  await page.keyboard.type('fish')
  await expect(count(page)).toHaveText(/ of 6$/)
  await expect(bar(page).getByRole('status')).toHaveText(/^[1-6] of 6$/)
  const numbers: number[] = []
  const number = async (): Promise<number> => Number(/^\d+/.exec((await count(page).textContent()) ?? '')?.[0])
  const first = await number()
  for (const key of ['Enter', 'F3', 'Control+g', 'Enter', 'F3', 'Control+g']) {
    await page.keyboard.press(key)
    numbers.push(await number())
    await expect.poll(async () => (await marked(page)).seen).toBe(true)
  }
  expect(numbers).toEqual([1, 2, 3, 4, 5, 6].map((i) => ((first - 1 + i) % 6) + 1))
  for (const key of ['Shift+Enter', 'Shift+F3', 'Control+Shift+g']) await page.keyboard.press(key)
  expect(await number()).toBe(((first - 1 + 3) % 6) + 1)

  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect(bar(page).getByRole('button', { name: 'Match case' })).toHaveAttribute('aria-pressed', 'true')
  await expect(count(page)).toHaveText('No matches')
  await field(page).fill('FISH')
  await expect(count(page)).toHaveText(/^\d of 3$/)
  await page.keyboard.press('Control+f')
  expect(await page.evaluate(() => window.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, cancelable: true })))).toBe(false)
  expect(
    await field(page).evaluate((el) => el.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, cancelable: true, bubbles: true }))),
    'in the field the browser gets it',
  ).toBe(true)
  await field(page).press('Escape')
  await expect(bar(page)).toHaveCount(0)
  await expect(chat.message).toBeFocused()
  expect(await page.evaluate(() => CSS.highlights.has('find') || CSS.highlights.has('find-current'))).toBe(false)
})

test('what streams in is counted while it comes, and the view stays at its place (R-CHAT-007)', async ({ chat, page }) => {
  const text = Array.from({ length: 40 }, (_, i) => `Paragraph ${i} with a fish.\n\n`).join('')
  await chat.begin(`${say(text)}; sleep 1500ms; ${Array.from({ length: 5 }, (_, i) => `${say(`Later fish ${i}.\n\n`)}; sleep 100ms`).join('; ')}; hang`)
  await expect(chat.log.getByText('Paragraph 39 with a fish.')).toBeVisible()
  await open(page)
  await page.keyboard.type('fish')
  await expect(count(page)).toHaveText(/ of 4\d$/)
  const before = (await count(page).textContent())!.split(' ')[0]
  await expect(count(page)).toHaveText(`${before} of 45`)
  await lands(page, 'fish')
  await chat.stop.click()
  await chat.ended()
})

test.describe('a long history', () => {
  test.use({ histories: [{ messages: 10_000 }] })

  test('is searched to its first message, also while that is still to come (R-CHAT-002, 007)', async ({ chat, page }) => {
    test.setTimeout(180_000)
    await chat.row('A long history').click()
    await expect(chat.log).toContainText('End of answer 9999.')
    await open(page)
    await field(page).fill('Look for needle-0.')
    await expect(bar(page)).toContainText(/Searching older messages…|1 of 1/)
    await expect(count(page)).toHaveText('1 of 1', { timeout: 120_000 })
    await lands(page, 'Look for needle-0.')
    await expect(chat.log.getByText('Question 0:')).toBeVisible()
    await field(page).fill('End of answer 5001.')
    await expect(count(page)).toHaveText('1 of 1')
    await lands(page, 'End of answer 5001.')
    await field(page).fill('')
    await field(page).pressSequentially('question 77')
    await expect(count(page)).toHaveText(/^\d+ of 55$/)
    await lands(page, 'Question 77')
    await page.keyboard.press('Enter')
    await lands(page, 'Question 77')
    expect(await page.evaluate(() => document.querySelectorAll('*').length), 'elements in the page').toBeLessThanOrEqual(2000)
  })
})

test('the bar stands aside from what it would cover (R-CHAT-002)', async ({ chat, page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await chat.begin('A question about fish')
  await expect(chat.log).toContainText('You said')
  await chat.ended()
  await open(page)
  await page.keyboard.type('fish')
  await expect(count(page)).toHaveText('1 of 2')
  await lands(page, 'fish')
  await page.keyboard.press('Enter')
  await expect(count(page)).toHaveText('2 of 2')
  await lands(page, 'fish')
})

test('the bar is easy to reach and read, and fits a telephone (R-CHAT-002)', async ({ chat, page }) => {
  await chat.begin(say('Some fish here, and more fish there.\n\n```go\nfunc fish() {}\n```\n'))
  await chat.ended()
  await open(page)
  await page.keyboard.type('fish')
  await expect(count(page)).toHaveText('1 of 3')
  await axe(page)
  const shots = process.env.FIND_SHOTS
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    if (shots) await page.screenshot({ path: `${shots}/find-${colorScheme}.png` })
  }
  await fitsNarrow(page)
  await page.setViewportSize({ width: 390, height: 844 })
  const box = (await bar(page).boundingBox())!
  expect(box.x).toBeGreaterThanOrEqual(0)
  expect(box.x + box.width).toBeLessThanOrEqual(390)
  if (shots) await page.screenshot({ path: `${shots}/find-narrow.png` })
})

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('the bar speaks it (R-CHAT-002)', async ({ core, page }) => {
    const session = await core.begin('Scripted', 'echo 会话里有鱼，还有鱼。', await core.workspace())
    await page.goto(await core.url(core.project))
    await page.locator(`[href$="${session}"]`).click()
    await expect(page.getByRole('log')).toContainText('还有鱼。')
    await page.keyboard.press('Control+f')
    const find = page.getByRole('search', { name: '在会话中查找' })
    await find.getByRole('textbox', { name: '查找' }).fill('有鱼')
    await expect(find.locator('.find-count')).toHaveText(/^第 \d 个，共 4 个$/)
    await find.getByRole('button', { name: '关闭查找' }).click()
    await expect(find).toHaveCount(0)
  })
})
