import type { Message, SpawnSummary, SpawnTurnDetail } from '@/api/types'

/** How a spawned Session or one of its turns stands, as people read it (R-SPAWN-120). */
export type SpawnState = 'starting' | 'running' | 'completed' | 'failed' | 'expired' | 'interrupted' | 'unsent'

/** How a spawned Session stands. What was prepared and never got a prompt has not completed anything. */
export function stateOf(s: SpawnSummary): SpawnState {
  switch (s.status) {
    case 'starting':
    case 'running':
    case 'expired':
    case 'interrupted':
      return s.status
    case 'error':
      return 'failed'
    default:
      return s.mode ? 'completed' : 'unsent'
  }
}

/** How one turn stands. */
export function turnState(t: SpawnTurnDetail): SpawnState {
  switch (t.phase) {
    case 'starting':
    case 'completed':
    case 'expired':
    case 'interrupted':
      return t.phase
    case 'error':
      return 'failed'
    default:
      return 'running' // also while it is being cancelled
  }
}

/** Whether something still works on it. */
export const isActive = (state: SpawnState): boolean => state === 'starting' || state === 'running'

/**
 * Joins a detail that was read again to the one that is shown: what says the same stays the same object, so that only
 * what changed is drawn again.
 */
export function joined<T>(old: unknown, fresh: T): T {
  if (old === fresh || typeof old !== 'object' || typeof fresh !== 'object' || !old || !fresh) return fresh
  if (Array.isArray(old) !== Array.isArray(fresh)) return fresh
  if (Array.isArray(old) && Array.isArray(fresh)) {
    const list = fresh.map((v, i) => joined(old[i], v))
    return list.length === old.length && list.every((v, i) => v === old[i]) ? (old as T) : (list as T)
  }
  const before = old as Record<string, unknown>
  const keys = Object.keys(fresh) as (keyof T & string)[]
  const made = Object.fromEntries(keys.map((k) => [k, joined(before[k], fresh[k])]))
  const same = keys.length === Object.keys(before).length && keys.every((k) => made[k] === before[k])
  return (same ? old : made) as T
}

/** One answer as two: what the Agent did, and what it said. Both keep the parts' own order. */
export function parted(m: Message): { did: Message; said: Message } {
  const spoken = (p: Message['parts'][number]): boolean => !p.parentToolCallId && (p.type === 'text' || p.type === 'attachment')
  return { did: { ...m, parts: m.parts.filter((p) => !spoken(p)) }, said: { ...m, parts: m.parts.filter(spoken) } }
}
