import type { Locator } from '@playwright/test'

import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

/** One tool call, or one update, as words of the scripted Agent. */
const call = (fields: object): string => `tool64 ${Buffer.from(JSON.stringify(fields)).toString('base64')}`
const update = (fields: object): string => `update64 ${Buffer.from(JSON.stringify(fields)).toString('base64')}`

/** The heads of thoughts, calls and groups below an element. */
const heads = (within: Locator): Locator => within.locator('button.fold-head')
const icon = (head: Locator): Promise<string | null> => head.locator('svg path').first().getAttribute('d')

test('thoughts and calls in a row are one closed line that counts them; text, a lone one and the end of the message break (R-CHAT-077, 078, 080)', async ({ chat, page }) => {
  await chat.begin('think; tool; failtool; tool; echo Now the change.; diff; echo One more.; tools 12 10')
  await chat.ended()
  await expect(heads(chat.log)).toHaveText(['Think 1 time, Read 2 files, Run 1 command', 'Edit /project/main.go', 'Run 12 commands'])
  for (const head of await heads(chat.log).all()) await expect(head).toHaveAttribute('aria-expanded', 'false')
  await expect(chat.log.locator('.fold-head, .md')).toHaveText([/^Think 1/, 'Now the change.', /^Edit/, 'One more.', 'Run 12 commands'])
  await chat.say('tool of the next answer; think')
  await expect(heads(chat.log)).toHaveCount(4)
  const live = await heads(chat.log).allInnerTexts()
  await page.reload()
  await expect(heads(chat.log)).toHaveText(live)
})

test('blank texts and empty thoughts stand between calls as if they were not there (R-CHAT-078)', async ({ chat }) => {
  const blank = (sessionUpdate: string) => update({ sessionUpdate, content: { type: 'text', text: '\n \n' }, messageId: sessionUpdate })
  await chat.begin(`tool; ${blank('agent_message_chunk')}; tool; ${blank('agent_thought_chunk')}; plan; tool; echo end`)
  await chat.ended()
  await expect(heads(chat.log)).toHaveText(['Read 3 files'])
})

test('a group opened by keyboard stays open as items come, and its lines stay closed (R-CHAT-079, 081)', async ({ chat, page }) => {
  const start = (toolCallId: string, kind: string) => update({ sessionUpdate: 'tool_call', toolCallId, title: toolCallId, kind, status: 'in_progress' })
  const end = (toolCallId: string) => update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
  await chat.begin(`think; ${start('first', 'edit')}; ${start('second', 'fetch')}; ${end('first')}; permission; ${end('second')}; hang`)
  const group = heads(chat.log).first()
  await expect(group).toHaveText('Think 1 time, Edit 1 file, Fetch 1 resource, Run 1 command')
  await expect(group).toHaveAttribute('aria-expanded', 'false')
  await expect(group.locator('.shimmer')).toHaveCount(1)
  await expect(heads(chat.log)).toHaveCount(1)

  await group.focus()
  await page.keyboard.press('Enter')
  await expect(heads(chat.log)).toHaveText([/^Think 1/, 'Looking around', 'first', 'second', 'Run rm -rf build'])
  for (const head of (await heads(chat.log).all()).slice(1)) await expect(head).toHaveAttribute('aria-expanded', 'false')
  // The last working tool gives the icon: the one that asks.
  expect(await icon(group)).toBe(await icon(chat.log.getByRole('button', { name: 'Run: Run rm -rf build' })))
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.log.getByText('permission: selected allow')).toBeVisible()
  await expect(group).toHaveAttribute('aria-expanded', 'true')
  await expect(heads(chat.log)).toHaveCount(5)
  // Nothing works any more: the last tool's icon, and no shimmer.
  await expect(group.locator('.shimmer')).toHaveCount(0)
  await chat.stop.click()
  await chat.ended()
})

test('a line that becomes a group keeps focus and stays open with it (R-CHAT-079)', async ({ chat, page }) => {
  await chat.begin('tool; sleep 4s; think; failtool; hang')
  const head = heads(chat.log).first()
  await expect(head).toHaveText('Read main.go')
  await head.focus()
  await page.keyboard.press('Enter')
  await expect(chat.log.getByText('package main')).toBeVisible()
  await expect(head).toHaveText('Read 1 file, Think 1 time, Run 1 command')
  await expect(head).toBeFocused()
  await expect(head).toHaveAttribute('aria-expanded', 'true')
  await expect(chat.log.getByText('package main')).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(heads(chat.log)).toHaveCount(1)
  await chat.stop.click()
  await chat.ended()
})

