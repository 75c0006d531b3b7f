import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

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
