import { expect, test } from './lab.ts'

// 10,000 Sessions in the list: a visit, the way to the end of the list, and a Session that is opened among them.

const copies = 10_000

test.use({ histories: [{ messages: 2, copies, session: 'session-many', name: 'Session number' }] })

test('a list of 10,000 Sessions', async ({ chat, core, lab, page }) => {
  test.setTimeout(300_000)
  await expect(chat.sidebar.getByRole('heading')).toHaveText(`Recent Sessions ${copies}`)
  await lab.calibrate()
  const visits: number[] = []
  for (let i = 0; i < 3; i++) {
    await page.goto(`${core.origin}/chat`, { waitUntil: 'commit' })
    visits.push(await page.evaluate(() => new Promise<number>((done) => {
      const look = (): unknown => document.querySelector('nav a[href^="/chat/session-many-"]')
        ? setTimeout(() => done(performance.now()))
        : requestAnimationFrame(look)
      look()
    })))
  }
  const visit = Math.min(...visits)
  lab.tell('visit → the list painted, least of 3', visit, 'ms', { ratio: visit / lab.loop, of: 'loops' })
  const began = await lab.memory()
  lab.tell('JavaScript heap', began.heap, 'MB')

  const run = await lab.watch('list', async () => {
    await chat.sessions.first().hover()
    for (let i = 0; i < 120; i++) {
      await page.mouse.wheel(0, 1500)
      await page.waitForTimeout(16)
    }
  })
  lab.tell('scrolling it: longest task, CPU', run.longestCPU, 'ms', lab.task(run))
  lab.tell('scrolling it: elements', run.elements, '', { must: 2000, aim: 300 })
  const loaded = await lab.watch('end of the list', async () => {
    await expect(async () => {
      await page.mouse.wheel(0, 1_000_000)
      await expect(chat.row(/^Session number 0(?!\d)/)).toBeInViewport({ timeout: 50 })
    }).toPass({ timeout: 200_000 })
  })
  lab.tell('to the end of the list', loaded.wall, 'ms')
  lab.tell('on the way: longest task, CPU', loaded.longestCPU, 'ms', lab.task(loaded))
  const ended = await lab.memory()
  lab.tell('JavaScript heap, all of it loaded', ended.heap, 'MB')
  const open = await lab.watch('open', async () => {
    await chat.row(/^Session number 0(?!\d)/).click()
    await lab.shown('End of answer 1.')
  })
  lab.tell('open a Session in it: longest task, CPU', open.longestCPU, 'ms', lab.task(open))
  const turn = await lab.watch('turn', async () => {
    await chat.say('stream 20000 400 prose 4ms; echo That was all.')
    await lab.shown('That was all.')
    await chat.ended()
  })
  lab.tell('a turn beside it: longest task, CPU', turn.longestCPU, 'ms', lab.task(turn))
  lab.tellUnits()
})
