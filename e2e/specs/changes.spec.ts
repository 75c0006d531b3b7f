// The File Changes panel (R-CHAT-086, 097…105).

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Locator, Page } from '@playwright/test'

import { axe, Chat, expect, fitsNarrow, test } from '../fixtures.ts'

interface Step {
  call?: string
  status?: string
  title?: string
  parent?: string
  agent?: boolean
  pause?: string
  diffs?: { path: string; oldText?: string; newText?: string; kind?: string }[] | null
}

/** edits is the prompt word for a sequence of calls that edit files. */
const edits = (...steps: Step[]): string => `edits ${Buffer.from(JSON.stringify(steps)).toString('base64')}`

const edit = (path: string, oldText: string | undefined, newText: string | undefined, kind?: string): Step => ({
  title: `Edit ${path}`,
  diffs: [{ path, oldText, newText, kind }],
})

/** The panel in a person's words. */
class Panel {
  readonly dialog: Locator
  readonly files: Locator
  readonly place: Locator

  constructor(readonly page: Page) {
    this.dialog = page.getByRole('dialog', { name: 'File changes in this turn' })
    this.files = this.dialog.getByRole('list', { name: 'Changed files' }).getByRole('listitem')
    this.place = this.dialog.locator('.place')
  }

  /** from opens the panel at a path of a call. */
  async from(chat: Chat, tool: string | RegExp, path: string | RegExp): Promise<void> {
    const row = chat.log.getByRole('button', { name: tool }).last()
    const groups = chat.log.getByRole('button', { name: /^Edit \d+ file/, expanded: false })
    await expect(groups.or(row).last()).toBeVisible()
    while (await groups.first().isVisible()) await groups.first().click()
    if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click()
    await expect(row).toHaveAttribute('aria-expanded', 'true')
    // Its own path, which may come a moment later than the mark that it is open: an older call may name the same one.
    await chat.log.locator('.fold').filter({ has: this.page.getByRole('button', { name: tool }) }).last().getByRole('button', { name: path, exact: true }).last().click()
    await expect(this.dialog).toBeVisible()
  }

  file(name: string | RegExp): Locator {
    return this.files.filter({ has: this.page.getByRole('button', { name }) })
  }

  toggle(name: string | RegExp): Locator {
    return this.dialog.getByRole('button', { name }).and(this.page.locator('[aria-expanded]'))
  }

  /** list tells the files as they stand there: what happened, and the path. */
  async list(): Promise<string[]> {
    return (await this.dialog.locator('.file-toggle').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())
  }

  /** lines tells the drawn lines of a file with their signs. */
  lines(name: string | RegExp): Promise<string[]> {
    return this.file(name)
      .locator('.diff-cell')
      .evaluateAll((cells) =>
        cells.map((cell) => {
          const code = cell.querySelector('.diff-code')!.cloneNode(true) as HTMLElement
          code.querySelector('.visually-hidden')?.remove()
          return (cell.querySelector<HTMLElement>('.diff-sign')!.dataset.text || ' ') + code.textContent!.replace(/\n$/, '')
        }),
      )
  }
}


test('the changed paths of a call lead to the panel, all closed, with the path highlighted (R-CHAT-086, 097, 103)', async ({ chat, page }) => {
  const panel = new Panel(page)
  await chat.begin(
    edits(
      { title: 'Edit three', diffs: [{ path: '/srv/b.ts', oldText: 'b1\n', newText: 'b2\n' }, { path: '/srv/new.ts', newText: 'x\n', kind: 'add' }, { path: '/srv/b.ts', oldText: 'b2\n', newText: 'b3\n' }] },
      edit('/srv/gone.ts', 'old\n', undefined, 'delete'),
      { ...edit('/srv/failed.ts', 'a\n', 'b\n'), status: 'failed' },
    ),
  )
  await chat.ended()
  await panel.from(chat, /Edit three/, '/srv/new.ts')
  await expect(panel.dialog).toContainText('A snapshot of this turn')
  await expect(panel.files).toHaveCount(3)
  expect(await panel.list()).toEqual(['Modified /srv/ b.ts', 'Added /srv/ new.ts', 'Deleted /srv/ gone.ts'])
  for (const name of ['b.ts', 'new.ts', 'gone.ts']) await expect(panel.toggle(name)).toHaveAttribute('aria-expanded', 'false')
  await expect(panel.toggle('new.ts')).toHaveAttribute('aria-current', 'true')
  await expect(panel.toggle('b.ts')).not.toHaveAttribute('aria-current')
  await expect(panel.dialog.locator('.diff-view')).toHaveCount(0)

  await panel.toggle('b.ts').click()
  await expect.poll(() => panel.lines('b.ts')).toEqual(['−b1', '+b3'])
  await panel.toggle('gone.ts').click()
  await expect.poll(() => panel.lines('gone.ts')).toEqual(['−old'])
  await expect(panel.file('gone.ts').locator('.diff-number').first()).toHaveAttribute('data-text', '1')
  await expect(panel.file('b.ts').locator('.diff-number')).toHaveCount(0)
  await panel.toggle('b.ts').click()
  await expect(panel.file('b.ts').locator('.diff-view')).toBeHidden()
  await expect(panel.file('gone.ts').locator('.diff-view')).toBeVisible()
  await expect(panel.dialog.locator('input, textarea, [contenteditable]')).toHaveCount(0)
})

