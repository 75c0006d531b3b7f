// @vitest-environment happy-dom
import { mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'

import { Tray } from './attach'
import AttachTray from './AttachTray.vue'

afterEach(() => (document.body.innerHTML = ''))

/** What a browser gives of one thing that was dropped. */
const dropped = (name: string, directory = false) => ({
  kind: 'file',
  webkitGetAsEntry: () => ({ isDirectory: directory, name }),
  // Browsers give a directory as a file that cannot be read; it must not be taken for one.
  getAsFile: () => new File(['x'], name),
})

function drag(type: string, items: object[], types = ['Files']): DragEvent {
  const event = new Event(type, { bubbles: true, cancelable: true }) as DragEvent
  Object.defineProperty(event, 'dataTransfer', { value: { types, items, dropEffect: 'none' } })
  return event
}

function shown(tray: Tray) {
  const form = defineComponent({ setup: () => () => h('form', [h('textarea'), h(AttachTray, { tray })]) })
  return mount(form, { attachTo: document.body })
}

it('counts dropped directories unread and keeps the files beside them in order R-CHAT-045 R-CHAT-047', async () => {
  const tray = new Tray(null)
  tray.takes.value = { image: 'supported', embeddedContext: 'supported' }
  const page = shown(tray)
  const area = page.get('textarea').element
  area.dispatchEvent(drag('dragenter', []))
  await nextTick()
  expect(page.find('.over').exists()).toBe(true)
  const drop = drag('drop', [dropped('src', true), dropped('a.md'), dropped('docs.app', true), dropped('b.md')])
  area.dispatchEvent(drop)
  await nextTick()
  expect(drop.defaultPrevented).toBe(true)
  expect(page.find('.over').exists()).toBe(false)
  expect(page.findAll('.name').map((x) => x.text())).toEqual(['a.md', 'b.md'])
  expect(page.get('.notice').text()).toBe('Not attached: 2 directories.')
  page.unmount()
})

it('leaves a drag of text to the browser, and its highlight ends with it R-CHAT-047', async () => {
  const page = shown(new Tray(null))
  const area = page.get('textarea').element
  for (const type of ['dragenter', 'dragover', 'drop']) {
    const event = drag(type, [], ['text/plain'])
    area.dispatchEvent(event)
    expect(event.defaultPrevented, type).toBe(false)
  }
  for (const end of ['dragleave', 'dragend']) {
    area.dispatchEvent(drag('dragenter', []))
    await nextTick()
    expect(page.find('.over').exists()).toBe(true)
    ;(end === 'dragend' ? window : area).dispatchEvent(drag(end, []))
    await nextTick()
    expect(page.find('.over').exists(), end).toBe(false)
  }
  page.unmount()
})
