import { expect, test } from './lab.ts'

// A Session of 10,000 messages, from the list of a page that runs, and as the first page of a visit.

const messages = 10_000

test.use({ histories: [{ messages }] })

test('open a Session of 10,000 messages', async ({ chat, core, lab, page }) => {
  await lab.calibrate()
  const row = chat.row('A long history')
  const clicks: number[] = []
  const visits: number[] = []
  for (let i = 0; i < 3; i++) {
    if (i > 0) await page.goto(`${core.origin}/chat`)
    await expect(row).toBeVisible()
    await page.waitForTimeout(300) // the page is at rest, as it is when a person clicks
    clicks.push(await lab.paint(`End of answer ${messages - 1}.`, 'click', () => row.click()))
    visits.push(await lab.paint(`End of answer ${messages - 1}.`, 'navigation', () => page.reload({ waitUntil: 'commit' })))
  }
  const click = Math.min(...clicks)
  const visit = Math.min(...visits)
  lab.tell('click → last message painted, least of 3', click, 'ms', { must: 150, ratio: click / lab.loop, of: 'loops' })
  lab.tell('visit → last message painted, least of 3', visit, 'ms', { ratio: visit / lab.loop, of: 'loops' })

  await page.goto(`${core.origin}/chat`)
  await expect(row).toBeVisible()
  const run = await lab.watch('open', async () => {
    const all = lab.wholeHistory('session-history')
    const began = Date.now()
    await row.click()
    await lab.shown(`End of answer ${messages - 1}.`)
    await all
    await lab.rest()
    lab.tell('click → whole Session in the page and at rest', Date.now() - began, 'ms')
  })
  lab.tellSmooth(run)
  const { heap } = await lab.memory()
  lab.tell('JavaScript heap afterwards', heap, 'MB')
  lab.tellUnits()
})
