// @vitest-environment happy-dom
import { mount } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'

import type { Permission } from '@/api/types'

import { transcriptKey, type TranscriptContext } from '../context'
import PermissionCard from './PermissionCard.vue'

function card(options: Permission['options'], title = 'Write') {
  const answer = vi.fn()
  const ask: Permission = { id: 'p', sessionId: 's', messageId: 'm', title, options, requestedAt: '2026-01-01T00:00:00Z' }
  const wrapper = mount(PermissionCard, {
    props: { ask },
    global: { provide: { [transcriptKey as symbol]: { answer } as unknown as TranscriptContext } },
  })
  const names = () => wrapper.findAll('button:not([data-more])').map((b) => b.text())
  return { wrapper, answer, names }
}

describe('the options of a request', () => {
  it('are exactly those of the Agent in its order, also when two have one id (decision 1)', async () => {
    const { wrapper, answer, names } = card([
      { optionId: 'a', name: 'Always', kind: 'allow_always' },
      { optionId: 'a', name: 'Once', kind: 'allow_once' },
      { optionId: 'n', name: '', kind: 'reject_once' },
    ])
    expect(names()).toEqual(['Always', 'Once', 'n'])
    expect(wrapper.find('[data-more]').exists()).toBe(false)
    await wrapper.findAll('button')[2]!.trigger('click')
    expect(answer).toHaveBeenCalledExactlyOnceWith('p', 'n')
    wrapper.unmount()
  })

  it('hide no characters that change what is read', () => {
    const { wrapper, names } = card([{ optionId: 'a', name: 'Allow\u202eonce', kind: 'allow_once' }], 'rm \u202egnp.exe')
    expect(names()).toEqual(['Allow⟨U+202E⟩once'])
    expect(wrapper.get('.ask-title').text()).toBe('rm ⟨U+202E⟩gnp.exe')
    wrapper.unmount()
  })

  it('appear step by step when there are thousands, so that the window stays usable', async () => {
    const { wrapper, names } = card(Array.from({ length: 10_000 }, (_, i) => ({ optionId: `o${i}`, name: `Option ${i}`, kind: 'allow_once' })))
    expect(names()).toHaveLength(50)
    await wrapper.get('[data-more]').trigger('click')
    expect(names()).toHaveLength(100)
    expect(names()[99]).toBe('Option 99')
    wrapper.unmount()
  })
})
