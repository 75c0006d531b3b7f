// Failures as people read them.

import { failureOf as thrown } from '@/api/failure'
import type { Failure } from '@/api/types'
import { t } from '@/i18n'

/** failureOf returns the failure behind anything that was thrown, or a Failure as it is. */
export function failureOf(error: unknown): Failure {
  return isFailure(error) ? error : thrown(error)
}

/** reason says in a sentence or two what went wrong and what to do about it. Codes decide, texts never do. */
export function reason(error: unknown): string {
  const failure = failureOf(error)
  if (failure.code === 'NETWORK') return t('error.network')
  return [failure.message || t('error.unknown'), failure.hint].filter(Boolean).join(' — ')
}

/** codeOf returns the stable code of anything that was thrown. */
export function codeOf(error: unknown): string {
  return failureOf(error).code
}

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && !(error instanceof Error) && 'code' in error
}
