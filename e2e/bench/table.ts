import { mkdirSync, writeFileSync, appendFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { FullResult, Reporter, TestCase, TestError, TestResult } from '@playwright/test/reporter'

import { repo } from '../core.ts'
import type { Figure } from './lab.ts'

/** Where the figures also go, one JSON object a line. */
const file = process.env.FYLLO_BENCH_JSON ?? join(repo, 'e2e/test-results/bench.jsonl')

/** Prints every figure with its budget, as `make bench` does. */
export default class Table implements Reporter {
  private missed = 0

  onBegin(): void {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '')
  }

  onError(error: TestError): void {
    process.stdout.write(`${error.stack ?? error.message ?? String(error.value)}\n`)
  }

  onStdOut(chunk: string | Buffer): void {
    process.stdout.write(chunk)
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    process.stdout.write(`${test.title}\n`)
    for (const { type, description } of result.annotations) {
      if (type !== 'figure') continue
      appendFileSync(file, `${description}\n`)
      process.stdout.write(`${this.line(JSON.parse(description!) as Figure)}\n`)
    }
    for (const error of result.errors) this.onError(error)
  }

  onEnd(result: FullResult): void {
    const bad = result.status === 'passed' ? '' : '; a scenario did not complete'
    setTimeout(() => process.stdout.write(`${this.missed} budgets missed${bad}; figures in ${file}\n`), 0)
  }

  private line(f: Figure): string {
    const value = Math.abs(f.value) < 10 && !Number.isInteger(f.value) ? f.value.toFixed(2) : f.value.toFixed(0)
    const ratio = f.ratio === undefined ? '' : `= ${f.ratio.toFixed(2)} ${f.of}`
    let judged = ''
    if (f.must !== undefined) {
      const ok = f.value <= f.must
      if (!ok) this.missed++
      const aim = f.aim === undefined ? '' : `, aim ${f.aim}`
      judged = `(must be ≤ ${f.must}${aim})  ${ok ? (f.aim !== undefined && f.value > f.aim ? 'ok, above aim' : 'ok') : 'MISSED'}`
    }
    return `  ${f.what.padEnd(50)} ${value.padStart(9)} ${f.unit.padEnd(9)} ${ratio.padEnd(16)} ${judged}`.trimEnd()
  }

  printsToStdio(): boolean {
    return true
  }
}
