// Pictures of every page for people to look at: npm run shots, then e2e/test-results/shots.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from '@playwright/test'

import { Chat, expect, test } from '../fixtures.ts'

const dir = join(import.meta.dirname, '..', 'test-results', 'shots')

test.describe.configure({ mode: 'parallel', timeout: 240_000 })

/** shoot takes a picture of what is shown in each theme and width. */
async function shoot(page: Page, name: string, before?: (narrow: boolean) => Promise<void>): Promise<void> {
  mkdirSync(dir, { recursive: true })
  for (const [width, height] of [[1440, 900], [390, 844]] as const) {
    await page.setViewportSize({ width, height })
    await before?.(width < 900)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: join(dir, `${name}-${width}-${colorScheme}.png`), caret: 'initial' })
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

const rich = String.raw`
# What I changed in the parser

The tokenizer dropped the **last character** of a line when it ended in a wide one. The cause is in [the scanner](/home/ana/src/site/internal/scan/scan.go:128): it counted bytes, not runes. 中文段落：这是一个用于检查排版的段落，包含中英文混排 mixed text，以及标点符号。👩‍👩‍👧‍👦 🚀

## Steps

1. Count runes in ${'`scan.next`'}
2. Keep the position of both
   - for messages: line and column
   - for slices: the byte offset, since ${'`a_very_long_identifier_that_cannot_be_broken_anywhere_because_it_has_no_spaces_at_all`'} needs it
3. Tests for CJK, emoji and combining marks

- [x] done
- [ ] the fuzz target still runs

> Column numbers in messages count characters, as people do.

| File | 行数 | What changed | Remark |
|:--|--:|:-:|---|
| internal/scan/scan.go | 128 | the loop | 主要的改动在这里，请仔细看 |
| internal/scan/scan_test.go | 1,204 | new cases | 🚀 emoji and combining marks, with a remark that is long enough to wrap |
| docs/messages.md | 12 | a sentence | – |

${'```'}go
// next returns the next character and moves behind it.
func (s *Scanner) next() (rune, error) {
	if s.pos >= len(s.src) {
		return 0, io.EOF
	}
	r, size := utf8.DecodeRuneInString(s.src[s.pos:])
	if r == utf8.RuneError && size == 1 {
		return 0, fmt.Errorf("scan %s:%d:%d: invalid UTF-8 at byte %d of %d, the file was probably saved in another encoding", s.name, s.line, s.col, s.pos, len(s.src))
	}
	s.pos += size
	s.col++
	return r, nil
}
${'```'}

${'```'}diff
-	s.pos++
+	s.pos += size
${'```'}