test('a request of a grouped call is answered below its closed group (R-CHAT-079, decision 1)', async ({ chat }) => {
  await chat.begin('think; tool; permission two')
  const group = heads(chat.log).first()
  await expect(group).toHaveText('Think 1 time, Read 1 file, Run 2 commands')
  await expect(group).toHaveAttribute('aria-expanded', 'false')
  const asks = chat.log.getByRole('region', { name: /permission/ })
  await expect(asks).toHaveCount(2)
  await asks.first().getByRole('button', { name: 'Allow once' }).click()
  await expect(asks).toHaveCount(1)
  await group.click()
  await expect(asks).toHaveCount(1)
  await asks.getByRole('button', { name: 'Reject' }).click()
  await expect(asks).toHaveCount(0)
  await expect(chat.log.getByText('You chose “Allow once”')).toBeVisible()
  await expect(chat.log.getByText('You chose “Reject”')).toBeVisible()
})

test('a long group scrolls inside itself, mounts little, and is read by keyboard (R-CHAT-079)', async ({ chat, page }) => {
  await chat.begin('tools 400 10; echo end')
  await chat.ended()
  const group = heads(chat.log).first()
  await expect(group).toHaveText('Run 400 commands')
  const rows = await chat.log.locator('.row').count()
  await group.click()
  const list = chat.log.getByRole('group', { name: 'Run 400 commands' })
  await expect(list.getByRole('button', { name: 'Run: Tool 0', exact: true })).toBeVisible()
  expect(await heads(list).count()).toBeLessThan(80)
  expect(await chat.log.locator('.row').count()).toBe(rows)
  expect((await list.boundingBox())!.height).toBeLessThanOrEqual(0.61 * page.viewportSize()!.height)
  await list.focus()
  await page.keyboard.press('End')
  await expect(list.getByRole('button', { name: 'Run: Tool 399', exact: true })).toBeVisible()
  expect(await heads(list).count()).toBeLessThan(80)
  await list.getByRole('button', { name: 'Run: Tool 398', exact: true }).focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(list.getByText('oooooooooo', { exact: true })).toBeVisible()
  // It is where it was when it is opened again.
  await group.click()
  await expect(list).toHaveCount(0)
  await group.click()
  await expect(list.getByRole('button', { name: 'Run: Tool 399', exact: true })).toBeVisible()
  // Up again, past what was not mounted.
  await list.focus()
  await page.keyboard.press('Home')
  await expect(list.getByRole('button', { name: 'Run: Tool 0', exact: true })).toBeVisible()
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab')
    await expect(list.getByRole('button', { name: `Run: Tool ${i}`, exact: true })).toBeFocused()
  }
  await axe(page)
  await fitsNarrow(page)
})

test('a failed call has an error icon and its text under Error; its title stands alone, and its group keeps its colour (R-CHAT-081, 083)', async ({ chat, page }) => {
  await chat.begin(`failtool; ${call({ title: 'Say nothing', kind: 'fetch', status: 'failed' })}; ${call({ title: 'Both', kind: 'read', status: 'failed', output: 'what went wrong' })}; echo end`)
  await chat.ended()
  const group = heads(chat.log).first()
  await group.click()
  await expect(heads(chat.log)).toHaveText([/^Run 1 command, Fetch 1 resource, Read 1 file$/, 'Run tests', 'Say nothing', 'Both'])
  const colour = (head: Locator) => head.locator('svg').first().evaluate((el) => getComputedStyle(el).stroke)
  const run = chat.log.getByRole('button', { name: 'Run, failed: Run tests' })
  expect(await colour(run)).not.toBe(await colour(group))
  await expect(run.locator('svg')).toHaveCount(3) // kind, failure, chevron: not by colour alone
  await run.click()
  await expect(chat.log.getByRole('heading', { level: 4 })).toHaveText(['Input', 'Error'])
  await expect(chat.log.locator('pre').last()).toHaveText('exit status 2')
  await run.click()
  await chat.log.getByRole('button', { name: 'Say nothing' }).click()
  await expect(chat.log.getByText('The tool failed without a message.')).toBeVisible()
  await chat.log.getByRole('button', { name: 'Both' }).click()
  await expect(chat.log.getByRole('heading', { name: 'Output' })).toHaveCount(0)
  await expect(chat.log.getByText('what went wrong')).toHaveCount(1)
  await axe(page)
})

