// The timeline of prompts over the right edge of a conversation.

import type { Locator, Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test, type Chat } from '../fixtures.ts'

interface Part {
  id: string
  type: string
  text?: string
  attachment?: { mime?: string; name?: string }
}
interface Messages {
  messages: { id: string; role: string; parts: Part[] }[]
}

/** A conversation with its timeline. Prompt i is message 2 i, "Question 2i: …". */
class Timeline {
  readonly rail: Locator
  readonly track: Locator
  readonly list: Locator
  readonly entries: Locator
  readonly selected: Locator
  readonly page: Page

  constructor(readonly chat: Chat, label = 'Your messages') {
    this.page = chat.page
    this.rail = this.page.getByRole('slider', { name: label })
    this.track = this.rail.locator('.track')
    this.list = this.page.getByRole('listbox', { name: label })
    this.entries = this.list.getByRole('option')
    this.selected = this.list.getByRole('option', { selected: true })
  }

  async open(name: string): Promise<void> {
    await this.chat.row(name).click()
    await expect(this.rail).toBeVisible()
  }

  /** point moves the pointer to where item i of n stands. */
  async point(i: number, n: number): Promise<void> {
    const box = (await this.track.boundingBox())!
    await this.page.mouse.move(box.x + box.width / 2, box.y + (box.height * i) / (n - 1), { steps: 2 })
  }

  /** away moves the pointer onto the conversation. */
  async away(): Promise<void> {
    const box = (await this.chat.log.boundingBox())!
    await this.page.mouse.move(box.x + 200, box.y + 60, { steps: 2 })
  }

  async active(i: number): Promise<void> {
    await expect(this.rail).toHaveAttribute('aria-valuenow', String(i + 1))
  }

  /** shows waits until prompt i is the last one at or above the line, which lies at 35 % of the view (R-CHAT-070). */
  async shows(i: number): Promise<void> {
    const read = () =>
      this.chat.log.evaluate((log) => {
        const line = log.getBoundingClientRect().top + 0.35 * log.clientHeight
        const rows = [...log.querySelectorAll<HTMLElement>('[data-row]:has(.user-row)')]
        const above = rows.filter((row) => row.getBoundingClientRect().top <= line)
        return above.at(-1)?.dataset.row
      })
    await expect.poll(read, 'the prompt that is read').toBe(`msg-${String(2 * i).padStart(6, '0')}`)
    await this.active(i)
  }

  top(): Promise<number> {
    return this.chat.log.evaluate((el) => el.scrollTop)
  }

  /** Where the view stands once a smooth way has ended. */
  rest(): Promise<number> {
    return this.chat.log.evaluate(async (el) => {
      for (let still = 0, top = el.scrollTop; still < 10; still++) {
        await new Promise(requestAnimationFrame)
        if (el.scrollTop !== top) still = -1
        top = el.scrollTop
      }
      return el.scrollTop
    })
  }

  async thumbAt(): Promise<number> {
    const track = (await this.track.boundingBox())!
    const thumb = (await this.rail.locator('.thumb').boundingBox())!
    return (thumb.y + thumb.height / 2 - track.y) / track.height
  }
}

/** Changes what the page gets to read of a Session. */
async function rewrite(page: Page, change: (messages: Messages['messages']) => void): Promise<void> {
  await page.route('**/api/sessions/*/messages?*', async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as Messages
    change(json.messages)
    await route.fulfill({ response, json })
  })
}

/** Prompts that are told by what is attached, or not at all. */
function attach(messages: Messages['messages']): void {
  const image = { type: 'attachment', attachment: { mime: 'image/png', name: 'a.png' } }
  const file = (name: string) => ({ type: 'attachment', attachment: { mime: 'text/plain', name } })
  const reminder = { type: 'reminder', text: 'Rules of the application.' }
  const parts = [[reminder], [image], [image, image], [file('notes.txt'), file('plan.md')], [reminder, { type: 'text', text: 'Only\n  this.' }, image]]
  const users = messages.filter((m) => m.role === 'user')
  parts.forEach((own, i) => (users[i]!.parts = own.map((p, k) => ({ ...p, id: `${users[i]!.id}.${k}` }))))
}

