// Driven by e2e/agents for each real Agent: it starts Core and the model and says here where the page is.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from '@playwright/test'

import { Chat, Watch } from '../fixtures.ts'

const { FYLLO_E2E_URL: url = '', FYLLO_E2E_AGENT: agent = '', FYLLO_E2E_PROJECT: project = '' } = process.env

if (url) {
  test(`${agent} answers, reads and writes with permission, and stops, in the browser`, async ({ context, page }) => {
    test.setTimeout(180_000)
    const watch = new Watch()
    await watch.follow(context, () => new URL(url).origin)
    const chat = new Chat(page)
    await page.goto(url)
    await page.getByRole('group', { name: 'Agent' }).getByText(agent, { exact: true }).click()
    await expect(page.getByText(`${agent} is ready`)).toBeVisible({ timeout: 90_000 })
    await chat.begin('say: words from the model')
    await expect(chat.log.getByText('words from the model', { exact: true })).toBeVisible({ timeout: 60_000 })
    await chat.ended()

    await chat.say(`write ${join(project, 'browser.txt')}: written in the browser`)
    const allow = chat.log.getByRole('region', { name: /The Agent asks for permission/ }).getByRole('button').locator('visible=true')
    const written = () => {
      try {
        return readFileSync(join(project, 'browser.txt'), 'utf8')
      } catch {
        return ''
      }
    }
    // Some Agents write without asking in their usual mode; a primary button is the option to allow once.
    await expect(async () => {
      const ask = allow.and(page.locator('.primary'))
      if (await ask.count()) await ask.first().click()
      expect(written()).toContain('written in the browser')
    }).toPass({ timeout: 60_000 })
    await chat.ended()

    await chat.say('slow 600')
    await expect(chat.log).toContainText('chunk 3')
    await chat.stop.click()
    await chat.ended()
    expect(watch.found()).toEqual([])
  })
}