test('a path that the turn took back opens the panel with a note (R-CHAT-086, 102)', async ({ chat, page }) => {
  const panel = new Panel(page)
  await chat.begin(edits(edit('/srv/a.ts', 'a\n', 'b\n'), edit('/srv/a.ts', 'b\n', 'a\n'), edit('/srv/c.ts', 'c\n', 'd\n')))
  await chat.ended()
  await panel.from(chat, /Edit \/srv\/a\.ts/, '/srv/a.ts')
  await expect(panel.dialog.getByRole('note')).toContainText('No net change in this turn')
  await expect(panel.dialog.getByRole('note')).toContainText('What this turn did to /srv/a.ts was undone')
  expect(await panel.list()).toEqual(['Modified /srv/ c.ts'])
})

test('a path of calls that do not count has no net change, and nothing is said to be undone (R-CHAT-086, 098)', async ({ chat, page }) => {
  const panel = new Panel(page)
  await chat.begin(edits({ ...edit('/srv/a.ts', 'a\n', 'b\n'), status: 'failed' }, edit('/srv/c.ts', 'c\n', 'd\n')))
  await chat.ended()
  await panel.from(chat, / \/srv\/a\.ts/, '/srv/a.ts')
  await expect(panel.dialog.getByRole('note')).toContainText('No net change in this turn')
  await expect(panel.dialog.getByRole('note')).toContainText('Calls that failed or did not finish')
  await expect(panel.files).toHaveCount(1)
})

test('a turn that took everything back says so, and is no error (R-CHAT-086)', async ({ chat, page }) => {
  const panel = new Panel(page)
  await chat.begin(edits(edit('/srv/a.ts', undefined, 'a\n', 'add'), edit('/srv/a.ts', 'a\n', undefined, 'delete')))
  await chat.ended()
  await panel.from(chat, / \/srv\/a\.ts/, '/srv/a.ts')
  await expect(panel.dialog.getByRole('note')).toContainText('No net change in this turn')
  await expect(panel.files).toHaveCount(0)
})

/** The cases of R-CHAT-102 as the panel shows them. */
const cases: { name: string; steps: Step[]; list: string[]; lines: string[] }[] = [
  { name: 'add and edit is added', steps: [edit('/p', undefined, 'x\n', 'add'), edit('/p', 'x\n', 'y\n')], list: ['Added / p'], lines: ['+y'] },
  { name: 'edits are joined', steps: [edit('/p', 'a\n', 'b\n'), edit('/p', 'b\n', 'c\n')], list: ['Modified / p'], lines: ['−a', '+c'] },
  { name: 'delete and add again is a change', steps: [edit('/p', 'a\n', undefined, 'delete'), edit('/p', undefined, 'b\n', 'add')], list: ['Modified / p'], lines: ['−a', '+b'] },
  { name: 'an empty file is added', steps: [edit('/p', undefined, '', 'add')], list: ['Added / p'], lines: [] },
  { name: 'a text emptied by an update is changed', steps: [edit('/p', 'a\n', '', 'update')], list: ['Modified / p'], lines: ['−a'] },
  { name: 'fragments are two hunks', steps: [edit('/p', 'p\n', 'q\n'), edit('/p', 'r\n', 's\n')], list: ['Modified / p'], lines: ['−p', '+q', '−r', '+s'] },
  { name: 'a fragment within a written file widens nothing', steps: [edit('/p', 'one\ntwo\n', 'one\n2\n'), edit('/p', '2', 'zwei')], list: ['Modified / p'], lines: [' one', '−two', '+zwei'] },
  { name: 'a failed edit does not count', steps: [edit('/p', 'a\n', 'b\n'), { ...edit('/p', 'b\n', 'c\n'), status: 'failed' }], list: ['Modified / p'], lines: ['−a', '+b'] },
  {
    name: 'only the last set of diffs of a call counts',
    steps: [{ call: 'x', ...edit('/p', 'a\n', 'b\n') }, { call: 'x', ...edit('/p', 'a\n', 'z\n'), status: 'completed' }],
    list: ['Modified / p'],
    lines: ['−a', '+z'],
  },
  { name: 'a move is two entries', steps: [edit('/p', 'a\n', undefined, 'delete'), edit('/q', undefined, 'a\n', 'add')], list: ['Deleted / p', 'Added / q'], lines: ['−a'] },
  { name: 'case tells paths apart', steps: [edit('/p', 'a\n', 'b\n'), edit('/P', 'c\n', 'd\n')], list: ['Modified / p', 'Modified / P'], lines: ['−a', '+b'] },
]

