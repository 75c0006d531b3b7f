// The files that wait for the next message of one composer: in a draft they live in the page only (R-CHAT-042), in a
// Session they are uploaded at once and belong to it, whatever is shown meanwhile (R-CHAT-043). The one way in is add().

import { computed, ref, shallowRef, triggerRef, type ComputedRef, type Ref } from 'vue'

import { failureOf } from '@/api/failure'
import type { KeptAttachment } from '@/api/types'
import { judge, kindOf, type Item, type Rejected, type Takes } from '@/core/attachments'
import { shownAs } from '@/core/media'

import { plural, t } from './attach.strings'

/** One file in the tray. */
export interface Attached extends Item {
  readonly key: string
  readonly mime: string
  /** The bytes, as long as the page has them. */
  readonly file?: File
  /** Of the stored copy, once there is one. */
  handle?: string
  /** An object URL of a picture; "" for none. */
  url: string
  state: 'waiting' | 'uploading' | 'ready' | 'failed'
  /** 0…1 of an upload. */
  progress: number
  problem: string
}

/** Where the files of a Session are kept. */
export interface Keeper {
  list(): Promise<readonly KeptAttachment[]>
  upload(file: File, progress: (part: number) => void): { done: Promise<KeptAttachment>; abort: () => void }
  bytes(handle: string): Promise<Blob>
  drop(handle: string): Promise<void>
}

/** Pictures up to this size have a preview. */
const PREVIEW = 8 * 1024 * 1024
const LOST = 'fyllo.draftFiles'

/** whyNot tells in one sentence what was refused, "" for nothing. */
export function whyNot(frame: 'refused' | 'cannot', rejected: Rejected): string {
  const reasons = (['images', 'files', 'directories', 'large', 'many'] as const).filter((k) => rejected[k] > 0)
  if (reasons.length === 0) return ''
  return t(frame, { why: reasons.map((k) => plural(k, rejected[k])).join(t('join')) })
}

export class Tray {
  readonly items: Ref<Attached[]> = shallowRef([])
  /** What the user should know about the last batch; "" for nothing. */
  readonly notice = ref('')
  /** A message with these files is on its way: nothing is added or removed. */
  readonly busy = ref(false)
  readonly takes: Ref<Takes | undefined> = shallowRef()
  /** Why the message cannot be sent as it is, undefined when it can. */
  readonly blocked: ComputedRef<string | undefined>
  /** Keys of files that the Agent does not take (R-CHAT-048). */
  readonly unfit: ComputedRef<ReadonlySet<string>>
  private shown = false
  private listed = false

  constructor(private readonly keeper: Keeper | null) {
    const verdict = computed(() => judge(this.takes.value, [], this.items.value))
    this.unfit = computed(() => {
      const fit = new Set(verdict.value.taken)
      return new Set(this.items.value.filter((_, i) => !fit.has(i)).map((i) => i.key))
    })
    this.blocked = computed(() => {
      if (this.items.value.some((i) => i.state === 'uploading')) return t('wait')
      if (this.items.value.some((i) => i.state === 'failed')) return t('failed')
      return whyNot('cannot', verdict.value.rejected) || undefined
    })
  }

  /** Files of a draft, in order. */
  get files(): File[] {
    return this.items.value.flatMap((i) => (i.file ? [i.file] : []))
  }

  /** Handles of stored files, in order. */
  get handles(): string[] {
    return this.items.value.flatMap((i) => (i.handle ? [i.handle] : []))
  }

  /** Takes a batch: what fits joins in its order, the rest is told in one sentence (R-CHAT-045). */
  add(files: readonly File[], directories: readonly string[] = []): void {
    if (this.busy.value || files.length + directories.length === 0) return
    const batch: (Item & { file?: File })[] = [
      ...files.map((file) => ({ name: file.name, mime: file.type, size: file.size, file })),
      ...directories.map((name) => ({ name, size: 0, directory: true })),
    ]
    const { taken, rejected } = judge(this.takes.value, this.items.value, batch)
    this.notice.value = whyNot('refused', rejected)
    const joined = taken.flatMap((n) => (batch[n]!.file ? [made(batch[n]!.file)] : []))
    this.items.value = [...this.items.value, ...joined]
    for (const item of joined) {
      this.preview(item)
      if (this.keeper) this.queue(item)
    }
    this.remember()
  }

  /** Takes a file out; one that is stored is removed there first. */
  async remove(key: string): Promise<void> {
    const item = this.items.value.find((i) => i.key === key)
    if (!item || this.busy.value) return
    this.aborts.get(key)?.()
    if (item.handle && this.keeper) {
      try {
        await this.keeper.drop(item.handle)
      } catch (error) {
        if (failureOf(error).code !== 'SESSION_ATTACHMENT_NOT_FOUND') {
          this.notice.value = t('removeFailed', { reason: (error as Error).message })
          return
        }
      }
    }
    this.forget([item])
    this.notice.value = ''
  }

