import { expect, it } from 'vitest'

import { flush } from '@/testing/core'

import { ConfigChanges } from './config'

/** Changes whose answers the test gives. */
function scripted() {
  const sent: string[] = []
  const answers: { resolve: () => void; reject: (e: unknown) => void }[] = []
  const changes = new ConfigChanges((id, value) => {
    sent.push(`${id}=${value}`)
    return new Promise<void>((resolve, reject) => answers.push({ resolve, reject }))
  })
  return { changes, sent, answers }
}

it('sends quick changes in the order in which they were made, one after another R-CHAT-037', async () => {
  const { changes, sent, answers } = scripted()
  const done = [changes.change('m', 'a'), changes.change('m', 'b'), changes.change('fast', true)]
  await flush()
  expect(sent).toEqual(['m=a'])
  expect([...changes.pending.value]).toEqual(['m', 'fast'])
  answers[0]!.resolve()
  await flush()
  expect(sent).toEqual(['m=a', 'm=b'])
  expect([...changes.pending.value], 'the second change of m is still on its way').toEqual(['m', 'fast'])
  answers[1]!.resolve()
  await flush()
  expect([...changes.pending.value]).toEqual(['fast'])
  answers[2]!.resolve()
  await Promise.all(done)
  expect(changes.pending.value.size).toBe(0)
})

it('goes on after a failure and tells it to the one that asked R-CHAT-037', async () => {
  const { changes, sent, answers } = scripted()
  const first = changes.change('m', 'a')
  const second = changes.change('m', 'b')
  await flush()
  answers[0]!.reject(new Error('refused'))
  await expect(first).rejects.toThrow('refused')
  await flush()
  expect(sent).toEqual(['m=a', 'm=b'])
  answers[1]!.resolve()
  await second
  expect(changes.pending.value.size).toBe(0)
})

it('settles when all that was asked for is answered, whatever the answer', async () => {
  const { changes, answers } = scripted()
  await changes.settled()
  void changes.change('m', 'a').catch(() => {})
  let settled = false
  void changes.settled().then(() => (settled = true))
  await flush()
  expect(settled).toBe(false)
  answers[0]!.reject(new Error('refused'))
  await flush()
  expect(settled).toBe(true)
})