test.describe('few', () => {
  const two = { messages: 4, name: 'Two', session: 'session-two' }
  const twelve = { messages: 24, name: 'Twelve', session: 'session-twelve' }
  // Playwright takes a bare list of several objects for a value and its options.
  test.use({ histories: [[{ messages: 10, name: 'Five' }, two, twelve], { scope: 'test' }] })

  test('items are what a person wrote or attached (R-CHAT-063)', async ({ chat, page }) => {
    await rewrite(page, attach)
    const line = new Timeline(chat)
    await line.open('Five')
    await expect(line.rail).toHaveAttribute('aria-valuemax', '4')
    await line.point(0, 4)
    await expect(line.entries).toHaveText(['Image attachment', '2 images', 'notes.txt, plan.md', 'Only this.'])
  })

  test('guides stand evenly, are all alike and never change (R-CHAT-064)', async ({ chat }) => {
    const line = new Timeline(chat)
    for (const [name, guides, height] of [['Two', 2, 36], ['Five', 5, 56], ['Twelve', 10, 164]] as const) {
      await line.open(name)
      await expect(line.rail.locator('.guide')).toHaveCount(guides)
      const look = () =>
        line.track.evaluate((track) => {
          const from = track.getBoundingClientRect().top
          return [...track.querySelectorAll('.guide')].map((g) => {
            const r = g.getBoundingClientRect()
            return { at: r.top + r.height / 2 - from, width: r.width, color: getComputedStyle(g).backgroundColor }
          })
        })
      expect((await line.track.boundingBox())!.height).toBe(height)
      const before = await look()
      before.forEach((g, i) => expect(g.at).toBeCloseTo((height * i) / (guides - 1), 0))
      expect(new Set(before.map((g) => `${g.width} ${g.color}`)).size, 'looks of guides').toBe(1)
      await line.rail.hover()
      await line.rail.click()
      await expect(line.list).toBeVisible()
      expect(await look()).toEqual(before)
      await line.page.keyboard.press('Escape')
    }
  })

  test('the timeline takes no room, and covers no text at any width (R-CHAT-072)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Twelve')
    for (const width of [1440, 1100, 900, 700, 640, 390]) {
      await page.setViewportSize({ width, height: 844 })
      await expect(line.rail).toBeVisible()
      const rail = (await line.rail.boundingBox())!
      const inner = await chat.log.evaluate((log) => {
        const row = log.querySelector<HTMLElement>('[data-row]')!
        const style = getComputedStyle(row)
        const parts = [...row.parentElement!.querySelectorAll<HTMLElement>('[data-row] > *')]
        return {
          column: row.getBoundingClientRect().right - parseFloat(style.paddingRight),
          right: Math.max(...parts.map((p) => p.getBoundingClientRect().right)),
          bar: log.getBoundingClientRect().left + log.clientWidth,
        }
      })
      expect(rail.x, `left edge of the rail at ${width} px`).toBeGreaterThanOrEqual(Math.max(inner.column, inner.right) - 0.5)
      expect(rail.x + rail.width, 'the scroll bar is free').toBeLessThanOrEqual(inner.bar + 0.5)
    }
    const widths = () => page.evaluate(() => ['[role=log] .content', '[role=log] [data-row]', '.bottom'].map((s) => document.querySelector(s)!.getBoundingClientRect().width))
    await page.setViewportSize({ width: 1440, height: 900 })
    await expect(chat.sidebar).toBeVisible()
    const before = await widths()
    await line.rail.click()
    await expect(line.list).toBeVisible()
    expect(await widths()).toEqual(before)
    await chat.row('Two').click()
    await expect(line.rail).toHaveAttribute('aria-valuemax', '2')
    expect(await widths()).toEqual(before)
    await fitsNarrow(page)
  })
})

test('it comes with the second prompt (R-CHAT-063)', async ({ chat }) => {
  const line = new Timeline(chat)
  await chat.begin('echo one')
  await chat.ended()
  await expect(line.rail).toBeHidden()
  await chat.say('echo two')
  await expect(line.rail).toHaveAttribute('aria-valuemax', '2')
  await chat.ended()
  await line.point(1, 2)
  await expect(line.entries).toHaveText(['echo one', 'echo two'])
})

