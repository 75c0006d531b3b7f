// @vitest-environment happy-dom
import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { FailureError } from '@/api/failure'
import { flush } from '@/testing/core'

import Composer from './Composer.vue'
import { isBlank, withoutSent } from './text'

type Submit = (text: string, requestId: string) => Promise<void>

let wrapper: VueWrapper

function compose(change: Record<string, unknown> = {}) {
  const saved: string[] = []
  const store = {
    load: vi.fn(async () => 'kept text'),
    save: vi.fn(async (_: string, text: string) => void saved.push(text)),
  }
  const submit = vi.fn<Submit>(async () => {})
  wrapper = mount(Composer, {
    attachTo: document.body,
    props: { sessionId: 's1', running: false, stopping: false, placeholder: 'Message', store, submit, ...change },
  })
  const field = wrapper.get('textarea')
  return { field, store, saved, submit, text: () => (field.element as HTMLTextAreaElement).value }
}

const refused = () => new FailureError({ code: 'STORAGE_FAILED', message: 'the disk is full' }, 500)

afterEach(() => wrapper.unmount())

describe('sending', () => {
  it('sends on Enter and clears the field once Core has the message R-CHAT-051', async () => {
    let acknowledge = () => {}
    const submit = vi.fn<Submit>(() => new Promise<void>((resolve) => (acknowledge = resolve)))
    const { field, text, saved } = compose({ submit })
    await flush()
    await field.setValue('Hello')
    await field.trigger('keydown', { key: 'Enter' })
    expect(submit).toHaveBeenCalledExactlyOnceWith('Hello', expect.any(String))
    expect(text()).toBe('Hello')
    await field.trigger('keydown', { key: 'Enter' })
    expect(submit, 'a second submit is blocked, R-CHAT-053').toHaveBeenCalledTimes(1)
    acknowledge()
    await flush()
    expect(text()).toBe('')
    expect(saved.at(-1)).toBe('')
  })

  it('keeps what was typed while the message was on its way', async () => {
    let acknowledge = () => {}
    const { field, text } = compose({ submit: () => new Promise<void>((resolve) => (acknowledge = resolve)) })
    await flush()
    await field.setValue('Hello')
    await field.trigger('keydown', { key: 'Enter' })
    await field.setValue('Hello and more')
    acknowledge()
    await flush()
    expect(text()).toBe('and more')
  })

  it('breaks the line on Shift+Enter', async () => {
    const { field, submit } = compose()
    await field.setValue('Hello')
    await field.trigger('keydown', { key: 'Enter', shiftKey: true })
    expect(submit).not.toHaveBeenCalled()
  })

  it.each([{ isComposing: true }, { keyCode: 229 }])('never sends while an input method composes: %o R-CHAT-051', async (how) => {
    const { field, submit } = compose()
    await field.setValue('你好')
    await field.trigger('keydown', { key: 'Enter', ...how })
    expect(submit).not.toHaveBeenCalled()
  })

  it('sends nothing that is blank after a Unicode trim R-CHAT-041', async () => {
    const { field, submit } = compose()
    await field.setValue(' \u3000\u2003\u0085\ufeff\n')
    await field.trigger('keydown', { key: 'Enter' })
    expect(submit).not.toHaveBeenCalled()
    expect(wrapper.get('button[type=submit]').attributes('disabled')).toBeDefined()
  })
})