test('the net change of each sequence is what the panel lists and shows (R-CHAT-098, 102, 105)', async ({ chat, page }) => {
  test.setTimeout(120_000)
  const panel = new Panel(page)
  await chat.begin('echo Begin.')
  await expect(chat.log.getByText('Begin.', { exact: true })).toBeVisible()
  await chat.ended()
  for (const c of cases) {
    await chat.say(`${edits({ title: `Case ${c.name}`, diffs: [{ path: '/other', oldText: 'x', newText: 'y' }] }, ...c.steps)}; echo That was: ${c.name}.`)
    await expect(chat.log.getByText(`That was: ${c.name}.`, { exact: true })).toBeVisible()
    await chat.ended()
    await panel.from(chat, `Case ${c.name}`, '/other')
    await expect(panel.files.first(), c.name).toBeVisible()
    expect(await panel.list(), c.name).toEqual(['Modified / other', ...c.list])
    const item = panel.dialog.getByRole('listitem').nth(1)
    await item.locator('.file-toggle').click()
    await expect(item.locator('.diff-view'), c.name).toBeVisible()
    const lines = await item.locator('.diff-cell').evaluateAll((cells) => cells.map((cell) => (cell.querySelector<HTMLElement>('.diff-sign')!.dataset.text || ' ') + [...cell.querySelector('.diff-code')!.childNodes].filter((n) => !(n instanceof HTMLElement && n.className === 'visually-hidden')).map((n) => n.textContent).join('').trim()))
    expect(lines, c.name).toEqual(c.lines)
    await page.keyboard.press('Escape')
    await expect(panel.dialog).toHaveCount(0)
  }
})

test('fragments are separate hunks without line numbers (R-CHAT-105)', async ({ chat, page }) => {
  const panel = new Panel(page)
  await chat.begin(edits(edit('/srv/a.ts', 'p\n', 'q\n'), edit('/srv/a.ts', 'r\n', 's\n')))
  await chat.ended()
  await panel.from(chat, /Edit \/srv\/a\.ts/, '/srv/a.ts')
  await panel.toggle('a.ts').click()
  await expect(panel.file('a.ts').locator('.diff-note')).toHaveText(['Change 1 of 2, place in the file unknown', 'Change 2 of 2, place in the file unknown'])
  await expect(panel.file('a.ts').locator('.diff-number')).toHaveCount(0)
})