That is all. Run ${'`go test ./internal/scan`'} to see it.
`
const scripted = rich.trim().replaceAll('\\', '\\\\').replaceAll(';', '\\u003b').replaceAll('\t', '\\t').replaceAll('\n', '\\n')

const titles = [
  'Fix the parser for wide characters',
  '修复解析器在行尾遇到宽字符时丢失最后一个字符的问题',
  'A title that is much longer than the sidebar is wide and has to be cut somewhere',
  '🚀 Ship it',
  'Why is the build slow on Windows?',
  'Refactor AVeryLongIdentifierWithoutAnySpacesInIt',
]

test.describe('conversation', () => {
  test.use({ agents: { 'Claude Code': 'default', 'Gemini CLI': 'default', 'An Agent with quite a long name': 'auth-new' }, projectName: '网站 site' })

  test('@shots chat', async ({ chat, core, page, watch }) => {
    watch.allow(/ERR_FAILED|status of 40[14]|ERR_CONNECTION|WebSocket/)
    const workspace = await core.workspace()
    for (const title of titles) {
      const id = await core.begin('Claude Code', `echo ${title}`, workspace)
      await expect.poll(async () => (await core.turn(id)).state).toBe('idle')
      await core.api('PATCH', `/api/sessions/${id}`, { title })
    }
    await core.begin('Claude Code', 'permission', workspace)
    await expect(chat.row('permission')).toContainText('1 to do')
    await page.reload()
    await expect(page.getByText('Claude Code is ready')).toBeVisible()
    await shoot(page, 'draft')
    const modeTip = page.getByRole('radio', { name: 'Native' })
    await shoot(page, 'draft-tooltip', async () => {
      await page.mouse.move(0, 0)
      await modeTip.hover()
      await expect(page.getByRole('tooltip')).toBeVisible()
    })
    await page.getByText('An Agent with quite a long name', { exact: true }).click()
    await expect(page.getByText(/Sign-in needed/)).toBeVisible()
    await chat.message.fill('A text of several lines\n多行文本，包含中文 🚀\nthat waits')
    await shoot(page, 'draft-failed')
    await chat.message.fill('')
    await page.getByText('Claude Code', { exact: true }).click()
    await expect(page.getByText('Claude Code is ready')).toBeVisible()

    const id = await chat.begin('think I look at the scanner first.\\n\\nThen at its tests.; tool Read internal/scan/scan.go; echo I read the scanner. Now the tests:\\n\\n; failtool; diff /home/ana/src/site/internal/scan/scan.go; tool Search for “utf8.RuneError” in internal/ and everything below it, which is a long title; permission')
    await chat.log.getByRole('button', { name: 'Allow once' }).waitFor()
    await shoot(page, 'permission')
    await chat.log.getByRole('button', { name: 'Allow once' }).click()
    await chat.ended()
    for (const group of await chat.log.getByRole('button', { name: /^(Think|Run) \d/ }).all()) await group.click()
    await chat.log.getByRole('button', { name: 'Read: Read internal/scan/scan.go' }).click()
    await chat.log.getByRole('button', { name: 'Run, failed: Run tests' }).click()
    await chat.log.getByRole('button', { name: /Edit \/home/ }).click()
    await chat.log.evaluate((el) => (el.scrollTop = 0))
    await shoot(page, 'tools-open')

    await chat.say(`echo ${scripted}`)
    await expect(chat.log.getByText(/^That is all\. Run/)).toBeVisible()
    await chat.ended()
    await shoot(page, 'answer-end')
    await shoot(page, 'answer-top', async () => {
      await chat.log.getByRole('heading', { name: 'What I changed in the parser' }).scrollIntoViewIfNeeded().catch(() => undefined)
      await chat.log.evaluate((el) => (el.scrollTop = el.scrollHeight - el.clientHeight * 2.05))
    })
    await chat.say('echo The first half of an answer.; hang')
    await expect(chat.log.getByText('The first half of an answer.', { exact: true })).toBeVisible()
    await chat.message.fill('The next question, while it runs')
    await chat.message.press('Enter')
    await shoot(page, 'running')
    await chat.stop.click()
    await chat.ended()
    await chat.say('error -32603 The model is overloaded. Please try again in a few minutes, or choose another model.')
    await expect(chat.log).toContainText('AGENT_ERROR')
    await chat.ended()
    await shoot(page, 'error')
    await page.route('**/prompts', (route) => route.abort())
    await chat.say('A message that does not get through\nwith a second line')
    await expect(page.getByRole('alert')).toBeVisible()
    await shoot(page, 'not-sent')
    await chat.message.fill('')

    await page.getByRole('button', { name: 'Session actions' }).click()
    await shoot(page, 'menu')
    await page.keyboard.press('Escape')
    await chat.menu('Why is the build slow on Windows?')
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await shoot(page, 'delete')
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await expect(chat.sidebar).toBeVisible()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(dir, `drawer-390-${colorScheme}.png`) })
    }
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('link', { name: 'Settings' }).focus()
    await page.keyboard.press('?')
    await shoot(page, 'shortcuts')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Settings' }).click()
    await expect(page.getByRole('group', { name: 'Theme' })).toBeVisible()
    await shoot(page, 'preferences')
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('button', { name: 'Check Claude Code' }).click()
    await expect(page.getByRole('listitem').filter({ hasText: 'Claude Code' }).getByRole('status')).toBeVisible()
    await page.getByRole('button', { name: 'Check An Agent with' }).click()
    await shoot(page, 'settings')
    await shoot(page, 'settings-end', async () => {
      await page.locator('.scroll').evaluate((el) => (el.scrollTop = el.scrollHeight))
    })
    await page.goto(`${core.origin}/chat/unknown-session`)
    await expect(chat.toasts).toHaveCount(1)
    await shoot(page, 'toast')
    const second = await page.context().newPage()
    await second.goto(`${core.origin}/chat/${id}`)
    await second.getByRole('button', { name: 'Move here' }).waitFor()
    await shoot(second, 'conflict')
    await second.close()
    await core.kill()
    await expect(page.getByText('Reconnecting…')).toBeVisible()
    await shoot(page, 'offline')
    await core.start(Number(new URL(core.origin).port))
    await expect(page.getByRole('heading', { name: 'This page needs a fresh link' })).toBeVisible()
    await shoot(page, 'signed-out')
    await page.context().clearCookies()
    await page.goto(`${core.origin}/chat`)
    await shoot(page, 'sign-in')
  })
})

test.describe('activity', () => {
  test('@shots groups, calls and subagents', async ({ chat, page }) => {
    const call = (fields: object): string => `tool64 ${Buffer.from(JSON.stringify(fields)).toString('base64')}`
    const diff = (path: string, oldText: string | null, newText: string) => ({ type: 'diff', path, oldText, newText })
    const edit = {
      title: 'Edit internal/scan/scan.go and its tests, 修改扫描器', kind: 'edit', rawInput: { file: 'scan.go', replace_all: false }, output: 'ok',
      locations: [{ path: '/home/ana/src/site/internal/scan/scan.go', line: 128 }, { path: 'internal/scan/scan_test.go' }],
      content: [
        { type: 'content', content: { type: 'text', text: 'The file has been updated.' } }, diff('/home/ana/src/site/internal/scan/scan.go', 'a', 'b'),
        diff('/home/ana/src/site/internal/scan/a-file-with-quite-a-long-name-that-has-to-break-somewhere_test.go', null, 'b'),
      ],
    }
    await chat.begin(`think **Reading the scanner**; tool Read internal/scan/scan.go; ${call({ title: 'grep -rn "utf8.RuneError" internal/ --include=*.go', kind: 'search', output: '3 matches' })}; failtool; ${call(edit)}; echo The cause is in the scanner. It counted bytes, not runes.; subagent full; tools 90 10; permission`)
    await chat.log.getByRole('button', { name: 'Allow once' }).first().waitFor()
    await shoot(page, 'activity')
    await page.getByRole('button', { name: /^Check the tests/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Allow once' }).waitFor()
    await shoot(page, 'subagent-asks')
    await page.getByRole('dialog').getByRole('button', { name: 'Allow once' }).click()
    await page.keyboard.press('Escape')
    await chat.log.getByRole('region', { name: /rm -rf/ }).waitFor()
    await shoot(page, 'activity-group-asks')
    await chat.log.getByRole('button', { name: 'Allow once' }).click()
    await chat.ended()
    await page.getByRole('button', { name: /^Find callers/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'grep' }).click()
    await shoot(page, 'subagent')
    await page.keyboard.press('Escape')
    await chat.log.getByRole('button', { name: /^Think 1 time/ }).click()
    await chat.log.getByRole('button', { name: /^Edit: Edit internal/ }).click()
    await chat.log.getByRole('button', { name: 'Reading the scanner' }).click()
    await shoot(page, 'activity-open', () => chat.log.getByRole('button', { name: /^Think 1 time/ }).evaluate((el) => el.scrollIntoView()))
    await chat.log.getByRole('button', { name: /^Think 1 time/ }).click()
    await chat.log.getByRole('button', { name: 'Run 91 commands' }).click()
    await shoot(page, 'activity-long', () => chat.log.getByRole('button', { name: 'Run 91 commands' }).evaluate((el) => el.scrollIntoView()))
  })
})

test.describe('start', () => {
  test.use({ agents: {} })

  test('@shots launcher and empty draft', async ({ core, page, watch }) => {
    watch.allow(/status of 4/)
    for (const name of ['site', '网站-重构', 'a-directory-with-a-name-that-is-longer-than-most-and-goes-on/and/on/deeper-still']) await core.url(core.makeDir(name))
    const gone = core.makeDir('gone')
    await core.cli('--no-open', core.makeDir('api'), core.makeDir('docs'), gone)
    rmSync(gone, { recursive: true })
    await page.goto(await core.url())
    await expect(page.getByRole('region', { name: 'Recent Workspaces' }).getByRole('button')).not.toHaveCount(0)
    await shoot(page, 'launcher')
    const field = page.getByRole('combobox')
    await field.fill(`${core.dir}/`)
    await expect(page.getByRole('option').first()).toBeVisible()
    await field.press('ArrowDown')
    await shoot(page, 'launcher-completion')
    await field.fill('/does/not/exist')
    await field.press('Enter')
    await expect(page.getByRole('alert')).toBeVisible()
    await shoot(page, 'launcher-error')
    core.program('opencode', 'exec false')
    core.program('gemini', 'exec false')
    await page.goto(await core.url(core.project))
    await expect(page.getByRole('button', { name: 'Add OpenCode' })).toBeVisible()
    await expect(page.getByText('Tour is ready')).toBeVisible()
    await shoot(page, 'draft-empty')
  })
})

test.describe('Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('@shots in Chinese', async ({ core, page }) => {
    await page.goto(await core.url(core.project))
    await expect(page.locator('.draft-state')).toContainText('Scripted')
    await shoot(page, 'zh-draft')
    const chat = new Chat(page)
    await page.getByRole('textbox').fill('permission')
    await page.getByRole('textbox').press('Enter')
    await expect(chat.log.getByRole('button', { name: 'Allow once' })).toBeVisible()
    await shoot(page, 'zh-permission')
  })
})

test.describe('Tour', () => {
  test.use({ agents: {}, projectName: 'site' })

  test('@shots a conversation with the Tour', async ({ chat, core, page }) => {
    writeFileSync(join(core.project, 'README.md'), '# Site\n\nThe pages of our site.\n')
    await chat.begin('Give me the tour')
    const allow = chat.log.getByRole('button', { name: 'Allow once' })
    await expect(allow).toBeVisible()
    await shoot(page, 'tour-permission')
    await allow.click()
    await expect(chat.log).toContainText('The second Tour is done.')
    await chat.ended()
    await shoot(page, 'tour-end')
    await chat.say('Now a long answer')
    await expect(chat.log).toContainText('That is all. Nothing was read')
    await chat.ended()
    await shoot(page, 'tour-long')
    await shoot(page, 'tour-long-mid', async () => {
      await chat.log.evaluate((el) => (el.scrollTop = el.scrollHeight - el.clientHeight * 1.6))
    })
  })
})

const scanner = [
  'package scan',
  '',
  'import (',
  '\t"fmt"',
  '\t"io"',
  ')',
  '',
  '// Scanner reads a source text character by character. It keeps the position of the next one for messages.',
  'type Scanner struct {',
  '\tname string',
  '\tsrc  string',
  '\tpos  int',
  '\tline int',
  '\tcol  int',
  '}',
  '',
  '// New returns a Scanner for a text.',
  'func New(name, src string) *Scanner {',
  '\treturn &Scanner{name: name, src: src, line: 1, col: 1}',
  '}',
  '',
  ...Array.from({ length: 24 }, (_, i) => [`// Method${i} is one of many.`, `func (s *Scanner) Method${i}() int { return s.pos + ${i} }`, '']).flat(),
  '// next returns the next character and moves behind it.',
  'func (s *Scanner) next() (byte, error) {',
  '\tif s.pos >= len(s.src) {',
  '\t\treturn 0, io.EOF',
  '\t}',
  '\tc := s.src[s.pos]',
  '\ts.pos++',
  '\ts.col++',
  '\treturn c, nil',
  '}',
  '',
].join('\n')
const scannerAfter = scanner
  .replace('\t"io"\n', '\t"io"\n\t"unicode/utf8"\n')
  .replace('(byte, error)', '(rune, error)')
  .replace('character by character', 'rune by rune')
  .replace('\tc := s.src[s.pos]\n\ts.pos++\n', '\tr, size := utf8.DecodeRuneInString(s.src[s.pos:])\n\tif r == utf8.RuneError && size == 1 {\n\t\treturn 0, fmt.Errorf("scan %s:%d:%d: invalid UTF-8 at byte %d of %d, the file was probably saved in another encoding", s.name, s.line, s.col, s.pos, len(s.src))\n\t}\n\ts.pos += size\n')
  .replace('return c, nil', 'return r, nil')
