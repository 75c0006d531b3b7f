import { inject, type InjectionKey } from 'vue'
import type { BodyQuery, MediaQuery } from '@/api/types'

/** What the rows share with the list: open state lives there, since rows come and go while scrolling. */
export interface TranscriptContext {
  isOpen(key: string): boolean
  toggle(key: string): void
  loadBody(query: BodyQuery): Promise<string>
  /** The bytes of an attachment. Rejects with a FailureError. */
  loadMedia(query: MediaQuery): Promise<Blob>
  /** The number of files that an answer changed, as of a stamp. Rejects with a FailureError. */
  countChanges(messageId: string, stamp: string): Promise<number>
  answer(permissionId: string, optionId: string | null): void
  retry(userMessageId: string): void
  stop(): void
  openPath(path: string, line?: number, column?: number): void
  /** Shows the file changes of an answer; `path` is highlighted there (R-CHAT-086, 103). */
  openChanges(messageId: string, path?: string): void
  /** Shows the details of the subagent whose call has the part id (R-CHAT-110). */
  openSubagent(messageId: string, partId: string): void
  /** Does what a copy button or a path asks for that was activated below an element outside of the list. */
  clicked(event: MouseEvent): void
}

export const transcriptKey: InjectionKey<TranscriptContext> = Symbol('transcript')

/** The context of the list around a row. */
export function useTranscript(): TranscriptContext {
  const context = inject(transcriptKey)
  if (!context) throw new Error('a transcript row stands outside of TranscriptList')
  return context
}
