import { expect, test } from './lab.ts'

// Eight Sessions that stream while one is shown, and a tab in the background.

test.use({ agents: Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`Agent ${i}`, 'default'])) })

test('8 Sessions stream 50 KB each, one is shown', async ({ chat, core, lab, context, page }) => {
  const workspace = await core.workspace()
  await lab.calibrate()
  const idle = await lab.idle()
  const words = (i: number): string => `stream 50000 2000 mixed 4ms; echo That was ${i}.`
  const ids: string[] = []
  const run = await lab.watch('many', async () => {
    for (let i = 1; i < 8; i++) ids.push(await core.begin(`Agent ${i}`, words(i), workspace))
    ids.push(await chat.begin(words(0)))
    await lab.shown('That was 0.')
    await chat.ended()
  })
  for (const id of ids) {
    await expect.poll(async () => (await core.messages(id)).length, { timeout: 60_000 }).toBe(2)
    const text = (await core.messages(id))[1]!.parts.map((p) => p.text ?? '').join('')
    expect(text).toMatch(/End of the stream\. ?That was \d\.$/)
  }
  lab.tellSmooth(run, idle)

  // Another tab is in front; when this one comes back, everything is there at once.
  await page.goto(`${core.origin}/chat`)
  const id = await chat.begin('echo Ready.')
  await chat.ended()
  await (await context.newPage()).bringToFront()
  await chat.say('stream 200000 5000 mixed; echo That was all.')
  await expect.poll(async () => (await core.messages(id)).length, { timeout: 60_000 }).toBe(4)
  const back = await lab.watch('back', async () => {
    await page.bringToFront()
    await lab.shown('That was all.')
  })
  lab.tell('back from the background: longest task, CPU', back.longestCPU, 'ms', lab.task(back))
  lab.tell('back from the background → everything shown', back.wall, 'ms')
  lab.tellUnits()
})
