// Long Sessions, written into a data root while no Core runs on it, by e2e/cmd/history.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import type { Core } from './core.ts'

/** What to write. The same values give the same messages; see e2e/cmd/history/plan.go for what stands in them. */
export interface History {
  /** Questions and answers take turns, from "Question 0: …"; answer i ends "End of answer i.". */
  messages: number
  /** Id of the Session, "session-history" by default. */
  session?: string
  /** Title of the Session. */
  name?: string
  /** So many Sessions of these messages; ids and titles get numbers, "-00000" and " 0" for the oldest. */
  copies?: number
  seed?: number
  /** What the last answer has besides: calls, a changed file of so many lines, output of so many lines, Markdown. */
  tools?: number
  diff?: number
  output?: number
  markdown?: number
}

/** writeHistory adds a Session to a Core that does not run and returns its id. Its Agent is the first that was added. */
export function writeHistory(core: Core, history: History): string {
  const program = process.env.E2E_HISTORY
  if (!program) throw new Error('the writer of histories was not built')
  const agent = [...core.agentIds.values()][0] ?? 'tour'
  const flags = Object.entries({ ...history, agent }).map(([name, value]) => `-${name}=${value}`)
  const args = ['-root', join(core.dir, 'data'), '-project', core.project, ...flags]
  const out = execFileSync(program, args, { encoding: 'utf8' })
  return (JSON.parse(out) as { sessionId: string }).sessionId
}