const story = Array.from({ length: 3000 }, (_, i) => (i % 9 === 0 ? '' : `第 ${i} 行：the ${i % 7}th of many lines 🚀 with some words in it, so that it looks like text`)).join('\n')

const changed = (path: string, oldText: string | null, newText: string, kind?: string): object => ({ title: `Edit ${path}`, diffs: [{ path, oldText, newText, kind }] })
const changesWord = `edits ${Buffer.from(JSON.stringify([
  changed('/home/ana/src/site/internal/scan/scan.go', scanner, scannerAfter),
  changed('/home/ana/src/site/internal/scan/testdata/wide-characters/inputs/and/other/things/with/a/long/path/wide_test.go', null, 'package scan\n\nimport "testing"\n\nfunc TestWide(t *testing.T) {\n\tif got := all("日本"); got != "日本" {\n\t\tt.Error(got)\n\t}\n}\n', 'add'),
  changed('/home/ana/src/site/docs/消息.md', '# 消息\n\n列号按字节计算。\n', '# 消息\n\n列号按字符计算，与人的习惯一致。'),
  changed('/home/ana/src/site/internal/scan/bytes.go', 'package scan\n\nfunc isByte(c byte) bool { return c < 0x80 }\n', '', 'delete'),
  changed('/home/ana/src/site/go.mod', 'go 1.24\n', 'go 1.26\n'),
  changed('/home/ana/src/site/go.mod', 'module site\n', 'module example.org/site\n'),
  changed('/home/ana/src/site/scripts/build.bat', 'echo one\r\necho two\r\n', 'echo one\necho two\u202E \u001B[31m\n'),
  changed('/home/ana/src/site/story.txt', story, story.replaceAll('some words', 'a few words')),
  changed('/home/ana/src/site/back.txt', 'a', 'b'),
  changed('/home/ana/src/site/back.txt', 'b', 'a'),
])).toString('base64')}`