test('while the turn streams, list and open files follow, and nothing else moves (R-CHAT-098, 104)', async ({ chat, page }) => {
  const panel = new Panel(page)
  const step = (call: string, path: string, newText: string, more: Partial<Step> = {}): Step => ({
    call, title: `Edit ${path}`, diffs: [{ path, oldText: 'old\n', newText }], ...more,
  })
  // Each pause is ended by the test, which answers a permission request of the script.
  const phase = (...steps: Step[]): string => `${edits(...steps)}; permission`
  await chat.begin(
    [
      phase(step('a', '/srv/a.ts', 'one\n'), step('b', '/srv/b.ts', 'b\n'), step('gone', '/srv/gone.ts', 'x\n')),
      phase(step('a', '/srv/a.ts', 'one\ntwo\n'), step('c', '/srv/c.ts', 'c\n'), { call: 'gone', diffs: [] }),
      edits({ call: 'b', status: 'failed' }, { call: 'a', status: 'completed' }, { call: 'c', status: 'completed' }),
    ].join('; '),
  )
  const allow = chat.log.getByRole('button', { name: 'Allow once' })
  await expect(allow).toBeVisible()
  await panel.from(chat, /Edit \/srv\/a\.ts/, '/srv/a.ts')
  await expect(panel.dialog).toContainText('Updates while the turn runs')
  await expect.poll(() => panel.list()).toEqual(['Modified /srv/ a.ts', 'Modified /srv/ b.ts', 'Modified /srv/ gone.ts'])
  await panel.toggle('a.ts').click()
  await panel.toggle('gone.ts').click()
  await expect.poll(() => panel.lines('a.ts')).toEqual(['−old', '+one'])
  await panel.file('a.ts').locator('.diff-view').evaluate((el) => Object.assign(window, { kept: el, flashed: 0, watching: new MutationObserver(() => {
    if (!el.isConnected || el.clientHeight === 0) Object.assign(window, { flashed: 1 })
  }).observe(document.body, { childList: true, subtree: true }) }))

  await allow.evaluate((el: HTMLElement) => el.click()) // behind the panel
  await expect.poll(() => panel.list()).toEqual(['Modified /srv/ a.ts', 'Modified /srv/ b.ts', 'Modified /srv/ c.ts'])
  await expect.poll(() => panel.lines('a.ts')).toEqual(['−old', '+one', '+two'])
  expect(await panel.file('a.ts').locator('.diff-view').evaluate((el) => el === (window as unknown as { kept: Element }).kept)).toBe(true)
  expect(await page.evaluate(() => (window as unknown as { flashed: number }).flashed)).toBe(0)
  await expect(panel.toggle('a.ts')).toHaveAttribute('aria-expanded', 'true')
  await expect(panel.toggle('c.ts')).toHaveAttribute('aria-expanded', 'false')
  await expect(panel.toggle('gone.ts')).toHaveCount(0)

  await allow.evaluate((el: HTMLElement) => el.click())
  await expect.poll(() => panel.list()).toEqual(['Modified /srv/ a.ts', 'Modified /srv/ c.ts'])
  await expect(panel.dialog).not.toContainText('Updates while the turn runs')
  const live = { list: await panel.list(), lines: await panel.lines('a.ts') }

  await page.reload()
  await panel.from(chat, /Edit \/srv\/a\.ts/, '/srv/a.ts')
  await panel.toggle('a.ts').click()
  await expect.poll(() => panel.lines('a.ts')).toEqual(live.lines)
  expect(await panel.list(), 'old history gives the same view').toEqual(live.list)
})

test('what is read stays where it is when a file above it changes (R-CHAT-104)', async ({ chat, page }) => {
  const panel = new Panel(page)
  const text = (lines: number): string => Array.from({ length: lines }, (_, i) => `line ${i}\n`).join('')
  const step = (call: string, newText: string): Step => ({ call, title: `Edit ${call}`, diffs: [{ path: `/srv/${call}.ts`, oldText: 'old\n', newText }] })
  await chat.begin(`${edits(step('a', text(5)), step('b', text(200)))}; permission; ${edits({ ...step('a', text(45)), status: 'completed' }, { call: 'b', status: 'completed' })}`)
  const allow = chat.log.getByRole('button', { name: 'Allow once' })
  await expect(allow).toBeVisible()
  await panel.from(chat, 'Edit b', '/srv/b.ts')
  await panel.dialog.getByRole('button', { name: 'Open all' }).click()
  await expect.poll(async () => (await panel.lines('b.ts')).length).toBe(201)
  const line = panel.file('b.ts').locator('[data-row="150"]')
  await line.evaluate((el) => el.scrollIntoView({ block: 'center' }))
  const before = (await line.boundingBox())!.y
  await allow.evaluate((el: HTMLElement) => el.click())
  await expect.poll(async () => (await panel.lines('a.ts')).length).toBe(46)
  expect(Math.abs((await line.boundingBox())!.y - before)).toBeLessThan(2)
})

