import type { Ref, ShallowRef } from 'vue'
import type { BodyQuery, MediaQuery } from '@/api/types'
import type { SessionView } from '@/core/types'

/** What TranscriptList needs to know about a Session; see the contract at the top of TranscriptList.vue. */
export interface TranscriptStore {
  /** Null while the first page loads. */
  readonly view: Readonly<ShallowRef<SessionView | null>>
  /** Older messages are on their way, or will be. */
  readonly loadingOlder: Readonly<Ref<boolean>>
  /** They could not be loaded; it is tried again. */
  readonly olderFailed?: Readonly<Ref<boolean>>
  /** Whole text of a body of which the view holds a preview. Rejects with a FailureError. */
  loadBody(query: BodyQuery): Promise<string>
  /** The bytes of an attachment. Rejects with a FailureError. */
  loadMedia(query: MediaQuery): Promise<Blob>
  /** The number of files that an answer changed, as of a stamp (stampOf in @/core/stamp). Rejects with a FailureError. */
  countChanges(messageId: string, stamp: string): Promise<number>
}
