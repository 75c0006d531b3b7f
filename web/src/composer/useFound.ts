import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'

import type { FoundFiles } from '@/api/types'
import type { Completion } from '@/core/completion'
import { reason } from '@/state/failures'

import { t } from './completion.strings'
import type { FindFiles } from './files'

/** A question goes out when the typing pauses this long, in ms. */
const pause = 80

/** The files found for what stands behind the "@". */
export interface Found {
  readonly entries: Readonly<ShallowRef<readonly Completion[]>>
  /** Why there is nothing, or not all. */
  readonly note: Readonly<Ref<string>>
}

/** useFound looks for files while query gives a text; the last answer stays until the next one is there. */
export function useFound(query: () => string | null, find: () => FindFiles | undefined): Found {
  const entries = shallowRef<readonly Completion[]>([])
  const note = ref('')
  let asked: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function stop(): void {
    clearTimeout(timer)
    asked?.abort()
  }

  function show(found: FoundFiles): void {
    entries.value = found.paths.map(entryOf)
    note.value = found.capped ? t('files.capped') : found.paths.length === 0 ? t('files.none') : ''
  }

  async function ask(text: string, how: FindFiles): Promise<void> {
    const { signal } = (asked = new AbortController())
    try {
      const found = await how(text, signal)
      if (!signal.aborted) show(found)
    } catch (error) {
      if (signal.aborted) return
      entries.value = []
      note.value = t('files.failed', { reason: reason(error) })
    }
  }

  watch(query, (text) => {
    stop()
    const how = find()
    if (text === null || !how) {
      entries.value = []
      note.value = ''
    } else {
      timer = setTimeout(() => void ask(text, how), pause)
    }
  })
  onScopeDispose(stop)
  return { entries, note }
}

/** The name comes first, so that it stays readable when the path is long. */
function entryOf(path: string): Completion {
  const at = path.lastIndexOf('/')
  return { value: path, label: path.slice(at + 1), detail: at < 0 ? undefined : path.slice(0, at) }
}