describe('failure', () => {
  it('keeps the text, says why, and retries with the same request id', async () => {
    const submit = vi.fn<Submit>().mockRejectedValueOnce(refused()).mockResolvedValue()
    const { field, text } = compose({ submit })
    await field.setValue('Hello')
    await field.trigger('keydown', { key: 'Enter' })
    await flush()
    expect(text()).toBe('Hello')
    expect(wrapper.get('[role=alert]').text()).toContain('the disk is full')
    await wrapper.get('[role=alert] button').trigger('click')
    await flush()
    expect(submit.mock.calls[1]).toEqual(submit.mock.calls[0])
    expect(text()).toBe('')
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('takes a new request id for a changed text', async () => {
    const submit = vi.fn<Submit>().mockRejectedValueOnce(refused()).mockResolvedValue()
    const { field } = compose({ submit })
    await field.setValue('Hello')
    await field.trigger('keydown', { key: 'Enter' })
    await flush()
    await field.setValue('Hello!')
    await field.trigger('keydown', { key: 'Enter' })
    await flush()
    expect(submit.mock.calls[1]![1]).not.toBe(submit.mock.calls[0]![1])
  })
})

describe('while a turn runs', () => {
  it('queues on Enter, says so, and offers to stop R-CHAT-052', async () => {
    const { field, submit, text } = compose({ running: true, queues: true })
    await field.setValue('')
    expect(wrapper.find('button[type=submit]').exists(), 'nothing to queue yet').toBe(false)
    await field.setValue('Hello')
    expect(wrapper.get('.hint').text()).toContain('Enter queues')
    expect(wrapper.get('button[type=submit]').attributes('aria-label')).toBe('Queue message')
    await field.trigger('keydown', { key: 'Enter' })
    expect(submit).toHaveBeenCalledExactlyOnceWith('Hello', expect.any(String))
    await flush()
    expect(text()).toBe('')
    await wrapper.get('button.stop').trigger('click')
    expect(wrapper.emitted('stop')).toHaveLength(1)
  })
})

describe('the kept text', () => {
  it('shows what Core kept and writes changes later R-CHAT-006', async () => {
    const { field, store, text } = compose()
    await flush()
    expect(text()).toBe('kept text')
    vi.useFakeTimers()
    await field.setValue('a')
    await field.setValue('ab')
    expect(store.save).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(400)
    vi.useRealTimers()
    expect(store.save).toHaveBeenCalledExactlyOnceWith('s1', 'ab')
  })

  it('does not replace what the user typed before it came', async () => {
    let answer: (text: string) => void = () => {}
    const store = { load: () => new Promise<string>((resolve) => (answer = resolve)), save: async () => {} }
    const { field, text } = compose({ store })
    await field.setValue('typed')
    answer('kept text')
    await flush()
    expect(text()).toBe('typed')
  })

  it('is written at once when the composer goes away', async () => {
    const { field, store } = compose()
    await field.setValue('half a thou')
    wrapper.unmount()
    await flush()
    expect(store.save).toHaveBeenCalledExactlyOnceWith('s1', 'half a thou')
    wrapper = mount({ template: '<i />' })
  })

  it('is what this tab wrote last while that is on its way R-CHAT-006', async () => {
    let held: string | null = null
    let arrive: () => void = () => {}
    const store = {
      load: vi.fn(async () => 'older text'),
      save: vi.fn(() => new Promise<void>((resolve) => (arrive = resolve))),
      hold: (_: string, text: string | null) => (held = text),
      held: () => held,
    }
    const { field } = compose({ store })
    await field.setValue('last words')
    wrapper.unmount()
    const { text } = compose({ store })
    await flush()
    expect(text()).toBe('last words')
    expect(store.save).toHaveBeenLastCalledWith('s1', 'last words')
    arrive()
    await flush()
    expect(held).toBeNull()
  })
})

describe('earlier messages', () => {
  const earlier = () => ['first', 'second\nwith two lines']

  it('come back with the arrow keys, and what was typed is neither lost nor kept as something else', async () => {
    const { field, text, saved } = compose({ earlier })
    const el = field.element as HTMLTextAreaElement
    await flush()
    await field.setValue('a draft')
    await field.trigger('keydown', { key: 'ArrowUp' })
    expect(text(), 'the caret is not at the start').toBe('a draft')
    el.setSelectionRange(0, 0)
    await field.trigger('keydown', { key: 'ArrowUp', shiftKey: true })
    expect(text()).toBe('a draft')
    await field.trigger('keydown', { key: 'ArrowUp' })
    expect(text()).toBe('second\nwith two lines')
    await flush()
    expect(saved, 'Core keeps the draft at once').toEqual(['a draft'])
    await field.trigger('keydown', { key: 'ArrowUp' })
    expect(text()).toBe('first')
    await field.trigger('keydown', { key: 'ArrowDown' })
    await field.trigger('keydown', { key: 'ArrowDown' })
    expect(text()).toBe('a draft')
    await flush()
    expect(el.selectionStart, 'writing goes on').toBe('a draft'.length)
    expect(saved).toEqual(['a draft'])
  })

  it('can be sent again, and the draft is there afterwards', async () => {
    const { field, text, submit, saved } = compose({ earlier })
    await flush()
    await field.setValue('a draft')
    ;(field.element as HTMLTextAreaElement).setSelectionRange(0, 0)
    await field.trigger('keydown', { key: 'ArrowUp' })
    await field.trigger('keydown', { key: 'Enter' })
    await flush()
    expect(submit).toHaveBeenCalledExactlyOnceWith('second\nwith two lines', expect.any(String))
    expect(text()).toBe('a draft')
    expect(saved.at(-1)).toBe('a draft')
  })

  it('are not touched while an input method composes R-CHAT-051', async () => {
    const { field, text } = compose({ earlier, store: { load: async () => '', save: async () => {} } })
    await flush()
    await field.trigger('keydown', { key: 'ArrowUp', isComposing: true })
    expect(text()).toBe('')
    await field.trigger('keydown', { key: 'ArrowUp' })
    expect(text()).toBe('second\nwith two lines')
  })
})

it('leaves the field on Escape', async () => {
  const { field } = compose()
  expect(document.activeElement).toBe(field.element)
  await field.trigger('keydown', { key: 'Escape' })
  expect(document.activeElement).not.toBe(field.element)
})

it('knows blank texts and what is left of a sent one', () => {
  expect(isBlank('')).toBe(true)
  expect(isBlank('\u200b')).toBe(false)
  expect(withoutSent('sent', 'sent')).toBe('')
  expect(withoutSent('other', 'sent')).toBe('other')
})
