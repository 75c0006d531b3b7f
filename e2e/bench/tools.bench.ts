import { expect, test } from './lab.ts'

// 2,000 calls in one message: arriving, opened from disk, and shown one by one.

const tools = 2000

test.use({ histories: [{ messages: 1000, tools }] })

test('2,000 calls in one message, live', async ({ chat, core, lab }) => {
  const all = lab.wholeHistory('session-history')
  await chat.row('A long history').click()
  await lab.shown('End of answer 999.')
  await all
  await lab.rest()
  await lab.calibrate()
  const idle = await lab.idle()
  const run = await lab.watch('tools live', async () => {
    await chat.say(`tools ${tools} 4096; echo That was all.`)
    await lab.shown('That was all.')
    await chat.ended()
  })
  await expect.poll(async () => (await core.messages('session-history')).at(-1)?.role).toBe('assistant')
  const parts = (await core.messages('session-history')).at(-1)!.parts
  expect(parts.filter((p) => p.type === 'tool')).toHaveLength(tools)
  lab.tellSmooth(run, idle)
  lab.tellUnits()
})

test('2,000 calls in one message, opened from disk', async ({ chat, lab }) => {
  await lab.calibrate()
  const open = await lab.watch('tools from disk', async () => {
    await chat.row('A long history').click()
    await lab.shown('End of answer 999.')
    await lab.rest()
  })
  lab.tellSmooth(open)
  const group = chat.log.getByRole('button', { name: /^(?=.*Read [\d,]+ files)(?=.*Run [\d,]+ commands)/ }).last()
  await group.scrollIntoViewIfNeeded()
  const run = await lab.watch('tools opened', async () => {
    await group.click()
    await expect(group).toHaveAttribute('aria-expanded', 'true')
    await lab.rest()
  })
  lab.tell('opening the group: longest task, CPU', run.longestCPU, 'ms', lab.task(run))
  lab.tell('opening the group: elements', run.elements, '', { must: 2000, aim: 300 })
  lab.tellUnits()
})
