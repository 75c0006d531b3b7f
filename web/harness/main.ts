/*
 * A page with the transcript alone and made-up content, for looking at it and for measuring: `npm run dev`, then
 * /harness/?messages=200. It is no part of the build. window.harness drives it.
 */
import { createApp, h, ref, shallowRef } from 'vue'
import type { EventPayloads, EventType, Message, StreamEvent } from '@/api/types'
import { openView, prepend, reduce } from '@/core/reduce'
import type { SessionView } from '@/core/types'
import { setLanguage } from '@/i18n'
import '@/styles/tokens.css'
import '@/styles/app.css'
import TranscriptList from '@/transcript/TranscriptList.vue'
import type { TranscriptStore } from '@/transcript/types'
import Button from '@/ui/Button.vue'
import Icon from '@/ui/Icon.vue'
import { icons, type IconName } from '@/ui/icons'
import { answer, demo, user } from './content'

const query = new URLSearchParams(location.search)
setLanguage(query.get('lang') ?? '')

const history: Message[] = []
const count = Number(query.get('messages') ?? 0)
for (let i = 0; i < count; i++) history.push(i % 2 === 0 ? user(`h${i}`, `Question ${i}`) : answer(`h${i}`, i))
const pageSize = 60
let from = Math.max(0, history.length - pageSize)

const view = shallowRef<SessionView | null>(null)
const loadingOlder = shallowRef(false)
const now = new Date().toISOString()
view.value = openView(
  {
    sessionId: 'session-h', workspaceId: 'w', title: 'Harness', agentId: 'a', agentName: 'Agent', mode: 'fyllocode',
    pinned: false, running: false, attention: 0, createdAt: now, updatedAt: now, seq: 1, turn: { state: 'idle' },
    permissions: [], configOptions: [], commands: [], plan: [], queue: { entries: [] }, permissionPolicy: 'ask',
  },
  { messages: [...history.slice(from), ...(query.has('demo') ? demo() : [])], before: from > 0 ? String(from) : undefined, seq: 1 },
)

const store: TranscriptStore = {
  view,
  loadingOlder,
  loadBody: async (q) => `whole body of ${q.part} ${q.field}\n`.repeat(200),
  loadMedia: async () => new Blob([]),
  countChanges: async () => 2,
}

let seq = 1
function send<T extends EventType>(type: T, data: EventPayloads[T]): void {
  queue.push({ seq: ++seq, sessionId: 'session-h', type, data } as StreamEvent)
  if (queue.length === 1) requestAnimationFrame(() => (view.value = reduce(view.value!, queue.splice(0))))
}
const queue: StreamEvent[] = []

function older(): void {
  if (from === 0 || loadingOlder.value) return
  loadingOlder.value = true
  setTimeout(() => {
    const next = Math.max(0, from - pageSize)
    const messages = history.slice(next, from)
    from = next
    view.value = prepend(view.value!, { messages, before: from > 0 ? String(from) : undefined, seq })
    loadingOlder.value = false
  }, 50)
}

const log = ref<string[]>([])
const list = ref<InstanceType<typeof TranscriptList> | null>(null)
Object.assign(window, { harness: { send, log, list, view } })

createApp({
  render: () =>
    query.has('icons')
      ? h('div', { style: 'display:flex;flex-wrap:wrap;gap:16px;padding:24px' }, [
          ...(Object.keys(icons) as IconName[]).map((name) =>
            h('div', { style: 'width:96px;text-align:center;zoom:1.6;font-size:9px' }, [h(Icon, { name }), h('br'), name]),
          ),
          h(Button, { kind: 'primary' }, () => 'Primary'),
          h(Button, { busy: true }, () => 'Busy'),
        ])
      : h('main', { style: 'height:100%;background:var(--surface)' }, [
          h(TranscriptList, {
            ref: list,
            sessionId: 'session-h',
            store,
            onAnswerPermission: (id: string, option: string | null) => log.value.push(`answer ${id} ${option}`),
            onStop: () => log.value.push('stop'),
            onRetry: (id: string) => log.value.push(`retry ${id}`),
            onLoadOlder: older,
            onOpenPath: (path: string, line?: number) => log.value.push(`open ${path} ${line ?? ''}`),
          }),
        ]),
}).mount('#app')
