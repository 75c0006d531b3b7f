// What a person is told while the page is not in view: a count in the title and, if wished for in this browser, a
// notification of the desktop. Nothing of it is known to Core.

import { computed, ref } from 'vue'

import type { StreamEvent } from '@/api/types'
import { reveal } from '@/core/reveal'
import { short } from '@/core/short'
import { t } from '@/i18n'

import { reason } from './failures'
import { sessionOf, sessions } from './sessions'

const wishKey = 'fyllo.notices'

/** What became of the wish for notifications: `denied` is the browser's word, `missing` that it has none. */
export type Notices = 'on' | 'off' | 'denied' | 'missing'

/** Turns that ended while the page was not in view. */
const ended = ref(new Set<string>())

/** How much there is to look at: open requests, and Sessions whose turn ended while nobody looked. */
export const unseen = computed(() => sessions.value.reduce((n, s) => n + s.attention, ended.value.size))

const inView = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

function seen(): void {
  if (inView() && ended.value.size > 0) ended.value = new Set()
}
document.addEventListener('visibilitychange', seen)
window.addEventListener('focus', seen)

const known = (): typeof Notification | null => (typeof Notification === 'undefined' ? null : Notification)

/** How it stands now; a permission that was taken back in the browser counts. */
export function noticesNow(): Notices {
  const api = known()
  if (!api) return 'missing'
  if (api.permission === 'denied') return 'denied'
  return api.permission === 'granted' && read() ? 'on' : 'off'
}

/** wantNotices turns notifications of the desktop on or off. Only turning them on for the first time asks the browser. */
export async function wantNotices(on: boolean): Promise<Notices> {
  const api = known()
  if (on && api?.permission === 'default') await api.requestPermission()
  write(on && api?.permission === 'granted')
  return noticesNow()
}

let open: (sessionId: string) => void = () => {}

/** openNoticesWith says how a Session is shown whose notification was clicked. */
export function openNoticesWith(show: (sessionId: string) => void): void {
  open = show
}

/** applyToNotices tells of turns that ended or failed, and of requests, in the events of a frame, while nobody looks. */
export function applyToNotices(events: readonly StreamEvent[]): void {
  if (inView()) return
  for (const { type, sessionId, data } of events) {
    if (!sessionId) continue
    if (type === 'permission') tell(sessionId, t('notice.asks', { title: reveal(short(data.title)) }))
    if (type !== 'turn.end' || data.end.stopReason === 'cancelled') continue
    ended.value = new Set(ended.value).add(sessionId)
    tell(sessionId, data.end.error ? t('notice.failed', { reason: reason(data.end.error) }) : t('notice.ended'))
  }
}

/** One notification a Session: what is newer replaces what is older. */
function tell(sessionId: string, body: string): void {
  const api = known()
  if (!api || noticesNow() !== 'on') return
  try {
    const notice = new api(reveal(short(sessionOf(sessionId)?.title ?? '')) || t('sidebar.untitled'), { body, tag: sessionId })
    notice.onclick = () => {
      window.focus()
      notice.close()
      open(sessionId)
    }
  } catch {
    // Some browsers have them for service workers only; the count in the title stays.
  }
}

function read(): boolean {
  try {
    return localStorage.getItem(wishKey) === 'on'
  } catch {
    return false
  }
}

function write(on: boolean): void {
  try {
    if (on) localStorage.setItem(wishKey, 'on')
    else localStorage.removeItem(wishKey)
  } catch {
    // Storage may be blocked: the wish is then forgotten with the page.
  }
}
