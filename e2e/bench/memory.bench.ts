import { test } from './lab.ts'

// Six long Sessions, opened one after another, four rounds.

const sessions = 6
const messages = 2000
const histories = Array.from({ length: sessions }, (_, i) => ({
  ...{ messages, seed: i + 1 },
  ...{ session: `session-history-${i}`, name: `History number ${i}` },
}))

// The tuple is needed: Playwright takes the second object of a list for settings.
test.use({ histories: [histories, { scope: 'test' }] })

test('open 6 Sessions of 2,000 messages one after another', async ({ chat, lab }) => {
  const heaps: number[] = []
  const nodes: number[] = []
  const before = await lab.memory()
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < sessions; i++) {
      const all = round === 0 ? lab.wholeHistory(`session-history-${i}`) : Promise.resolve()
      await chat.row(`History number ${i}`).click()
      await lab.shown(`End of answer ${messages - 1}.`)
      await all
    }
    await lab.rest()
    const now = await lab.memory()
    heaps.push(now.heap)
    nodes.push(now.nodes)
  }
  lab.tell('heap, empty page', before.heap, 'MB')
  lab.tell('heap after the first round', heaps[0]!, 'MB')
  lab.tell('heap grows from round 2 to 4', heaps[3]! - heaps[1]!, 'MB', { must: 5 })
  lab.tell('nodes after the first round, attached or not', nodes[0]!, '')
  lab.tell('nodes grow from round 2 to 4', nodes[3]! - nodes[1]!, '', { must: 500 })
})