test('by keyboard alone: open, go from change to change, close, and be where one was (R-CHAT-103, 104)', async ({ chat, page }) => {
  const panel = new Panel(page)
  const text = (mark: string): string => Array.from({ length: 60 }, (_, i) => (i % 20 === 10 ? `${mark} ${i}` : `line ${i}`)).join('\n')
  await chat.begin(edits(edit('/srv/a.ts', text('old'), text('new')), edit('/srv/b.ts', 'x\n', 'y\n')))
  await chat.ended()
  for (const name of [/^Edit 2 files/, /Edit \/srv\/a\.ts/]) {
    await chat.log.getByRole('button', { name }).focus()
    await page.keyboard.press('Enter')
  }
  const opener = chat.log.getByRole('button', { name: '/srv/a.ts', exact: true })
  await opener.focus()
  await page.keyboard.press('Enter')
  await expect(panel.toggle('a.ts'), 'the keyboard begins at the file').toBeFocused()
  await page.keyboard.press('Enter')
  await expect(panel.file('a.ts').locator('.diff-row').first()).toBeVisible()
  await expect(panel.dialog.getByRole('button', { name: 'Next change (N)' })).toBeEnabled()
  const seen: string[] = []
  for (const key of ['n', 'n', 'Alt+ArrowDown', 'n', 'p', 'Alt+ArrowUp']) {
    await page.keyboard.press(key)
    seen.push(await panel.place.innerText())
    await expect(panel.dialog.locator('.diff-row.current')).toBeInViewport()
  }
  expect(seen).toEqual(['1 of 3', '2 of 3', '3 of 3', '1 of 3', '3 of 3', '2 of 3'])
  await expect(panel.dialog.getByRole('status').last()).toHaveText('Change 2 of 3, a.ts')

  await panel.dialog.getByRole('button', { name: 'Open all' }).press('Enter')
  await expect.poll(() => panel.lines('b.ts')).toEqual(['−x', '+y'])
  await page.keyboard.press('n')
  await page.keyboard.press('n')
  await expect(panel.place).toHaveText('4 of 4')
  await panel.file('a.ts').getByRole('button', { name: /^Show \d+ unchanged lines/ }).first().press('Enter')
  await expect(panel.file('a.ts').locator('.diff-view'), 'the keyboard stays in the view').toBeFocused()
  await expect.poll(() => panel.lines('a.ts')).toContain(' line 0')
  await panel.dialog.getByRole('button', { name: 'Close all' }).press('Enter')
  await expect(panel.dialog.getByRole('button', { name: 'Next change (N)' })).toBeDisabled()
  await page.keyboard.press('Escape')
  await expect(panel.dialog).toHaveCount(0)
  await expect(opener).toBeFocused()
})

test('closing frees the worker and the views (R-CHAT-104)', async ({ chat, page }) => {
  const panel = new Panel(page)
  await chat.begin('bigdiff 3000 30')
  await chat.ended()
  await panel.from(chat, /Edit big\.txt/, /^\/.*big\.txt$/)
  await panel.toggle('big.txt').click()
  await expect(panel.file('big.txt').locator('.diff-row').first()).toBeVisible()
  expect(page.workers().filter((w) => w.url().includes('diff.worker'))).toHaveLength(1)
  await page.keyboard.press('Escape')
  await expect.poll(() => page.workers().filter((w) => w.url().includes('diff.worker')).length).toBe(0)
  await expect(page.locator('.diff-row')).toHaveCount(0)
})

for (const [what, word, file, changed] of [
  ['500 scattered edits', 'bigdiff 50000 500', 'big.txt', '+500−500'],
  ['every line rewritten', 'bigdiff 50000 all', 'rewritten.txt', '+50000−50000'],
] as const) {
  test(`a file of 50,000 lines with ${what} opens, scrolls and folds in few elements`, async ({ chat, page }) => {
    const panel = new Panel(page)
    await chat.begin(word)
    await chat.ended()
    await panel.from(chat, `Edit ${file}`, new RegExp(`^/.*${file}$`))
    await panel.toggle(file).click()
    const item = panel.file(file)
    await expect(item.locator('.diff-row').first()).toBeVisible()
    expect((await item.locator('.file-lines [aria-hidden]').allInnerTexts()).join('')).toBe(changed)
    await page.keyboard.press('n')
    await page.keyboard.press('p') // from the first change to the last
    await page.keyboard.press('p')
    await expect(panel.dialog.locator('.diff-row.current')).toBeInViewport()
    await panel.dialog.getByRole('button', { name: 'Side by side' }).click()
    await expect(item.locator('.diff-pane')).toHaveCount(2)
    await panel.dialog.locator('.slideover-body').evaluate((el) => (el.scrollTop = el.scrollHeight))
    await expect.poll(() => item.locator('.diff-row').last().evaluate((el) => Number(el.dataset.row))).toBeGreaterThan(1000)
    if (word.endsWith('500')) {
      await item.getByRole('button', { name: /^Show \d+ unchanged lines/ }).last().click()
      const end = item.getByRole('group', { name: 'Before' }).getByText('line 49999 of the file as it was', { exact: true })
      await expect(async () => {
        await panel.dialog.locator('.slideover-body').evaluate((el) => (el.scrollTop = el.scrollHeight))
        await expect(end).toBeInViewport({ timeout: 500 })
      }).toPass()
    }
    expect(await page.evaluate(() => document.querySelectorAll('*').length), 'elements in the page').toBeLessThanOrEqual(3000)
  })
}

