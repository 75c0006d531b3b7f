import type { Failure } from './types'

/** A rejected call. `failure.code` is Core's code, or NETWORK when Core could not be reached. */
export class FailureError extends Error {
  readonly failure: Failure
  /** HTTP status; 0 when there was no answer. */
  readonly status: number

  constructor(failure: Failure, status: number) {
    super(failure.message)
    this.name = 'FailureError'
    this.failure = failure
    this.status = status
  }
}

/** The failure behind anything that was thrown, for a toast or an error state. */
export function failureOf(err: unknown): Failure {
  if (err instanceof FailureError) return err.failure
  return { code: 'INTERNAL', message: err instanceof Error ? err.message : String(err) }
}
