import { type Page } from '@playwright/test'

import { hostile, hostileDiagrams, hostileFormulas } from '../../web/src/testing/hostile.ts'
import { expect, test, type Chat } from '../fixtures.ts'

// Every test also fails on any request to elsewhere, any violation of the policy and any error in the console; see
// fixtures.ts.

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const json64 = (value: object): string => base64(JSON.stringify(value))

/** What would be there if anything of it ran or got out of its place. */
async function unharmed(page: Page): Promise<void> {
  expect(await page.evaluate(() => ['pwned', 'polluted'].filter((name) => name in window || name in {}))).toEqual([])
  expect(page.context().pages()).toHaveLength(1)
  await expect(page.locator('#app')).toHaveCount(1)
  expect(page.url()).toMatch(/\/chat\/session-/)
}

/** Counts dialogs, which nothing may open. */
function dialogs(page: Page): string[] {
  const opened: string[] = []
  page.on('dialog', (d) => {
    opened.push(d.message())
    void d.dismiss()
  })
  return opened
}

/** Shows the conversation from its beginning to its end, a screen at a time, and looks at each. */
async function walk(chat: Chat, look: () => Promise<void>): Promise<void> {
  await chat.log.evaluate((el) => (el.scrollTop = 0))
  for (let more = true; more; ) {
    await chat.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    await look()
    more = await chat.log.evaluate((el) => {
      const before = el.scrollTop
      el.scrollTop += el.clientHeight
      return el.scrollTop > before
    })
  }
}

/** What of the drawn conversation has no place in it. */
function strange(chat: Chat): Promise<string[]> {
  return chat.log.evaluate((log) => {
    const out: string[] = []
    for (const el of log.querySelectorAll('script, iframe, object, embed, form, style, link, meta, base, video, audio, template, foreignObject, [style*="url("], [srcset], [srcdoc], [formaction], [background], [ping]')) out.push(el.outerHTML.slice(0, 120))
    for (const el of log.querySelectorAll('*')) {
      for (const { name, value } of el.attributes) {
        if (/^on/i.test(name)) out.push(`${el.tagName} ${name}`)
        if (name === 'href' && !/^(https?:\/\/[^/]|mailto:)/i.test(value) && !value.startsWith('#')) out.push(`href ${value}`)
        if (name === 'src' && !/^(blob:|data:image\/(png|jpe?g|gif|webp|avif);base64,)/i.test(value)) out.push(`src ${value}`)
      }
    }
    return out
  })
}

test('whatever an Agent says is text: nothing runs and nothing is fetched (R-CHAT-132)', async ({ chat, page }) => {
  test.slow()
  const opened = dialogs(page)
  await chat.begin(`say64 ${base64(`${hostile.join('\n\n')}\n\nthe last line`)} 3000`)
  await chat.ended()
  await walk(chat, async () => expect(await strange(chat)).toEqual([]))
  await expect(chat.log.getByText('the last line', { exact: true })).toBeVisible()
  await unharmed(page)
  expect(opened).toEqual([])
})

test('titles, inputs, outputs, paths and diffs are text too (R-CHAT-082, 132)', async ({ chat, page }) => {
  test.slow()
  const opened = dialogs(page)
  const some = hostile.filter((_, i) => i % 12 === 0).map((text) => text.replaceAll('\n', ' '))
  const escapes = '\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007 \u001b[31mred\u001b[0m \u202Egnp.exe'
  const calls = some.map((text, i) =>
    json64({
      title: `${i} ${text} \u202Egnp.exe`, kind: 'edit', rawInput: { [text]: text }, locations: [{ path: `/tmp/${text}`, line: 1 }],
      content: [{ type: 'content', content: { type: 'text', text: `${text}\n${escapes}` } }, { type: 'diff', path: `/tmp/${i}/${text}`, oldText: text, newText: `${text}\n${escapes}` }],
    }),
  )
  for (const [i, call] of calls.entries()) {
    const words = `tool64 ${call}; echo done ${i}.`
    if (i === 0) await chat.begin(words)
    else await chat.say(words)
    await expect(chat.log.getByText(`done ${i}.`, { exact: true })).toBeVisible()
    await chat.ended()
    await chat.log.getByRole('button', { name: `${i} ` }).and(chat.log.locator('[aria-expanded=false]')).last().click()
    await expect(chat.log.locator('.body-text').last()).toContainText('⟨U+202E⟩gnp.exe')
    expect(await strange(chat)).toEqual([])
  }
  await expect(chat.log.locator('.body-text').last()).not.toContainText('\u001b')
  await unharmed(page)
  expect(opened).toEqual([])
})

test('a diagram neither runs nor fetches anything, whatever it is made of (R-CHAT-133)', async ({ chat, page }) => {
  test.slow()
  const opened = dialogs(page)
  const fences = hostileDiagrams.map((source) => `\`\`\`mermaid\n${source}\n\`\`\``)
  await chat.begin(`say64 ${base64(`${fences.join('\n\n')}\n\nthe last line`)} 3000`)
  await chat.ended()
  let drawn = 0
  await walk(chat, async () => {
    await expect(chat.log.locator('.diagram .drawing')).toHaveCount(0)
    expect(await strange(chat)).toEqual([])
    drawn = Math.max(drawn, await chat.log.locator('.diagram img').count())
  })
  expect(drawn, 'some of them are drawn all the same').toBeGreaterThan(0)
  await expect(page.locator('body > :not(#app):has(svg)')).toHaveCount(0)
  await unharmed(page)
  expect(opened).toEqual([])
})

test('a formula neither runs nor fetches anything (R-CHAT-132)', async ({ chat, page }) => {
  const opened = dialogs(page)
  const blocks = hostileFormulas.map((tex) => `$$\n${tex}\n$$`)
  await chat.begin(`say64 ${base64(`${blocks.join('\n\n')}\n\n$x^2$ is the last line`)} 3000`)
  await chat.ended()
  await walk(chat, async () => {
    expect(await strange(chat)).toEqual([])
    expect(await chat.log.locator('math [href], math [style], math [class], math [id]').count()).toBe(0)
  })
  await expect(chat.log.locator('math').last()).toBeVisible()
  await unharmed(page)
  expect(opened).toEqual([])
})
