import { expect, test } from './lab.ts'

// 200 KB of Markdown in 5,000 chunks, below 5,000 messages.

test.use({ histories: [{ messages: 5000 }] })

const bytes = 200_000
const chunks = 5000
const shapes = (process.env.FYLLO_BENCH_SHAPES ?? 'mixed,prose,list,table,code,quote,line').split(',')
const paces = (process.env.FYLLO_BENCH_PACES ?? '2ms,0ms').split(',')

for (const shape of shapes) {
  for (const pace of paces) {
    const rate = pace === '0ms' ? 'at full speed' : `one each ${pace}`
    test(`stream ${bytes / 1000} KB of ${shape} in ${chunks} chunks, ${rate}`, async ({ chat, core, lab, page }) => {
      const all = lab.wholeHistory('session-history')
      await chat.row('A long history').click()
      await lab.shown('End of answer 4999.')
      await all
      await lab.rest()
      await lab.calibrate()
      const idle = await lab.idle()
      const run = await lab.watch(`stream ${shape} ${pace}`, async () => {
        await chat.say(`stream ${bytes} ${chunks} ${shape} ${pace}`)
        await lab.shown('End of the stream.')
        await chat.ended()
      })
      await expect.poll(async () => (await core.messages('session-history')).at(-1)?.role).toBe('assistant')
      const text = (await core.messages('session-history')).at(-1)!.parts.map((p) => p.text ?? '').join('')
      expect(text.length).toBeGreaterThanOrEqual(bytes)
      expect(text.endsWith('End of the stream.')).toBe(true)
      const fresh = await lab.fresh(text)
      lab.tellSmooth(run, idle)
      const unit = { ratio: run.totalCPU / fresh, of: 'fresh' }
      lab.tell('main thread in all, CPU', run.totalCPU, 'ms', unit)
      lab.tell('one fresh parse and render', fresh, 'ms')
      lab.tellUnits()
      // What stands at the end after the stream is what a page draws that opens the Session now.
      const drawn = (): Promise<string> => page.evaluate(() => [...document.querySelectorAll('[role=log] .md')].at(-1)!.innerHTML)
      const streamed = await drawn()
      await page.reload()
      await lab.shown('End of the stream.')
      expect(await drawn()).toBe(streamed)
    })
  }
}
