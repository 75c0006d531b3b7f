import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { Page } from '@playwright/test'

import type { Core } from '../core.ts'
import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

const options = (page: Page) => page.getByRole('listbox', { name: 'Files' }).getByRole('option')

function fill(core: Core): void {
  for (const path of ['src/main.go', 'src/domain.ts', 'docs/计划.md', 'node_modules/x/main.js', '.git/main', 'with blank.txt']) {
    const full = join(core.project, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, '')
  }
  symlinkSync('/etc', join(core.project, 'outside'))
}

test('"@" finds files of the project, and choosing one writes its path', async ({ chat, core, page }) => {
  fill(core)
  const { message } = chat
  await message.pressSequentially('echo see @mai')
  await expect(options(page)).toHaveText(['main.gosrc', 'domain.tssrc'])
  await expect(message).toBeFocused()
  await axe(page)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(message).toHaveValue('echo see @src/domain.ts ')
  await message.pressSequentially('and@计')
  await expect(options(page), 'not inside a word').toHaveCount(0)
  await message.fill('')
  await message.pressSequentially('echo 请看@计')
  await expect(options(page)).toHaveText(['计划.mddocs'])
  await options(page).click()
  await expect(message).toHaveValue('echo 请看@docs/计划.md ')
  await message.pressSequentially('@passwd')
  await expect(page.getByText('No file fits').first(), 'links are not followed').toBeVisible()
  await page.keyboard.press('Escape')
  await message.fill('echo 请看@docs/计划.md 谢谢')
  await message.press('Enter')
  await expect(chat.log.getByText('请看@docs/计划.md 谢谢', { exact: true }).first()).toBeVisible()
  await chat.ended()
  await message.pressSequentially('@with')
  await expect(options(page), 'in a Session too').toHaveText(['with blank.txt'])
  await fitsNarrow(page)
})

test('a mail address is no mention', async ({ chat, core, page }) => {
  fill(core)
  await chat.message.pressSequentially('ana@main.go')
  await chat.message.pressSequentially(' @main')
  await expect(options(page)).toHaveText(['main.gosrc', 'domain.tssrc'])
})

test('a mention goes to the Agent as a link to the file, and the message stays as it was written', async ({ chat, core, page }) => {
  fill(core)
  const { message } = chat
  type Block = { type: string; text?: string; uri?: string; name?: string }
  /** What the Agent got with its n-th prompt, without reminders. */
  const blocks = async (n: number) => {
    await expect.poll(() => core.received('session/prompt')).toHaveLength(n + 1)
    return (core.received('session/prompt')[n]!.prompt as Block[]).filter((b) => !b.text?.includes('<system-reminder'))
  }
  const first = 'echo 请看@docs/计划.md 谢谢'
  await message.pressSequentially('echo 请看@计')
  await options(page).click()
  await message.pressSequentially('谢谢')
  await expect(message).toHaveValue(first)
  await message.press('Enter')
  expect(await blocks(0)).toEqual([
    { type: 'text', text: first },
    { type: 'resource_link', name: '计划.md', uri: pathToFileURL(join(core.project, 'docs/计划.md')).href },
  ])
  await chat.ended()
  const more = 'echo @with blank.txt, @src/gone.go @outside/passwd @../x and a@src/main.go'
  await chat.say(more)
  expect(await blocks(1)).toEqual([
    { type: 'text', text: more },
    { type: 'resource_link', name: 'with blank.txt', uri: pathToFileURL(join(core.project, 'with blank.txt')).href },
  ])
  await chat.ended()
  const said = () => chat.log.getByRole('article', { name: 'You' }).allInnerTexts()
  const live = await said()
  expect(live.map((t) => t.split('\n')[0])).toEqual([first, more])
  await page.reload()
  await expect(chat.log.getByRole('article', { name: 'You' })).toHaveCount(2)
  expect(await said()).toEqual(live)
})

test('what Git ignores is not offered', async ({ chat, core, page }) => {
  fill(core)
  for (const [path, text] of [
    ['.gitignore', '*.tmp\n!keep.tmp\n/generated/\n'],
    ['src/.gitignore', 'keep.tmp\n'],
    ['.git/info/exclude', 'private.tmp.md\n'],
  ] as const) {
    mkdirSync(dirname(join(core.project, path)), { recursive: true })
    writeFileSync(join(core.project, path), text)
  }
  for (const path of ['a.tmp', 'keep.tmp', 'src/keep.tmp', 'generated/b.tmp.md', 'docs/generated/c.tmp.md', 'private.tmp.md']) {
    mkdirSync(dirname(join(core.project, path)), { recursive: true })
    writeFileSync(join(core.project, path), '')
  }
  await chat.message.pressSequentially('@.tmp')
  await expect(options(page)).toHaveText(['keep.tmp', 'c.tmp.mddocs/generated'])
})
