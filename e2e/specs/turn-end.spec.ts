import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

test('stopping keeps the partial text (R-CHAT-052)', async ({ chat, core, page }) => {
  const id = await chat.begin('echo A partial answer.; hang')
  await expect(chat.log.getByText('A partial answer.', { exact: true })).toBeVisible()
  await chat.message.fill('echo while it runs')
  await chat.stop.click()
  await chat.ended()
  await expect(chat.log.getByText('A partial answer.', { exact: true })).toBeVisible()
  await expect(chat.log.getByText('Stopped', { exact: true })).toBeVisible()
  await page.reload()
  await expect(chat.log.getByText('A partial answer.', { exact: true })).toBeVisible()
  await expect(chat.log.getByText('Stopped', { exact: true })).toBeVisible()
  await expect(chat.message).toHaveValue('echo while it runs')
  await chat.message.press('Enter')
  await expect(chat.log.getByText('while it runs', { exact: true })).toBeVisible()
  await chat.ended()
  await expect.poll(async () => (await core.messages(id)).map((m) => m.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
})

test('an Agent that does not answer the cancel is left after 5 s (R-CHAT-052)', async ({ chat }) => {
  await chat.begin('echo Before.; deaf')
  await expect(chat.log.getByText('Before.', { exact: true })).toBeVisible()
  await chat.stop.click()
  await expect(chat.log).toContainText('Stopping…')
  await chat.ended()
  await expect(chat.log.getByText('Before.', { exact: true })).toBeVisible()
  await chat.say('echo after')
  await expect(chat.log.getByText('after', { exact: true })).toBeVisible()
})

test('an error shows message, code and a way to send again, which is no second message (R-CHAT-056)', async ({ chat, core, page }) => {
  const id = await chat.begin('error -32603 The model is overloaded')
  await expect(chat.log).toContainText('The model is overloaded')
  await expect(chat.log).toContainText('AGENT_ERROR')
  await axe(page)
  await fitsNarrow(page)
  await chat.ended()
  expect(core.received('session/prompt')).toHaveLength(1)
  await chat.log.getByRole('button', { name: 'Send again' }).click()
  await expect.poll(() => core.received('session/prompt').length).toBe(2)
  await expect(chat.log.getByRole('button', { name: 'Send again' })).toBeVisible()
  await expect(chat.log.getByRole('article', { name: 'You' })).toHaveCount(1)
  await expect.poll(async () => (await core.messages(id)).filter((m) => m.role === 'user').length).toBe(1)
})

test('an Agent that ends in a turn is an error, and the next message goes to a new process (R-CHAT-150)', async ({ chat, page }) => {
  await chat.begin('echo Before the end.; exit 3')
  await expect(chat.log).toContainText('Before the end.')
  await expect(chat.log).toContainText('AGENT_EXITED')
  await expect(chat.log).toContainText('3')
  await axe(page)
  await chat.say('echo alive again')
  await expect(chat.log.getByText('alive again', { exact: true })).toBeVisible()
  await expect(chat.log.getByRole('button', { name: 'Send again' })).toHaveCount(0)
})

test.describe('an Agent that is not signed in', () => {
  test.use({ agents: { Scripted: 'auth-prompt' } })

  test('the turn says that a sign-in is needed (R-AGT-081)', async ({ chat, page }) => {
    await chat.begin('echo hello')
    await expect(chat.log).toContainText('AGENT_AUTH_REQUIRED')
    await expect(chat.log).toContainText(/sign/i)
    await axe(page)
    await fitsNarrow(page)
  })
})