test('what is copied is the code: no signs, no numbers, one side of two, and what nobody sees too', async ({ chat, context, page }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const panel = new Panel(page)
  const added = 'first\n\n\tindented\nbidi \u202E\u2066here\u200B\nlast\n'
  await chat.begin(edits(edit('/srv/new.ts', undefined, added, 'add'), edit('/srv/b.ts', 'one\ntwo\nthree\n', 'one\n2\nthree\n')))
  await chat.ended()
  await panel.from(chat, / \/srv\/b\.ts/, '/srv/b.ts')
  await panel.dialog.getByRole('button', { name: 'Open all' }).click()
  const copied = async (from: Locator, to: Locator): Promise<string> => {
    const [a, b] = [(await from.boundingBox())!, (await to.boundingBox())!]
    await page.mouse.move(a.x + 1, a.y + 4)
    await page.mouse.down()
    await page.mouse.move(b.x + b.width - 4, b.y + b.height - 4, { steps: 5 })
    await page.mouse.up()
    await page.keyboard.press('ControlOrMeta+c')
    return page.evaluate(() => navigator.clipboard.readText())
  }
  const code = (name: string, side = ''): Locator => panel.file(name).locator(`${side} .diff-code`)
  await expect(code('new.ts')).toHaveCount(5)
  expect((await copied(code('new.ts').first(), code('new.ts').last())).trimEnd()).toBe(added.trimEnd())
  expect((await copied(code('b.ts').first(), code('b.ts').last())).trimEnd()).toBe('one\ntwo\n2\nthree')
  await panel.dialog.getByRole('button', { name: 'Side by side' }).click()
  const next = code('b.ts', '.diff-cell[data-side="next"]')
  expect((await copied(next.first(), next.last())).trimEnd()).toBe('one\n2\nthree')
})

const evil = '<img src=x onerror="document.title=`pwned`">'

test('hostile paths and contents are text, visible and in their place (R-CHAT-132)', async ({ chat, page }) => {
  const panel = new Panel(page)
  const paths = [`/srv/${evil}.ts`, '/srv/\u202Egnp.exe', `/srv/${'long'.repeat(300)}.txt`, '/srv/\u001B[31mred.txt', '/srv/\u05E9\u05DC\u05D5\u05DD/\u05E7.ts']
  const content = `${evil}\nif (admin\u202E \u2066// check\u2069) {\n\u001B[31mred\u001B[0m\nover\rwritten\n${'x'.repeat(2000)}\n${'中'.repeat(1000)}\n`
  await chat.begin(edits(...paths.map((path) => ({ title: 'Edit it', diffs: [{ path, oldText: 'a\n', newText: content }] }))))
  await chat.ended()
  await panel.from(chat, /Edit it/, paths.at(-1)!)
  await expect(panel.files).toHaveCount(paths.length)
  const shown = await panel.dialog.locator('.file-toggle').evaluateAll((all) => all.map((el) => el.getAttribute('title')!))
  for (const path of shown) expect(path).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u0000-\u001F]/)
  expect(shown[1]).toBe('/srv/⟨U+202E⟩gnp.exe')
  await panel.dialog.getByRole('button', { name: 'Open all' }).click()
  await expect.poll(() => panel.lines(/gnp\.exe/)).toHaveLength(7)
  const names = await panel.file(/gnp\.exe/).locator('.diff-hidden').evaluateAll((all) => all.map((el) => (el as HTMLElement).dataset.text))
  expect(names).toEqual(['⟨U+202E⟩', '⟨U+2066⟩', '⟨U+2069⟩', '⟨U+001B⟩', '⟨U+001B⟩', '⟨U+000D⟩'])
  const order = await panel.file(/gnp\.exe/).locator('.diff-code', { hasText: 'admin' }).evaluate((code) => {
    const range = document.createRange()
    const x = (text: string): number => {
      const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
      for (let n = walker.nextNode(); n; n = walker.nextNode()) {
        const at = n.nodeValue!.indexOf(text)
        if (at < 0) continue
        range.setStart(n, at)
        range.setEnd(n, at + text.length)
        return range.getBoundingClientRect().left
      }
      return -1
    }
    return ['if (', 'admin', 'check', ') {'].map(x)
  })
  expect(order, 'reads from left to right').toEqual([...order].sort((a, b) => a - b))
  expect(await page.title()).not.toContain('pwned')
  await expect(page.locator('.slideover img')).toHaveCount(0)
  await axe(page)
  await fitsNarrow(page)
  await page.setViewportSize({ width: 390, height: 844 })
  const out = await panel.dialog.evaluate((el) => [...el.querySelectorAll('*')].filter((x) => x.getBoundingClientRect().right > window.innerWidth + 1).map((x) => x.className))
  expect(out, 'what stands out of the page at 390 px').toEqual([])
})

