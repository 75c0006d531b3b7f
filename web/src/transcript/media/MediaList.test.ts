// @vitest-environment happy-dom
import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { FailureError } from '@/api/failure'
import type { Attachment, MediaQuery } from '@/api/types'

import { transcriptKey, type TranscriptContext } from '../context'
import MediaList from './MediaList.vue'

const live: Attachment = { mime: 'image/png', data: { text: 'iVBORw0KGgo', size: 4000, ref: { offset: 0, length: 0 } } }
const stored: Attachment = { mime: 'image/png', file: 'a.png', size: 2999 }
const other: Attachment = { mime: 'image/png', file: 'b.png', size: 2999 }

/** Object URLs that were made and not given back. */
const urls = new Set<string>()

beforeEach(() => {
  let n = 0
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
    const url = `blob:${(blob as Blob).type}:${++n}`
    urls.add(url)
    return url
  })
  vi.spyOn(URL, 'revokeObjectURL').mockImplementation((url) => void urls.delete(url))
})
afterEach(() => {
  vi.restoreAllMocks()
  expect([...urls], 'object URLs that nobody gave back').toEqual([])
})

/** A list whose bytes come when the test says so. */
function list(media: Attachment[], own = false) {
  const asked: { query: MediaQuery; answer: (type: string) => Promise<unknown>; refuse: (code: string) => Promise<unknown> }[] = []
  const loadMedia = (query: MediaQuery) =>
    new Promise<Blob>((resolve, reject) =>
      asked.push({
        query,
        answer: (type) => (resolve(new Blob(['x'], { type })), flushPromises()),
        refuse: (code) => (reject(new FailureError({ code, message: `refused: ${code}` } as never, 404)), flushPromises()),
      }),
    )
  const wrapper = mount(MediaList, {
    props: { partId: 'm.1', media, own },
    global: { provide: { [transcriptKey as symbol]: { loadMedia } as unknown as TranscriptContext } },
  })
  return { wrapper, asked }
}

describe('a picture', () => {
  it('stays the same when its answer is stored, and is given back when it goes (R-CHAT-096)', async () => {
    const { wrapper, asked } = list([live])
    expect(asked.map((a) => a.query)).toEqual([{ part: 'm.1', index: 0 }])
    expect(wrapper.find('img').exists()).toBe(false)
    await asked[0]!.answer('image/png')
    expect(wrapper.get('img').attributes('src')).toBe('blob:image/png:1')
    await wrapper.setProps({ media: [stored] })
    expect(asked).toHaveLength(1)
    expect(wrapper.get('img').attributes('src')).toBe('blob:image/png:1')
    wrapper.unmount()
  })

  it('that becomes another one is loaded anew, and a late answer for the old one is dropped', async () => {
    const { wrapper, asked } = list([stored])
    await wrapper.setProps({ media: [other] })
    expect(asked).toHaveLength(2)
    await asked[1]!.answer('image/png')
    await asked[0]!.answer('image/gif')
    expect(wrapper.get('img').attributes('src')).toBe('blob:image/png:1')
    await wrapper.setProps({ media: [stored] })
    expect(wrapper.find('img').exists()).toBe(false)
    expect(urls.size).toBe(0)
    wrapper.unmount()
  })

  it('that comes after its row went away is not kept', async () => {
    const { wrapper, asked } = list([stored])
    wrapper.unmount()
    await asked[0]!.answer('image/png')
    expect(urls.size).toBe(0)
  })

  it('whose bytes are none is never put into the page (R-CHAT-132)', async () => {
    const { wrapper, asked } = list([live])
    await asked[0]!.answer('application/octet-stream')
    expect(wrapper.find('img').exists()).toBe(false)
    expect(wrapper.text()).toContain('not the bytes of a picture')
    wrapper.unmount()
  })

  it('that the browser cannot read says so', async () => {
    const { wrapper, asked } = list([live])
    await asked[0]!.answer('image/png')
    await wrapper.get('img').trigger('error')
    expect(wrapper.find('img').exists()).toBe(false)
    expect(wrapper.text()).toContain('The picture is damaged.')
    wrapper.unmount()
  })

  it('that could not be loaded can be tried again, unless it is not there', async () => {
    const { wrapper, asked } = list([stored])
    await asked[0]!.refuse('NETWORK')
    expect(wrapper.text()).toContain('refused: NETWORK')
    await wrapper.findAll('button').find((b) => b.text() === 'Retry')!.trigger('click')
    await asked[1]!.refuse('NOT_FOUND')
    expect(wrapper.text()).toContain('cannot be decoded')
    expect(wrapper.findAll('button')).toHaveLength(0)
    wrapper.unmount()
  })

  it('of more than 8 MiB waits for a click', async () => {
    const { wrapper, asked } = list([{ ...stored, size: 20 * 1024 * 1024 }])
    expect(asked).toHaveLength(0)
    await wrapper.get('button').trigger('click')
    await asked[0]!.answer('image/png')
    expect(wrapper.find('img').exists()).toBe(true)
    wrapper.unmount()
  })
})

