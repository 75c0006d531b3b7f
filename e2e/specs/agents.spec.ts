// One real Agent in the browser. e2e/agents starts Core, the Agent and the model behind it, and says here where the page
// is; without it there is nothing to drive.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test as base } from '@playwright/test'

import { Chat, Watch } from '../fixtures.ts'

const { FYLLO_E2E_URL: url = '', FYLLO_E2E_AGENT: agent = '', FYLLO_E2E_PROJECT: project = '' } = process.env

const test = base.extend({
  context: async ({ context }, use) => {
    const watch = new Watch()
    await watch.follow(context, () => new URL(url).origin)
    await use(context)
    expect(watch.found(), 'what happened in the pages').toEqual([])
  },
})

test.skip(!url, 'make test-agents runs it')

test(`${agent || 'a real Agent'} answers, uses tools, asks, stops and goes on after a reload, in the browser`, async ({ page }) => {
  test.setTimeout(100_000) // below the limit that e2e/agents sets, so that a failure is told from here
  const chat = new Chat(page)
  const tools = chat.log.locator('button[aria-expanded]')
  const ask = chat.log.getByRole('region', { name: /^The Agent asks for permission/ })
  const once = ask.locator('.button.primary') // the look of "allow once"; its words are the Agent's
  const answer = (text: string) => chat.log.getByText(text, { exact: true })

  await page.goto(url)
  await page.getByRole('group', { name: 'Agent' }).getByText(agent, { exact: true }).click()
  await expect(page.getByText(`${agent} is ready`)).toBeVisible({ timeout: 60_000 })
  await chat.begin('say: words from the model')
  await expect(answer('words from the model')).toBeVisible()
  await chat.ended()
  await expect(tools).toHaveCount(0)

  const notes = join(project, 'notes.txt')
  await chat.say(`read the file ${notes}`)
  // The command line has shown whether the Agent asks before it reads; here either will do.
  await expect(async () => {
    if (await once.count()) await once.first().click()
    await expect(chat.log).toContainText(readFileSync(notes, 'utf8').trim(), { timeout: 1000 })
  }).toPass({ timeout: 30_000 })
  await chat.ended()
  await expect(tools).toHaveCount(1)
  await expect(tools).toHaveAttribute('aria-expanded', 'false')
  await expect(tools).toHaveAccessibleName(/^Read: .*notes\.txt/)
  await tools.click()
  await expect(chat.log.getByRole('heading', { name: 'Locations' })).toBeVisible()
  await expect(chat.log.locator(`[data-path="${notes}"]`)).toBeVisible()

  const file = join(project, 'browser.txt')
  await chat.say(`write ${file}: written in the browser`)
  await expect(ask).toHaveCount(1)
  expect(existsSync(file), 'written before it was allowed').toBe(false)
  await expect(once).toHaveCount(1)
  const option = await once.innerText()
  await once.click()
  await expect(ask).toHaveCount(0)
  await expect(answer(`You chose “${option}”`)).toBeVisible()
  await chat.ended()
  expect(readFileSync(file, 'utf8').trim()).toBe('written in the browser')

  await chat.say('slow 600')
  await expect(chat.log).toContainText('chunk 3')
  await chat.stop.click()
  await chat.ended()
  await expect(answer('Stopped')).toBeVisible()
  await expect(chat.log).not.toContainText('chunk 600')

  await page.reload()
  await expect(answer('Stopped')).toBeVisible()
  await expect(answer(`You chose “${option}”`)).toBeVisible()
  await chat.say('say: the same talk after a reload')
  await expect(answer('the same talk after a reload')).toBeVisible()
  await chat.ended()
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(5)
})
