import { expect, test } from '../fixtures.ts'

test('a Session whose Agent is gone can be read, and sending says which Agent is missing (R-AGT-113)', async ({ chat, core, page, watch }) => {
  watch.allow(/the server responded with a status of/)
  await chat.begin('echo one')
  await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
  await chat.ended()
  await core.cli('agents', 'remove', core.agentIds.get('Scripted')!)
  await page.reload()
  await expect(chat.log.getByText('one', { exact: true })).toBeVisible()
  await expect(page.getByRole('main')).toContainText('Scripted')
  await chat.say('echo two')
  await expect(page.getByRole('main').getByRole('alert')).toContainText('Scripted')
  await expect(chat.message, 'the text is kept').toHaveValue('echo two')
})
