import { expect, test, type Run } from './lab.ts'

// Scrolling through 10,000 messages.

const messages = 10_000

test.use({ histories: [{ messages }] })

test('scroll through 10,000 messages', async ({ chat, lab, page }) => {
  const all = lab.wholeHistory('session-history')
  await chat.row('A long history').click()
  await lab.shown(`End of answer ${messages - 1}.`)
  await lab.calibrate()

  // What stands in view does not move while older pages are put in front.
  await page.mouse.move(700, 450)
  await page.mouse.wheel(0, -900)
  await lab.rest(100)
  lab.tell('largest shift of the text in view on prepend', await lab.shiftDuring(all), 'px', { must: 1, aim: 0 })
  await chat.log.press('End')
  await expect.poll(async () => (await chat.scroll()).toEnd).toBeLessThanOrEqual(1)
  const idle = await lab.idle()
  const tell = (how: string, run: Run): void => {
    lab.tell(`${how}: longest task, CPU`, run.longestCPU, 'ms', lab.task(run))
    lab.tell(`${how}: frames dropped`, (100 * run.missed) / (run.frames + run.missed), '%', { must: 5, ratio: 100 * idle, of: '% idle' })
    lab.tell(`${how}: frames without any row in view`, (100 * run.blank) / run.frames, '%', { must: 5, aim: 0 })
    lab.tell(`${how}: elements`, run.elements, '', { must: 2000, aim: 300 })
  }
  tell('wheel', await lab.watch('wheel', async () => {
    for (let i = 0; i < 150; i++) {
      await page.mouse.wheel(0, i < 75 ? -1200 : 1200)
      await page.waitForTimeout(16)
    }
  }, { rows: true }))
  await chat.log.focus()
  tell('PageUp held', await lab.watch('page up', async () => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.down('PageUp')
      await page.waitForTimeout(16)
    }
    await page.keyboard.up('PageUp')
  }, { rows: true }))
  // The thumb of the scroll bar is dragged from the end to the top and back.
  tell('scroll bar dragged', await lab.watch('drag', () => chat.log.evaluate(async (el) => {
    for (let i = 0; i <= 120; i++) {
      el.scrollTop = (el.scrollHeight - el.clientHeight) * Math.abs(1 - i / 60)
      await new Promise((done) => requestAnimationFrame(done))
    }
  }), { rows: true }))
  lab.tellUnits()
})
