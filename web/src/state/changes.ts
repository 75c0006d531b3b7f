// The net file changes of answers, as Core computes them. The foot of an answer and the File Changes panel ask here, so
// that both show the same and Core is asked once.

import type { FileChanges } from '@/api/types'

import { client } from './client'

/** Milliseconds between two questions about one answer, while its calls change (R-CHAT-104). */
const pause = 200
const kept = 100

interface Answer {
  readonly stamp: string
  readonly result: Promise<FileChanges>
  /** When Core was asked, by performance.now(). */
  askedAt: number
}

const answers = new Map<string, Answer>()

/**
 * changesOf returns the file changes of an answer as of a stamp (stampOf in @/core/stamp). Equal stamps ask Core once;
 * while stamps change quickly only the newest is asked for, and the older ones get its answer. Rejects with a
 * FailureError; the next call then asks again.
 */
export function changesOf(sessionId: string, messageId: string, stamp: string): Promise<FileChanges> {
  const key = `${sessionId} ${messageId}`
  const before = answers.get(key)
  if (before?.stamp === stamp) return before.result
  const ask = async (): Promise<FileChanges> => {
    const wait = before ? before.askedAt + pause - performance.now() : 0
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const newest = answers.get(key)
    if (newest && newest !== answer) return newest.result
    answer.askedAt = performance.now()
    return client.changes(sessionId, messageId)
  }
  const answer: Answer = { stamp, askedAt: before?.askedAt ?? 0, result: Promise.resolve().then(ask) }
  answers.delete(key)
  answers.set(key, answer)
  answer.result.catch(() => answers.get(key) === answer && answers.delete(key))
  const oldest = answers.keys().next()
  if (answers.size > kept && !oldest.done) answers.delete(oldest.value)
  return answer.result
}
