// How full the context of a Session is (R-CHAT-115…117). What it costs is not asked for here.

import type { Usage } from '@/api/types'

/** How urgent it is to do something about it. */
export type UsageLevel = 'normal' | 'yellow' | 'orange' | 'red'

/** The use of the context as the composer shows it. */
export interface ContextUse {
  /** Used part, 0…1. */
  ratio: number
  /** Whole percents, rounded down. */
  percent: number
  /** Judged by the unrounded ratio. */
  level: UsageLevel
  /** Tokens as the Agent reported them. */
  used: number
  size: number
}

/** contextUse judges the last report; null when there is nothing to show yet. */
export function contextUse(usage: Usage | undefined): ContextUse | null {
  if (!usage || !(usage.used > 0) || !(usage.size > 0)) return null
  const { used, size } = usage
  const ratio = Math.min(used / size, 1)
  const level = ratio >= 0.95 ? 'red' : ratio >= 0.9 ? 'orange' : ratio >= 0.75 ? 'yellow' : 'normal'
  // Whole percents of the tokens themselves: 0.29 * 100 is 28.999….
  return { ratio, percent: Math.min(Math.floor((used * 100) / size), 100), level, used, size }
}
