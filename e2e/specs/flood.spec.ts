import { expect, test, textOf } from '../fixtures.ts'

test('a flood of 100,000 chunks arrives whole and in order, and the page stays light and responsive', async ({ chat, core, page }) => {
  const chunks = 100_000
  const id = await chat.begin(`flood ${chunks} 24`)
  // A page that draws each chunk by itself would not get to this for minutes.
  await chat.message.fill('still typing')
  await expect(chat.message).toHaveValue('still typing')
  await chat.ended()
  await expect(chat.log).toContainText(`${chunks - 1} `)

  await expect.poll(async () => (await core.messages(id)).length).toBe(2)
  const text = textOf((await core.messages(id))[1])
  expect(text.length).toBe(chunks * 24)
  for (let i = 0; i < chunks; i++) {
    const at = i * 24
    if (!text.startsWith(`${i} `, at)) throw new Error(`chunk ${i} is ${JSON.stringify(text.slice(at, at + 24))}`)
  }
  expect(await page.evaluate(() => document.querySelectorAll('*').length), 'elements in the page').toBeLessThanOrEqual(2000)
})

test('thousands of tools stay light', async ({ chat, page }) => {
  await chat.begin('tools 3000 4096; echo Done.')
  await expect(chat.log.getByText('Done.', { exact: true })).toBeVisible()
  const elements = (): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length)
  expect(await elements(), 'elements in the page').toBeLessThanOrEqual(2000)
  await chat.log.getByRole('button', { name: 'Run 3,000 commands' }).click()
  await expect(chat.log.getByRole('button', { name: 'Run: Tool 0', exact: true })).toBeVisible()
  expect(await elements(), 'elements with the group open').toBeLessThanOrEqual(2000)
})
