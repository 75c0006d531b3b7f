import { expect, test } from '../fixtures.ts'

test.use({ histories: [{ messages: 600 }] })

test('a Session of a long history opens at its end and goes on (R-CHAT-002, 007)', async ({ chat, core, page }) => {
  await chat.row('A long history').click()
  await expect(chat.log).toContainText('End of answer 599.')
  await expect.poll(async () => (await chat.scroll()).toEnd, 'distance to the end').toBeLessThanOrEqual(1)
  await chat.say('echo It goes on.')
  await expect(chat.log.getByText('It goes on.', { exact: true })).toBeVisible()
  await chat.ended()
  const { messages } = await core.api<{ messages: { id: string }[] }>('GET', '/api/sessions/session-history/messages?limit=0')
  expect(messages.map((m) => m.id).slice(0, 600)).toEqual(Array.from({ length: 600 }, (_, i) => `msg-${String(i).padStart(6, '0')}`))
  expect(await page.evaluate(() => document.querySelectorAll('*').length), 'elements in the page').toBeLessThanOrEqual(2000)
})
