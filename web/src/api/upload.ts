import { FailureError } from './failure'
import type { Failure, KeptAttachment } from './types'

interface Upload {
  sessionId: string
  file: File
  /** Of the page; Core tells by it whose Session it is. */
  windowId: string
  /** Told between 0 and 1 while the bytes go. */
  progress: (part: number) => void
}

/** Sends a file to an existing Session as it is, never read as a whole (R-CHAT-043). fetch tells no progress. */
export function upload({ sessionId, file, windowId, progress }: Upload): { done: Promise<KeptAttachment>; abort: () => void } {
  const request = new XMLHttpRequest()
  const query = new URLSearchParams({ name: file.name, type: file.type })
  const done = new Promise<KeptAttachment>((resolve, reject) => {
    const refuse = (failure: Failure) => reject(new FailureError(failure, request.status))
    request.upload.onprogress = (e) => progress(e.lengthComputable && e.total > 0 ? e.loaded / e.total : 0)
    request.onload = () => {
      try {
        const answer = JSON.parse(request.responseText) as KeptAttachment & { error?: Failure }
        if (request.status === 201) resolve(answer)
        else refuse(answer.error!)
      } catch {
        refuse({ code: 'INTERNAL', message: `FylloCode answered with HTTP status ${request.status}` })
      }
    }
    request.onerror = request.onabort = () => refuse({ code: 'NETWORK', message: 'FylloCode did not answer: the connection failed' })
  })
  request.open('POST', `/api/sessions/${encodeURIComponent(sessionId)}/attachments?${query}`)
  request.setRequestHeader('X-Fyllo-Window', windowId)
  request.setRequestHeader('Content-Type', 'application/octet-stream')
  request.send(file)
  return { done, abort: () => request.abort() }
}