test('sections show what there is, as it is, in a bounded height, and nothing else (R-CHAT-082)', async ({ chat, page }) => {
  const long = Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\n')
  const whole = { title: 'Whole', kind: 'execute', rawInput: { a: [1, { b: 'c' }] }, output: long }
  await chat.begin(`${call(whole)}; echo a; ${call({ title: 'Text', kind: 'search', rawInput: '  as it is\n\tand on', output: '' })}; echo b; ${call({ title: 'Bare', kind: 'move' })}; echo end`)
  await chat.ended()
  const first = chat.log.getByRole('button', { name: 'Run: Whole' })
  await first.click()
  await expect(chat.log.getByRole('heading', { level: 4 })).toHaveText(['Input', 'Output'])
  const [input, output] = [chat.log.locator('pre').first(), chat.log.locator('pre').last()]
  expect(await input!.textContent()).toBe(JSON.stringify(whole.rawInput, null, 2))
  await expect.poll(() => output!.textContent()).toBe(long)
  expect((await output!.boundingBox())!.height).toBeLessThan(500)
  await output!.focus()
  await page.keyboard.press('End')
  await expect(output!.getByText('line 299')).toBeInViewport()
  await first.click()
  await chat.log.getByRole('button', { name: 'Search: Text' }).click()
  await expect(chat.log.getByRole('heading', { level: 4 })).toHaveText(['Input'])
  expect(await chat.log.locator('pre').textContent()).toBe('  as it is\n\tand on')
  await chat.log.getByRole('button', { name: 'Search: Text' }).click()
  await chat.log.getByRole('button', { name: 'Move: Bare' }).click()
  await expect(chat.log.getByRole('heading', { level: 4 })).toHaveCount(0)
  await expect(chat.log.getByText('The Agent sent no details.')).toBeVisible()
})

test('what a call prints shows while it runs and gives way to its final output (R-CHAT-084)', async ({ chat }) => {
  const content = (text: string) => [{ type: 'content', content: { type: 'text', text } }]
  const live = update({ sessionUpdate: 'tool_call', toolCallId: 'build', title: 'Build', kind: 'execute', status: 'in_progress', rawInput: { command: 'make' }, content: content('compiling…') })
  const final = update({ sessionUpdate: 'tool_call_update', toolCallId: 'build', status: 'completed', content: content('compiled') })
  await chat.begin(`${live}; echo so far; permission; ${final}`)
  const head = chat.log.getByRole('button', { name: 'Run: Build' })
  await expect(head.locator('.shimmer')).toHaveCount(1)
  await head.click()
  await expect(chat.log.getByRole('heading', { name: 'Output' })).toBeVisible()
  await expect(chat.log.locator('pre').last()).toHaveText('compiling…')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.log.locator('pre').last()).toHaveText('compiled')
  await expect(head.locator('.shimmer')).toHaveCount(0)
})

test('titles, paths, input and output without a break do not widen the page (R-CHAT-085)', async ({ chat, page }) => {
  const wide = 'x'.repeat(2000)
  const tool = {
    title: `T${wide}`, kind: 'edit', rawInput: { [wide]: wide }, locations: [{ path: `/p/${wide}`, line: 7 }],
    content: [{ type: 'content', content: { type: 'text', text: wide } }, { type: 'diff', path: `/d/${wide}`, oldText: 'a', newText: 'b' }],
  }
  await chat.begin(`${call(tool)}; ${call({ ...tool, status: 'failed' })}; echo end`)
  await chat.ended()
  await heads(chat.log).first().click()
  await expect(heads(chat.log)).toHaveCount(3)
  for (const head of (await heads(chat.log).all()).slice(1).reverse()) await head.click()
  await expect(chat.log.getByRole('heading', { name: 'Locations' })).toHaveCount(2)
  await fitsNarrow(page)
  await axe(page)
})

