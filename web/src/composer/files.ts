import type { FoundFiles } from '@/api/types'

/**
 * Looks for files of the Session's, or the draft's, directories. What is found stands behind "@": the path below its
 * Project, with the Project's name in front when there are several. Rejects with an AbortError when it is called off.
 */
export type FindFiles = (query: string, signal: AbortSignal) => Promise<FoundFiles>
