import { expect, test } from './lab.ts'

// 50,000 lines: changed, and printed.

const lines = 50_000
const changed = { messages: 20, diff: lines }
const printed = { messages: 20, output: lines, session: 'session-output', name: 'A long output' }

test.use({ histories: [[changed, printed], { scope: 'test' }] })

test('a file of 50,000 lines was changed', async ({ chat, lab, page }) => {
  await lab.calibrate()
  await chat.row('A long history').click()
  await lab.shown('End of answer 19.')
  const panel = page.getByRole('dialog', { name: 'File changes in this turn' })
  const run = await lab.watch('diff', async () => {
    await chat.log.getByRole('button', { name: /files? changed$/ }).last().click()
    await panel.getByRole('button', { name: 'Open all' }).click()
    await expect(panel.locator('.diff-sign').first()).toBeVisible()
    await lab.rest()
  })
  lab.tellSmooth(run)
  const scroll = await lab.watch('diff scrolled', async () => {
    await panel.hover()
    for (let i = 0; i < 60; i++) {
      await page.mouse.wheel(0, 3000)
      await page.waitForTimeout(16)
    }
  })
  lab.tell('scrolling it: longest task, CPU', scroll.longestCPU, 'ms', lab.task(scroll))
  lab.tell('scrolling it: elements', scroll.elements, '', { must: 2000, aim: 300 })
  lab.tellUnits()
})

test('a call printed 50,000 lines', async ({ chat, lab, page }) => {
  await lab.calibrate()
  await chat.row('A long output').click()
  await lab.shown('End of answer 19.')
  const group = chat.log.getByRole('button', { name: /Run [\d,]+ commands?/, expanded: false }).last()
  const call = chat.log.getByRole('button', { name: /make everything/ })
  if (!(await call.isVisible())) await group.click()
  await call.scrollIntoViewIfNeeded()
  const run = await lab.watch('output', async () => {
    await call.click()
    await chat.log.getByRole('button', { name: /Show all/ }).last().click()
    await expect(chat.log.getByRole('group', { name: 'Output' }).or(chat.log.locator('.virtual-lines')).last()).toBeVisible()
    await lab.rest()
  })
  lab.tellSmooth(run)
  const scroll = await lab.watch('output scrolled', async () => {
    await chat.log.locator('.virtual-lines').last().hover()
    for (let i = 0; i < 60; i++) {
      await page.mouse.wheel(0, 3000)
      await page.waitForTimeout(16)
    }
  })
  lab.tell('scrolling it: longest task, CPU', scroll.longestCPU, 'ms', lab.task(scroll))
  lab.tell('scrolling it: elements', scroll.elements, '', { must: 2000, aim: 300 })
  lab.tellUnits()
})
