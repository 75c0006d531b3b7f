import { describe, expect, it } from 'vitest'
import { prepend, reduce, rejoin } from './reduce'
import { at, event, message, tool, view } from './testing'

const delta = (seq: number, messageId: string, index: number, text: string, at = 0) =>
  event(seq, 'delta', { messageId, partId: `${messageId}.${index}`, index, kind: 'text', at, text })

const ask = { id: 'p1', sessionId: 's1', messageId: 'm1', toolCallId: 'c1', title: 'Run', options: [], requestedAt: at }

describe('reduce', () => {
  it('applies only events of its Session after its position, each once', () => {
    const v = view([message('u1', 'user', ['hi'])])
    const events = [delta(10, 'm1', 0, 'old'), delta(11, 'm1', 0, 'a'), delta(11, 'm1', 0, 'a')]
    const next = reduce(v, [...events, { ...delta(12, 'm1', 0, 'x'), sessionId: 's2' } as never])
    expect(next.messages.at(-1)?.parts[0]?.text).toBe('a')
    expect(next.seq).toBe(11)
    expect(reduce(next, events)).toBe(next)
  })

  it('takes the tags of a part as they are told, and keeps them while its text grows (R-TAG-010)', () => {
    const tag = { start: 0, end: 5, tag: 'fyllo-signal', type: 'show.time', verdict: 'accepted', payload: { label: 'x' }, ordinal: 0 }
    const v = view([message('u1', 'user', ['hi'])])
    const told = event(12, 'tags', { messageId: 'm1', index: 0, tags: [tag] })
    const next = reduce(v, [delta(11, 'm1', 0, '<tag>'), told, delta(13, 'm1', 0, ' more', 5)])
    expect(next.messages.at(-1)?.parts[0]).toMatchObject({ text: '<tag> more', tags: [tag] })
    expect(reduce(v, [told]).messages).toEqual(v.messages)
  })

  it('never changes the view it was given', () => {
    const v = view([message('u1', 'user', ['hi'])], { live: message('m1', 'assistant', ['a']) })
    const before = structuredClone({ ...v, growing: [...v.growing] })
    reduce(v, [delta(11, 'm1', 0, 'b', 1), event(12, 'part', { messageId: 'm1', index: 1, part: { id: 'm1.1', ...tool('c1') } })])
    expect({ ...v, growing: [...v.growing] }).toEqual(before)
  })

  it('gives the same result in one batch and event by event', () => {
    const v = view([message('u1', 'user', ['hi'])])
    const events = [
      event(11, 'turn', { state: 'waiting', userMessageId: 'u1', startedAt: at }),
      delta(12, 'm1', 0, 'Hello '),
      delta(13, 'm1', 0, 'you', 6),
      event(14, 'part', { messageId: 'm1', index: 1, part: { id: 'm1.1', ...tool('c1', { status: 'pending' }) } }),
      event(15, 'permission', ask),
      event(16, 'permission.closed', { messageId: 'm1', toolCallId: 'c1', note: { id: 'p1', outcome: 'selected', by: 'user', at } }),
      event(17, 'usage', { used: 1, size: 2 }),
      event(18, 'turn.end', { userMessageId: 'u1', messageId: 'm1', end: { stopReason: 'end_turn', at } }),
    ]
    const strip = (x: typeof v) => ({ ...x, messages: x.messages.map((m) => ({ ...m, createdAt: '', updatedAt: '' })) })
    const single = events.reduce((x, e) => reduce(x, [e]), v)
    expect(strip(reduce(v, events))).toEqual(strip(single))
    expect(single.messages.at(-1)?.parts.map((p) => p.text ?? p.tool?.permissions?.[0]?.outcome)).toEqual(['Hello you', 'selected'])
    expect(single.turn.state).toBe('idle')
  })

  it('takes a live message of the detail instead of the stored one of the same id', () => {
    const v = view([message('u1', 'user', ['hi']), message('m1', 'assistant', ['whole'])], { live: message('m1', 'assistant', ['who']) })
    expect(v.messages.map((m) => m.id)).toEqual(['u1', 'm1'])
    expect(reduce(v, [delta(11, 'm1', 0, 'le', 3)]).messages.at(-1)?.parts[0]?.text).toBe('whole')
  })

  it('ignores deltas of a stored message, which the page already holds', () => {
    const v = view([message('m1', 'assistant', ['whole'])])
    expect(reduce(v, [delta(11, 'm1', 0, 'whole')]).messages[0]?.parts[0]?.text).toBe('whole')
  })

  it('takes of a joined delta only what the snapshot does not hold, and tells a hole', () => {
    const v = view([], { live: message('m1', 'assistant', ['ab']) })
    const text = (at: number, t: string) => reduce(v, [delta(11, 'm1', 0, t, at)]).messages[0]?.parts[0]?.text
    expect(text(1, 'bc')).toBe('abc')
    expect(text(0, 'ab')).toBe('ab')
    expect(text(2, 'c')).toBe('abc')
    expect(reduce(v, [delta(11, 'm1', 0, 'd', 3)])).toMatchObject({ torn: true, messages: [{ parts: [{ text: 'ab' }] }] })
  })

  it('replaces a message whole, and adding it twice changes nothing', () => {
    const v = view([message('u1', 'user', ['hi'])])
    const m = message('u2', 'user', ['again'])
    const once = reduce(v, [event(11, 'message', m)])
    expect(reduce(once, [event(12, 'message', m)]).messages).toEqual(once.messages)
  })

  it('keeps untouched messages identical', () => {
    const v = view([message('u1', 'user', ['hi'])], { live: message('m1', 'assistant', ['a']) })
    const next = reduce(v, [delta(11, 'm1', 0, 'b', 1)])
    expect(next.messages[0]).toBe(v.messages[0])
    expect(next.messages[1]).not.toBe(v.messages[1])
  })

  it('keeps the index of a part when one before it never came', () => {
    const next = reduce(view(), [delta(11, 'm1', 2, 'x')])
    expect(next.messages[0]?.parts.map((p) => p.id)).toEqual(['m1.0', 'm1.1', 'm1.2'])
  })

  it('closes open requests when the turn ends', () => {
    const v = view([], { permissions: [ask], turn: { state: 'streaming' } })
    const next = reduce(v, [event(11, 'turn.end', { userMessageId: 'u1', end: { stopReason: 'cancelled', at } })])
    expect(next.permissions).toEqual([])
  })

  it('notes the end at the user message when the Agent sent nothing', () => {
    const v = view([message('u1', 'user', ['hi'])])
    const end = { error: { code: 'AGENT_EXITED', message: 'gone' }, at }
    expect(reduce(v, [event(11, 'turn.end', { userMessageId: 'u1', end })]).messages[0]?.end).toEqual(end)
  })

  it('skips event types it does not know', () => {
    const next = reduce(view(), [{ seq: 11, sessionId: 's1', type: 'later', data: {} } as never])
    expect(next.seq).toBe(11)
  })

  it('puts an older page in front without doubling a message', () => {
    const v = view([message('u2', 'user', ['b'])], {}, { before: 'x' })
    const next = prepend(v, { messages: [message('u1', 'user', ['a']), message('u2', 'user', ['b'])], seq: 10 })
    expect(next.messages.map((m) => m.id)).toEqual(['u1', 'u2'])
    expect(next.messages[1]).toBe(v.messages[0])
    expect(next.before).toBeUndefined()
  })
})

