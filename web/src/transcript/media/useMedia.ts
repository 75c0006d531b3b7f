import { onBeforeUnmount, onMounted, ref, watch } from 'vue'
import { failureOf } from '@/api/failure'
import type { Attachment } from '@/api/types'
import { sameMedia } from '@/core/media'

/** How far the bytes of an attachment are. */
export type MediaState = 'idle' | 'loading' | 'ready' | 'failed'

export interface MediaOptions {
  attachment: () => Attachment
  /** Gets the bytes from Core. */
  fetch: () => Promise<Blob>
  /** Load as soon as the component is there, and again when the attachment becomes another one. */
  auto: () => boolean
}

/**
 * Holds the bytes of an attachment as an object URL, which is given back when they change or the component goes. A late
 * answer for something else is dropped.
 */
export function useMedia(o: MediaOptions) {
  const state = ref<MediaState>('idle')
  const url = ref('')
  /** As Core tells it from the bytes. */
  const type = ref('')
  const problem = ref('')
  /** Trying again leads nowhere: there is nothing, or nothing that can be decoded. */
  const gone = ref(false)
  let version = 0

  async function load(): Promise<void> {
    const mine = ++version
    state.value = 'loading'
    problem.value = ''
    gone.value = false
    try {
      const got = await o.fetch()
      if (mine !== version) return
      type.value = got.type
      url.value = URL.createObjectURL(got)
      state.value = 'ready'
    } catch (err) {
      if (mine !== version) return
      const failure = failureOf(err)
      problem.value = failure.message
      gone.value = failure.code === 'NOT_FOUND'
      state.value = 'failed'
    }
  }

  function forget(): void {
    version++
    if (url.value) URL.revokeObjectURL(url.value)
    url.value = type.value = ''
    state.value = 'idle'
  }

  watch(o.attachment, (now, was) => {
    if (sameMedia(now, was)) return
    forget()
    if (o.auto()) void load()
  })
  onMounted(() => {
    if (o.auto()) void load()
  })
  onBeforeUnmount(forget)
  return { state, url, type, problem, gone, load }
}

/** Saves what an object URL holds under a name. */
export function saveAs(url: string, name: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}