test.describe('file changes', () => {
  test.use({ agents: { 'Claude Code': 'default' }, projectName: '网站 site' })

  test('@shots file changes', async ({ chat, page }) => {
    await chat.begin(changesWord)
    await chat.log.getByRole('button', { name: /^Edit \d+ files/ }).click()
    await chat.ended()
    const panel = page.getByRole('dialog')
    const body = panel.locator('.slideover-body')
    const open = async (path: string): Promise<void> => {
      const row = chat.log.getByRole('button', { name: `Edit ${path}` }).last()
      if ((await row.getAttribute('aria-expanded')) === 'false') await row.click()
      await chat.log.getByRole('button', { name: path, exact: true }).last().click()
      await expect(panel).toBeVisible()
    }
    await open('/home/ana/src/site/internal/scan/scan.go')
    await expect(panel.getByRole('listitem')).toHaveCount(7)
    await shoot(page, 'changes-closed')
    await panel.getByRole('button', { name: 'Open all' }).click()
    await expect(panel.locator('.file-lines')).toHaveCount(7)
    await shoot(page, 'changes-unified', async () => void (await body.evaluate((el) => (el.scrollTop = 0))))
    await page.keyboard.press('n')
    await page.keyboard.press('n')
    await page.keyboard.press('n')
    await shoot(page, 'changes-step', async () => {
      await page.keyboard.press('p')
      await page.keyboard.press('n')
    })
    await shoot(page, 'changes-end-of-file', async () => void (await panel.locator('[data-row="10"]').last().evaluate((el) => el.scrollIntoView())))
    await panel.getByRole('button', { name: 'Side by side' }).click()
    await shoot(page, 'changes-split', async () => void (await body.evaluate((el) => (el.scrollTop = 0))))
    await shoot(page, 'changes-split-long', async () => void (await body.evaluate((el) => (el.scrollTop = el.scrollHeight))))
    await page.keyboard.press('Escape')
    await open('/home/ana/src/site/back.txt')
    await expect(panel.getByRole('note')).toBeVisible()
    await shoot(page, 'changes-undone')
    await page.keyboard.press('Escape')
    await page.route('**/changes', (route) => route.fulfill({ json: { messageId: 'x', changes: [] } }))
    await page.reload()
    await chat.log.getByRole('button', { name: /^Edit \d+ files/ }).click()
    await open('/home/ana/src/site/go.mod')
    await shoot(page, 'changes-none')
  })
})