describe('rejoin', () => {
  const m = (i: number, text = 'a') => message(`m${i}`, 'user', [text])
  const damage = { file: 'f', offset: 1, length: 2, reason: 'torn' }

  it('keeps the older messages of a Session that was read anew', () => {
    const old = { ...view([m(1), m(2), m(3)], {}, { before: 'x' }), damage: [damage, { ...damage, offset: 9 }] }
    const fresh = view([m(2, 'new'), m(3), m(4)], { seq: 20 }, { before: 'y', damage: [damage] })
    const joined = rejoin(old, fresh)
    expect(joined.messages.map((x) => x.id)).toEqual(['m1', 'm2', 'm3', 'm4'])
    expect(joined.messages[0]).toBe(old.messages[0])
    expect(joined.messages[1]).toBe(fresh.messages[0])
    expect([joined.before, joined.seq]).toEqual(['x', 20])
    expect(joined.damage.map((d) => d.offset)).toEqual([9, 1])
  })

  it('takes what was read anew when the two do not meet, or when it is whole', () => {
    const old = view([m(1), m(2)], {}, { before: 'x' })
    const far = view([m(8), m(9)], {}, { before: 'y' })
    expect(rejoin(old, far)).toBe(far)
    const whole = view([m(2), m(3)])
    expect(rejoin(old, whole)).toBe(whole)
  })
})