describe('other attachments', () => {
  it('that are links are never loaded, and those that are files only to be saved', async () => {
    const { wrapper, asked } = list([
      { name: 'linked.png', mime: 'image/png', uri: 'https://evil.example/linked.png' },
      { name: 'report.pdf', mime: 'application/pdf', file: 'a.bin', size: 3 },
      { mime: 'image/svg+xml', file: 'b.bin', size: 3 },
    ])
    expect(asked).toHaveLength(0)
    expect(wrapper.find('img, a, audio').exists()).toBe(false)
    expect(wrapper.text()).toContain('linked, not loaded')
    expect(wrapper.text()).toContain('An SVG can hold scripts')
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      expect([this.href, this.download]).toEqual(['blob:application/octet-stream:1', 'report.pdf'])
    })
    await wrapper.get('[aria-label="Save report.pdf"]').trigger('click')
    await asked[0]!.answer('application/octet-stream')
    expect(saved).toHaveBeenCalledOnce()
    expect(asked.map((a) => a.query)).toEqual([{ part: 'm.1', index: 1 }])
    wrapper.unmount()
  })

  it('that are sounds are played from their bytes', async () => {
    const { wrapper, asked } = list([{ mime: 'audio/wav', file: 'a.wav', size: 3 }])
    await asked[0]!.answer('audio/wav')
    expect(wrapper.get('audio').attributes('src')).toBe('blob:audio/wav:1')
    wrapper.unmount()
  })

  it('that are texts show their words and are asked for nothing', () => {
    const { wrapper, asked } = list([{ mime: 'text/plain', uri: 'file:///a/notes.txt', isText: true, data: { text: 'some words', size: 10 } }], true)
    expect(wrapper.get('pre').text()).toBe('some words')
    expect(wrapper.text()).toContain('notes.txt')
    expect(asked).toHaveLength(0)
    wrapper.unmount()
  })

  it('of a part are asked for without an index', async () => {
    const { wrapper, asked } = list([stored], true)
    expect(asked[0]!.query).toEqual({ part: 'm.1', index: undefined })
    expect(wrapper.find('h4').exists()).toBe(false)
    wrapper.unmount()
  })

  it('appear step by step when there are many', async () => {
    const { wrapper, asked } = list(Array.from({ length: 60 }, (_, i) => ({ ...stored, file: `${i}.png` })))
    expect(asked).toHaveLength(24)
    await wrapper.findAll('button').find((b) => b.text() === 'Show 24 more')!.trigger('click')
    expect(asked).toHaveLength(48)
    await wrapper.findAll('button').find((b) => b.text() === 'Show 12 more')!.trigger('click')
    expect(asked).toHaveLength(60)
    wrapper.unmount()
  })
})