  /** The browser cannot show a picture: it stands there by its name. */
  unseen(key: string): void {
    const item = this.items.value.find((i) => i.key === key)
    if (item) release(item)
    triggerRef(this.items)
  }

  /** Uploads a file again that failed. */
  retry(key: string): void {
    const item = this.items.value.find((i) => i.key === key)
    if (item?.state === 'failed') this.queue(item)
  }

  /** Empties the tray of what a message has taken. */
  sent(): void {
    this.forget(this.items.value)
    this.notice.value = ''
  }

  /** The tray is on screen: previews are made, and what Core keeps is read once. */
  async show(): Promise<void> {
    this.shown = true
    for (const item of this.items.value) this.preview(item)
    if (!this.keeper) {
      const lost = sessionStorage.getItem(LOST)
      if (lost && this.items.value.length === 0) this.notice.value = t('lost', { names: (JSON.parse(lost) as string[]).join(t('join')) })
      sessionStorage.removeItem(LOST)
      this.remember()
      return
    }
    if (this.listed) return
    const kept = await this.keeper.list().catch(() => null)
    if (!kept || this.listed) return
    this.listed = true
    const known = new Set(this.items.value.map((i) => i.handle))
    const stored = kept.filter((k) => !known.has(k.handle)).map(restored)
    this.items.value = [...stored, ...this.items.value]
    if (this.shown) for (const item of stored) this.preview(item)
  }

  /** The tray left the screen: previews are given back; uploads go on. */
  hide(): void {
    this.shown = false
    for (const item of this.items.value) release(item)
  }

  private readonly aborts = new Map<string, () => void>()

  private uploads: Promise<void> = Promise.resolve()

  /** Files go one after another, so that Core has them in the order in which they were chosen. */
  private queue(item: Attached): void {
    Object.assign(item, { state: 'uploading', progress: 0, problem: '' })
    triggerRef(this.items)
    this.uploads = this.uploads.then(() => this.send(item))
  }

  private async send(item: Attached): Promise<void> {
    if (!this.items.value.includes(item)) return
    const { done, abort } = this.keeper!.upload(item.file!, (part) => {
      item.progress = part
      triggerRef(this.items)
    })
    this.aborts.set(item.key, abort)
    try {
      const { handle } = await done
      Object.assign(item, { state: 'ready', handle })
      // It was taken out at the last moment.
      if (!this.items.value.includes(item)) await this.keeper!.drop(handle).catch(() => {})
    } catch (error) {
      Object.assign(item, { state: 'failed', problem: (error as Error).message })
    }
    this.aborts.delete(item.key)
    triggerRef(this.items)
  }

  private preview(item: Attached): void {
    if (!this.shown || item.url || shownAs(item.mime) !== 'image' || item.size === 0 || item.size > PREVIEW) return
    const put = (bytes: Blob) => {
      if (!this.shown || item.url || !this.items.value.includes(item)) return
      item.url = URL.createObjectURL(bytes)
      triggerRef(this.items)
    }
    if (item.file) put(item.file)
    else if (item.handle && this.keeper) void this.keeper.bytes(item.handle).then(put, () => {})
  }

  private forget(gone: readonly Attached[]): void {
    for (const item of gone) release(item)
    this.items.value = this.items.value.filter((i) => !gone.includes(i))
    this.remember()
  }

  /** A draft's files do not survive a reload; that there were some does. */
  private remember(): void {
    if (this.keeper) return
    if (this.items.value.length === 0) sessionStorage.removeItem(LOST)
    else sessionStorage.setItem(LOST, JSON.stringify(this.items.value.slice(0, 20).map((i) => i.name)))
  }
}

let serial = 0

function made(file: File): Attached {
  return { key: `file-${++serial}`, name: file.name, mime: file.type, size: file.size, file, url: '', state: 'waiting', progress: 0, problem: '' }
}

function restored(k: KeptAttachment): Attached {
  return { key: k.handle, name: k.name, mime: k.mime, size: k.size, handle: k.handle, url: '', state: 'ready', progress: 1, problem: '' }
}

function release(item: Attached): void {
  if (item.url) URL.revokeObjectURL(item.url)
  item.url = ''
}

const trays = new Map<string, Tray>()

/** trayOf returns the files of a Session's composer, "" for the draft, also those that were added before it was left. */
export function trayOf(sessionId: string, keeper: Keeper | null): Tray {
  let tray = trays.get(sessionId)
  if (!tray) trays.set(sessionId, (tray = new Tray(keeper)))
  return tray
}

/** isPicture tells what the tray shows as an image. */
export const isPicture = (item: Item): boolean => kindOf(item) === 'image'
