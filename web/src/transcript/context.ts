import { inject, type InjectionKey } from 'vue'
import type { BodyQuery } from '@/api/types'

/** What the rows share with the list: open state lives there, since rows come and go while scrolling. */
export interface TranscriptContext {
  isOpen(key: string): boolean
  toggle(key: string): void
  loadBody(query: BodyQuery): Promise<string>
  answer(permissionId: string, optionId: string | null): void
  retry(userMessageId: string): void
  stop(): void
  openPath(path: string, line?: number, column?: number): void
}

export const transcriptKey: InjectionKey<TranscriptContext> = Symbol('transcript')

/** The context of the list around a row. */
export function useTranscript(): TranscriptContext {
  const context = inject(transcriptKey)
  if (!context) throw new Error('a transcript row stands outside of TranscriptList')
  return context
}