test.describe('many', () => {
  test.use({ histories: [{ messages: 160, name: 'Eighty' }] })
  const n = 80

  test('it waits for all messages (R-CHAT-063)', async ({ chat, page }) => {
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/api/sessions/*/messages?*before=*', async (route) => {
      await held
      await route.continue()
    })
    const asked = page.waitForRequest(/messages\?.*before=/)
    const line = new Timeline(chat)
    await chat.row('Eighty').click()
    await expect(chat.log).toContainText('End of answer 159.')
    await asked
    await expect(line.rail).toBeHidden()
    release()
    await expect(line.rail).toHaveAttribute('aria-valuemax', String(n))
  })

  test('the thumb tells the active item, and every item is reached by the pointer (R-CHAT-065)', async ({ chat }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    for (const i of [0, 1, 39, 40, 77, 79]) {
      await line.point(i, n)
      await expect(line.selected).toContainText(`Question ${2 * i}:`)
    }
    for (const i of [40, 3]) {
      await line.point(i, n)
      await line.page.mouse.down()
      await line.page.mouse.up()
      await line.shows(i)
      expect(await line.thumbAt()).toBeCloseTo(i / (n - 1), 2)
    }
    const box = (await line.rail.boundingBox())!
    await line.page.mouse.move(box.x + 4, box.y + 1) // above the first guide
    await expect(line.selected).toContainText('Question 0:')
    await line.page.mouse.move(box.x + 4, box.y + box.height - 1)
    await expect(line.selected).toContainText('Question 158:')
  })

  test('pointer and arrows show five entries without a step in the conversation (R-CHAT-066)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    const top = await line.top()
    const starts = async (from: number) => {
      await expect(line.entries).toHaveText([0, 1, 2, 3, 4].map((k) => new RegExp(`^\\s*Question ${2 * (from + k)}: `)))
      for (const box of await line.entries.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().height))) expect(box).toBe(28)
    }
    await line.point(0, n)
    await starts(0)
    await line.point(40, n)
    await starts(38)
    await line.point(79, n)
    await starts(75)
    await expect(line.list).not.toContainText(/round|turn \d|\d:\d\d/i)
    await line.away()
    await expect(line.list).toBeHidden()
    // The way from the rail to the popover crosses what belongs to neither.
    await line.point(40, n)
    const entry = (await line.entries.nth(3).boundingBox())!
    await page.mouse.move(entry.x + 20, entry.y + 10, { steps: 8 })
    const entered = await page.evaluate(() => performance.now())
    await page.waitForFunction((from) => performance.now() > from + 400, entered)
    await expect(line.list).toBeVisible()
    await line.away()
    await expect(line.list).toBeHidden()
    await line.point(40, n) // where it was before
    await starts(38)
    await line.away()
    await expect(line.list).toBeHidden()
    await line.rail.focus()
    await page.keyboard.press('ArrowUp')
    await starts(75)
    await expect(line.selected).toContainText('Question 156:')
    await expect(line.rail).toHaveAttribute('aria-valuenow', '79')
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowUp')
    await starts(73)
    await page.keyboard.press('ArrowDown')
    await expect(line.selected).toContainText('Question 152:')
    expect(await line.top(), 'place in the conversation').toBe(top)
  })

  test('a click or Enter goes there and pins the whole list (R-CHAT-067)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    await line.point(30, n)
    await page.mouse.down()
    await page.mouse.up()
    await line.shows(30)
    await expect(line.entries.first()).toHaveAttribute('aria-setsize', String(n))
    await expect(line.selected).toContainText('Question 60:')
    await expect(line.selected).toBeInViewport()
    await line.away()
    const left = await page.evaluate(() => performance.now())
    await page.waitForFunction((from) => performance.now() > from + 400, left)
    await expect(line.list, 'stays without the pointer').toBeVisible()
    const scrolls = () => line.list.evaluate((el) => ({ top: el.scrollTop, more: el.scrollHeight - el.clientHeight }))
    expect((await scrolls()).more, 'the list scrolls by itself').toBeGreaterThan(1000)
    const top = await line.top()
    await line.list.hover()
    await page.mouse.wheel(0, 10_000)
    const last = line.entries.filter({ hasText: 'Question 150:' })
    await expect(last).toBeInViewport()
    expect(await line.top()).toBe(top)
    await last.click()
    await line.shows(75)
    await expect(line.selected).toContainText('Question 150:')
    await expect(line.list).toBeVisible()
    await page.keyboard.press('Escape')
    await line.rail.focus()
    for (let i = 0; i < 5; i++) await page.keyboard.press('PageUp')
    await page.keyboard.press('Enter')
    await line.shows(50)
    await expect(line.entries.first()).toHaveAttribute('aria-setsize', String(n))
    await expect(line.selected).toContainText('Question 100:')
    await expect(line.selected).toBeInViewport()
    for (let i = 0; i < 12; i++) await page.keyboard.press('ArrowDown')
    await expect(line.selected).toContainText('Question 124:')
    await expect(line.selected).toBeInViewport()
    await page.keyboard.press('Enter')
    await line.shows(62)
  })

  test('dragging, the wheel, Home and End go there at once (R-CHAT-068)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    await line.point(60, n)
    await page.mouse.down()
    for (const i of [50, 20, 33]) {
      await line.point(i, n)
      await line.shows(i)
      await expect(line.selected).toContainText(`Question ${2 * i}:`)
      expect(await line.thumbAt()).toBeCloseTo(i / (n - 1), 2)
    }
    const box = (await line.track.boundingBox())!
    await page.mouse.move(box.x - 300, box.y - 200)
    await line.shows(0)
    await line.point(33, n)
    await page.mouse.up()
    await line.shows(33)
    await page.mouse.wheel(0, 120)
    await line.shows(34)
    await page.mouse.wheel(0, -120)
    await line.shows(33)
    await page.mouse.wheel(0, -120)
    await line.shows(32)
    await expect(line.selected).toContainText('Question 64:')
    await line.rail.focus()
    await page.keyboard.press('Home')
    await expect(line.selected).toContainText('Question 0:')
    await line.shows(0)
    expect(await line.top()).toBe(0)
    await line.point(0, n)
    await page.mouse.wheel(0, -120)
    await line.shows(0)
    await page.mouse.wheel(0, 120)
    await line.shows(1)
    // What goes at once is there in the frame after the key.
    const frames = await line.rail.evaluate(async (rail) => {
      const log = document.querySelector<HTMLElement>('[role=log]')!
      const tops = new Set<number>()
      rail.focus()
      rail.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }))
      for (let i = 0; i < 30; i++) {
        await new Promise(requestAnimationFrame)
        tops.add(Math.round(log.scrollTop / 50))
      }
      return tops.size
    })
    expect(frames, 'places on the way to the end').toBeLessThanOrEqual(2)
    await expect(line.selected).toContainText('Question 158:')
    await expect(chat.log.getByText(/^Question 158:/)).toBeInViewport()
  })

  test('Escape closes the list and leaves the active item (R-CHAT-069)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    await line.point(40, n)
    await page.mouse.down()
    await page.mouse.up()
    await line.shows(40)
    const top = await line.rest()
    await line.rail.focus()
    await page.keyboard.press('ArrowUp')
    await expect(line.rail).toHaveAttribute('aria-valuenow', '40')
    await page.keyboard.press('Escape')
    await expect(line.list).toBeHidden()
    await line.active(40)
    expect(await line.top()).toBe(top)
    await expect(line.rail).toBeFocused()
    // The focus may stand in the list too.
    await page.keyboard.press('Enter')
    await line.list.focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Escape')
    await expect(line.list).toBeHidden()
    await expect(line.rail).toBeFocused()
    await page.keyboard.press('ArrowDown')
    await line.away()
    await page.mouse.down()
    await page.mouse.up()
    await expect(line.list, 'a click elsewhere closes it too').toBeHidden()
  })

  test('the active item follows the view; a smooth way keeps its target (R-CHAT-070)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    await line.rail.focus()
    await page.keyboard.press('Home')
    await line.shows(0)
    await page.keyboard.press('Escape')
    await line.away()
    let seen = 0
    const differs = () =>
      line.rail.evaluate((rail) => {
        const log = document.querySelector<HTMLElement>('[role=log]')!
        const at = log.getBoundingClientRect().top + 0.35 * log.clientHeight
        const now = Number(rail.getAttribute('aria-valuenow'))
        // Of the prompts near the view: those above the line are not behind the active one, the others are.
        const rows = [...log.querySelectorAll<HTMLElement>('[data-row]:has(.user-row)')]
        const wrong = rows.filter((r) => r.getBoundingClientRect().top <= at !== Number(r.dataset.row!.slice(4)) / 2 + 1 <= now)
        return wrong.length
      })
    for (let i = 0; i < 12; i++) {
      await page.mouse.wheel(0, 700)
      await expect.poll(differs, 'active item and the line').toBe(0)
      seen = Number(await line.rail.getAttribute('aria-valuenow'))
    }
    expect(seen, 'items passed').toBeGreaterThan(2)
    // Narrower rows are higher: what is above the line is measured anew.
    await page.setViewportSize({ width: 700, height: 700 })
    await expect.poll(differs, 'active item and the line in a narrow page').toBe(0)
    await page.setViewportSize({ width: 1440, height: 900 })
    await expect.poll(differs, 'active item and the line in a wide page').toBe(0)

    const way = (i: number) =>
      line.rail.evaluate(async (rail, { i, n }) => {
        const { x, y, width, height } = rail.querySelector('.track')!.getBoundingClientRect()
        const at = { clientX: x + width / 2, clientY: y + (height * i) / (n - 1), bubbles: true, pointerId: 1, button: 0 }
        rail.setPointerCapture = () => {}
        // A frame takes 40 ms, however busy the machine is.
        let clock = performance.now()
        performance.now = () => clock
        rail.dispatchEvent(new PointerEvent('pointerdown', at))
        rail.dispatchEvent(new PointerEvent('pointerup', at))
        const values: string[] = []
        const tops: number[] = []
        for (let k = 0; k < 20; k++) {
          await new Promise(requestAnimationFrame)
          clock += 40
          values.push(rail.getAttribute('aria-valuenow')!)
          tops.push(Math.round(document.querySelector('[role=log]')!.scrollTop))
        }
        delete (performance as { now?: unknown }).now
        return { values: [...new Set(values)], steps: new Set(tops).size }
      }, { i, n })
    const smooth = await way(60)
    expect(smooth.values, 'values on the way').toEqual(['61'])
    expect(smooth.steps, 'steps of a smooth way').toBeGreaterThan(3)
    await line.shows(60)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const straight = await way(20)
    expect(straight.steps, 'steps with reduced motion').toBeLessThanOrEqual(2)
    await line.shows(20)
  })

  test('the rail is one stop with the role slider (R-CHAT-071)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    await expect(line.rail).toHaveAttribute('aria-valuemin', '1')
    await expect(line.rail).toHaveAttribute('aria-valuemax', '80')
    await expect(line.rail).toHaveAttribute('aria-orientation', 'vertical')
    await expect(line.rail.locator('a, button, [tabindex]')).toHaveCount(0)
    await line.rail.focus()
    await page.keyboard.press('Home')
    await line.shows(0)
    await expect(line.rail).toHaveAttribute('aria-valuetext', /^1 of 80: Question 0: /)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    expect(await line.rail.evaluate((rail) => rail.parentElement!.contains(document.activeElement)), 'a second stop').toBe(false)
    await page.keyboard.press('Shift+Tab')
    await expect(line.rail).toBeFocused()
    await page.keyboard.press('ArrowDown')
    await expect(line.list).toBeVisible()
    await axe(page)
    await page.keyboard.press('Enter')
    await expect(line.entries.first()).toHaveAttribute('aria-setsize', '80')
    await axe(page)
    expect(await page.evaluate(() => document.querySelectorAll('[role=option]').length), 'entries in the page').toBeLessThan(40)
  })

  test('on a telephone the list stays in the page (R-CHAT-067, 068, 072)', async ({ chat, page }) => {
    const line = new Timeline(chat)
    await line.open('Eighty')
    await page.setViewportSize({ width: 390, height: 844 })
    await line.point(10, n)
    await page.mouse.down()
    await page.mouse.up()
    await line.shows(10)
    const box = (await line.list.boundingBox())!
    expect(box.x).toBeGreaterThanOrEqual(0)
    expect(box.x + box.width).toBeLessThanOrEqual(390)
    await fitsNarrow(page)
    await axe(page)
  })
})

test.describe('Chinese', () => {
  test.use({ locale: 'zh-CN', histories: [{ messages: 10, name: 'Five' }] })

  test('it speaks Chinese (R-CHAT-063, 071)', async ({ core, page }) => {
    await rewrite(page, attach)
    await page.goto(await core.url(core.project))
    await page.getByRole('link', { name: 'Five' }).click()
    const rail = page.getByRole('slider', { name: '你的消息' })
    await rail.focus()
    await page.keyboard.press('Home')
    await expect(page.getByRole('listbox', { name: '你的消息' }).getByRole('option')).toHaveText(['图片附件', '2 张图片', 'notes.txt、plan.md', 'Only this.'])
    await expect(rail).toHaveAttribute('aria-valuetext', '第 1 条，共 4 条：图片附件')
  })
})