test('changes name each path once with what the call did, and locations each place once (R-CHAT-086, 087)', async ({ chat, context, page }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const diff = (path: string, oldText: string | null, newText: string, kind?: string) => ({ type: 'diff', path, oldText, newText, ...(kind && { _meta: { kind } }) })
  const tool = {
    title: 'Many', kind: 'edit',
    content: [
      diff('/p/new.go', null, 'a'), diff('/p/old.go', 'a', 'b'), diff('/p/gone.go', 'a', '', 'delete'), diff('/p/new.go', 'a', 'b'),
      diff('/p/\u202eog.exe', 'a', 'b'),
    ],
    locations: [{ path: '/p/old.go', line: 3 }, { path: '/p/old.go' }, { path: '/p/old.go', line: 3 }, { path: 'relative.go', line: 4 }],
  }
  await chat.begin(`${call(tool)}; echo end`)
  await chat.ended()
  await chat.log.getByRole('button', { name: 'Edit: Many' }).click()
  await expect(chat.log.getByRole('heading', { level: 4 })).toHaveText(['Changes', 'Locations'])
  const items = chat.log.getByRole('listitem')
  await expect(items).toHaveText([
    /^added\s*\/p\/new\.go$/, /^changed\s*\/p\/old\.go$/, /^deleted\s*\/p\/gone\.go$/, /^changed\s*\/p\/⟨U\+202E⟩og\.exe$/,
    '/p/old.go:3', '/p/old.go', 'relative.go:4',
  ], { useInnerText: true })
  await expect(items.filter({ hasText: 'relative' }).getByRole('button')).toHaveCount(0)
  await items.filter({ hasText: '/p/old.go:3' }).getByRole('button').click()
  await expect(page.getByRole('main').getByRole('status').filter({ hasText: 'Path copied' })).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('/p/old.go')
})

test('each kind has one icon, the same on its card and its group; what is unknown is other (R-CHAT-088)', async ({ chat, page }) => {
  await page.setViewportSize({ width: 1000, height: 3000 })
  const kinds = ['read', 'write', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other', ' read ', 'Read', 'odd']
  const words = kinds.map((kind) => `${call({ title: `one ${kind}`, kind })}; echo -; ${call({ title: 'a', kind })}; ${call({ title: 'b', kind })}; echo -`)
  await chat.begin(words.join('; '))
  await chat.ended()
  await expect(heads(chat.log)).toHaveCount(2 * kinds.length)
  const icons = []
  for (const head of await heads(chat.log).all()) icons.push(await icon(head))
  const single = icons.filter((_, i) => i % 2 === 0)
  expect(icons.filter((_, i) => i % 2 === 1)).toEqual(single)
  expect(new Set(single.slice(0, 11)).size).toBe(11)
  expect(single[11]).toBe(single[0])
  expect(single.slice(12)).toEqual([single[10], single[10]])
})

test('a call that never ended looks busy no more once its turn is over (R-CHAT-083, 095)', async ({ chat, page }) => {
  await chat.begin('open-tool; echo so far; permission')
  const head = chat.log.getByRole('button', { name: 'Run: Never finishes' })
  await expect(head.locator('.shimmer')).toHaveCount(1)
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await expect(chat.log.locator('.shimmer')).toHaveCount(0)
  await expect(head).toHaveText('Never finishes')
  await page.reload()
  await expect(head).toBeVisible()
  await expect(chat.log.locator('.shimmer')).toHaveCount(0)
})

test('a thought that names itself is titled so, without asterisks', async ({ chat }) => {
  const planning = update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: '\n\n**Planning**\n\nFirst the *tests*.' } })
  await chat.begin(`think **Reading the code**; echo a; ${planning}; echo b; think plain`)
  await chat.ended()
  await expect(heads(chat.log)).toHaveText(['Reading the code', 'Planning', 'Reasoning'])
  await heads(chat.log).nth(1).click()
  await expect(chat.log.locator('em')).toHaveText('tests')
  await expect(chat.log.locator('.fold')).toHaveText(['Reading the code', 'PlanningFirst the tests.', 'Reasoning'])
})

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('groups and changes speak Chinese (R-CHAT-080, 086)', async ({ core, page }) => {
    await page.goto(await core.url(core.project))
    await expect(page.locator('.draft-state')).toContainText('Scripted')
    await page.getByRole('textbox').fill('think; tool; tool; failtool; echo a; diff; echo b')
    await page.getByRole('textbox').press('Enter')
    const log = page.getByRole('log')
    await expect(heads(log)).toHaveText(['思考 1 次，读取 2 个文件，运行 1 条命令', 'Edit /project/main.go'])
    await heads(log).last().click()
    await expect(log.getByRole('listitem').filter({ hasText: 'main.go' }).first()).toContainText('修改')
    await expect(log.getByRole('listitem').filter({ hasText: 'main.go.new' })).toContainText('新增')
  })
})