test.describe('search', () => {
  test.use({ histories: [[{ messages: 400, name: 'Rework the scanner so that columns count characters' }, { messages: 40, session: 'session-short', name: '' }], { scope: 'test' }] })

  test('@shots search for Sessions', async ({ chat, core, page }) => {
    const workspace = await core.workspace()
    for (const text of [
      'Why does the scanner drop the last character of a line that ends in a wide one? It looks as if it counted bytes.',
      '解析器在处理宽字符时会丢掉最后一个字符，请检查 scanner 的实现，并为中文、emoji 🚀 和组合字符补充测试',
      `A_very_long_identifier_without_any_space_${'that_goes_on_'.repeat(12)}scanner`,
      'Tests of the Scanner',
    ]) {
      await core.begin('Scripted', `echo ${text}`, workspace)
    }
    await expect(chat.sessions).toHaveCount(6)
    await page.keyboard.press('Control+k')
    const dialog = page.getByRole('dialog', { name: 'Search Sessions' })
    await shoot(page, 'search-hint')
    await page.keyboard.type('scanner')
    await expect(dialog.getByRole('option').nth(3)).toBeVisible()
    await shoot(page, 'search-results')
    await dialog.getByRole('combobox').fill('nothing like it')
    await expect(dialog).toContainText('No matching Sessions')
    await shoot(page, 'search-none')
    await dialog.getByRole('combobox').fill('needle-200.')
    await dialog.getByRole('option').click()
    await expect(page).toHaveURL(/\/chat\/session-history$/)
    await shoot(page, 'search-arrived')
  })
})
