/** A file that can be mentioned. */
export interface MentionFile {
  /** What stands behind "@": the path below its Project, with the Project's name in front when there are several. */
  path: string
}

/** What was found for a query; capped when not every file was looked at. */
export interface FoundFiles {
  files: MentionFile[]
  capped: boolean
}

/** Looks for files of the Session's, or the draft's, directories. Rejects with an AbortError when it is called off. */
export type FindFiles = (query: string, signal: AbortSignal) => Promise<FoundFiles>