test('line endings and a missing newline are told, never shown as lines that look the same', async ({ chat, page }) => {
  const panel = new Panel(page)
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`)
  await chat.begin(
    edits(
      edit('/srv/few.txt', 'a\nb\n', 'a\r\nb\n'),
      edit('/srv/many.txt', lines.join('\n'), lines.map((l, i) => (i === 20 ? 'edited' : l)).join('\r\n')),
      edit('/srv/end.txt', 'x\ny', 'x\ny\n'),
      edit('/srv/none.txt', 'x\ny', 'x\nz'),
    ),
  )
  await chat.ended()
  await panel.from(chat, / \/srv\/few\.txt/, '/srv/few.txt')
  await panel.dialog.getByRole('button', { name: 'Open all' }).click()
  const chips = (name: string): Promise<string[]> => panel.file(name).locator('.diff-chip').evaluateAll((all) => all.map((el) => (el as HTMLElement).dataset.text!))
  await expect.poll(() => panel.lines('few.txt')).toEqual(['±a', ' b'])
  expect(await chips('few.txt')).toEqual(['LF → CRLF'])
  await expect.poll(() => panel.lines('many.txt')).toEqual(['−line 20', '+edited', ' line 29'])
  await expect(panel.file('many.txt').getByRole('button', { name: 'Only the line endings changed in 20 lines' })).toBeVisible()
  expect(await chips('many.txt')).toEqual(['LF', 'CRLF', 'No newline at end of file'])
  await expect.poll(() => chips('end.txt')).toEqual(['no newline → LF'])
  await expect.poll(() => chips('none.txt')).toEqual(['No newline at end of file', 'No newline at end of file'])
})

test('failures say what happened and can be tried again', async ({ chat, core, page, watch }) => {
  watch.allow(/ERR_FAILED|status of 500/)
  const panel = new Panel(page)
  const id = await chat.begin(edits(edit('/srv/a.ts', 'a\n', 'b\n'), edit('/srv/b.ts', 'a\n', 'b\n')))
  await chat.ended()
  // Nothing changes any more, which would have the panel ask again by itself, and nothing was asked before.
  await expect.poll(async () => (await core.messages(id)).at(-1)?.role).toBe('assistant')
  await page.route('**/changes', (route) => route.abort())
  await page.reload()
  await panel.from(chat, / \/srv\/a\.ts/, '/srv/a.ts')
  await expect(panel.dialog.getByRole('alert')).toContainText('The file changes could not be loaded')
  await page.unroute('**/changes')
  await panel.dialog.getByRole('button', { name: 'Retry' }).click()
  await expect(panel.files).toHaveCount(2)

  await page.route('**/changes/file?*', (route) => route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'The disk is on fire' } } }))
  await panel.toggle('a.ts').click()
  await expect(panel.file('a.ts').getByRole('alert')).toContainText('This change could not be loaded: The disk is on fire')
  await page.unroute('**/changes/file?*')
  await panel.file('a.ts').getByRole('button', { name: 'Retry' }).click()
  await expect.poll(() => panel.lines('a.ts')).toEqual(['−a', '+b'])

  await page.route('**/changes', async (route) => {
    const answer = await route.fetch()
    const list = (await answer.json()) as { changes: { path: string; problem?: unknown }[] }
    list.changes[1]!.problem = { code: 'DAMAGED', message: 'Its text is gone' }
    await route.fulfill({ response: answer, json: list })
  })
  await page.reload()
  await panel.from(chat, / \/srv\/a\.ts/, '/srv/a.ts')
  await panel.toggle('b.ts').click()
  await expect(panel.file('b.ts')).toContainText('This change cannot be shown: Its text is gone')
})

test('side by side is remembered, and a narrow page has one side only', async ({ chat, page }) => {
  const panel = new Panel(page)
  await chat.begin(edits(edit('/srv/a.ts', 'one\ntwo\n', 'one\n2\n')))
  await chat.ended()
  await panel.from(chat, / \/srv\/a\.ts/, '/srv/a.ts')
  await panel.toggle('a.ts').click()
  await panel.dialog.getByRole('button', { name: 'Side by side' }).click()
  await expect(panel.file('a.ts').locator('.diff-cell')).toHaveCount(4)
  await axe(page)
  await page.reload()
  await panel.from(chat, / \/srv\/a\.ts/, '/srv/a.ts')
  await panel.toggle('a.ts').click()
  await expect(panel.file('a.ts').locator('.diff-cell')).toHaveCount(4)
  await fitsNarrow(page)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(panel.dialog.getByRole('button', { name: 'Side by side' })).toHaveCount(0)
  await expect.poll(() => panel.lines('a.ts')).toEqual([' one', '−two', '+2'])
})

test('a hundred files open at once, drawn as they come into sight', async ({ chat, page }) => {
  const panel = new Panel(page)
  const text = (mark: string, i: number): string => Array.from({ length: 60 }, (_, n) => `${mark} ${i} ${n}`).join('\n')
  await chat.begin(edits({ title: 'Edit many', diffs: Array.from({ length: 100 }, (_, i) => ({ path: `/srv/file-${i}.ts`, oldText: text('old', i), newText: text('new', i) })) }))
  await chat.ended()
  await panel.from(chat, 'Edit many', '/srv/file-49.ts')
  await expect(panel.toggle('file-49.ts')).toBeInViewport()
  await panel.dialog.getByRole('button', { name: 'Open all' }).click()
  await expect(panel.dialog.locator('.file-lines')).toHaveCount(100)
  await page.keyboard.press('n')
  await expect(panel.place).toHaveText(/ of 100$/)
  await expect(panel.dialog.locator('.diff-row.current')).toBeInViewport()
  expect(await panel.dialog.locator('.diff-view').count()).toBeLessThan(30)
})

test.describe('Tour', () => {
  test.use({ agents: {} })

  test('a request for permission shows the change by the same comparison (decision 1)', async ({ chat, core, page }) => {
    writeFileSync(join(core.project, 'TOUR.md'), 'The first line\n')
    await chat.begin('edit')
    const ask = chat.log.getByRole('region', { name: /The Agent asks for permission/ })
    await expect(ask.locator('.diff-view')).toBeVisible()
    await expect(ask.locator('.diff-cell.add .diff-code').first()).toContainText('added: ')
    await axe(page)
    await fitsNarrow(page)
    await ask.getByRole('button', { name: 'Do not allow' }).click()
    await chat.ended()
    await expect.poll(() => page.workers().filter((w) => w.url().includes('diff.worker')).length).toBe(0)
  })
})

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('the panel speaks Chinese: 新增, 修改, 删除 (R-CHAT-086, 102)', async ({ core, page }) => {
    const chat = new Chat(page)
    await page.goto(await core.url(core.project))
    await expect(page.locator('.draft-state')).toContainText('Scripted')
    await page.getByRole('textbox').fill(edits(edit('/srv/a.ts', 'a\n', 'b\n'), edit('/srv/n.ts', undefined, 'n\n', 'add'), edit('/srv/o.ts', 'o\n', undefined, 'delete'), edit('/srv/z.ts', '1', '2'), edit('/srv/z.ts', '2', '1')))
    await page.getByRole('textbox').press('Enter')
    await chat.log.getByRole('button', { name: '编辑 5 个文件' }).click()
    await chat.log.getByRole('button', { name: /\/srv\/z\.ts/ }).last().click()
    await chat.log.getByRole('button', { name: '/srv/z.ts', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: '本轮文件变更' })
    await expect(dialog.getByRole('note')).toContainText('本轮无净变更')
    await expect(dialog.locator('.file-kind')).toHaveText(['修改', '新增', '删除'])
  })
})
