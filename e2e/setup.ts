import { execFileSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fyllo, repo } from './core.ts'

/** Builds the scripted Agent once for all tests and removes it afterwards. */
export default function setup(): (() => void) | void {
  if (process.env.FYLLO_E2E_URL) return // e2e/agents drives a page of its own Core
  try {
    accessSync(fyllo, constants.X_OK)
  } catch {
    throw new Error(`${fyllo} is not there: run "make build" first`)
  }
  const dir = mkdtempSync(join(tmpdir(), 'fyllo-e2e-bin-'))
  const agent = join(dir, 'testagent')
  execFileSync('go', ['build', '-o', agent, './internal/testagent/cmd/testagent'], { cwd: repo, stdio: 'inherit' })
  process.env.E2E_TESTAGENT = agent
  return () => rmSync(dir, { recursive: true, force: true })
}
