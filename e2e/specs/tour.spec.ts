import { readFileSync, writeFileSync } from 'node:fs'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

test.use({ agents: {} })

test('the Tour shows a whole turn and writes only what was allowed (decision 20)', async ({ chat, core, page }) => {
  writeFileSync(join(core.project, 'notes.txt'), 'one\ntwo\n')
  await chat.begin('Show me around')
  await expect(chat.log.getByRole('button', { name: 'Read: Read notes.txt' })).toBeVisible()
  const ask = chat.log.getByRole('region', { name: /The Agent asks for permission/ })
  await expect(ask.getByRole('button')).toHaveText(['Allow once', 'Do not allow'])
  expect(existsSync(join(core.project, 'TOUR.md'))).toBe(false)
  await axe(page)
  await fitsNarrow(page)
  await ask.getByRole('button', { name: 'Do not allow' }).click()
  await expect(chat.log).toContainText('nothing was written')
  await expect(chat.log).toContainText('The second Tour is done.') // which the Agent was told in a hidden message
  await chat.ended()
  await expect(chat.log).not.toContainText('notificationId')
  expect(existsSync(join(core.project, 'TOUR.md'))).toBe(false)

  await chat.say('edit')
  await ask.getByRole('button', { name: 'Allow once' }).click()
  await expect(chat.log).toContainText('You allowed it')
  await chat.ended()
  expect(readFileSync(join(core.project, 'TOUR.md'), 'utf8')).toContain('a line from the tour')
})
