import { execFileSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fyllo, repo } from './core.ts'

/** Builds the scripted Agent and the writer of histories once for all tests and removes them afterwards. */
export default function setup(): (() => void) | void {
  if (process.env.FYLLO_E2E_URL) return // e2e/agents drives a page of its own Core
  try {
    accessSync(fyllo, constants.X_OK)
  } catch {
    throw new Error(`${fyllo} is not there: run "make build" first`)
  }
  const dir = mkdtempSync(join(tmpdir(), 'fyllo-e2e-bin-'))
  execFileSync('go', ['build', '-o', dir, './internal/testagent/cmd/testagent', './e2e/cmd/history'], { cwd: repo, stdio: 'inherit' })
  process.env.E2E_TESTAGENT = join(dir, 'testagent')
  process.env.E2E_HISTORY = join(dir, 'history')
  return () => rmSync(dir, { recursive: true, force: true })
}
