import type { FullResult, Reporter, Suite } from '@playwright/test/reporter'

/** Prints one plain last line, "N passed, N failed", which scripts read. */
export default class PlainSummary implements Reporter {
  private suite: Suite | undefined
  private errors = 0

  onBegin(_config: unknown, suite: Suite): void {
    this.suite = suite
  }

  /** Failures outside of any test: the build of the scripted Agent, a file that does not compile. */
  onError(): void {
    this.errors++
  }

  onEnd(result: FullResult): void {
    let passed = 0
    let failed = this.errors
    for (const test of this.suite?.allTests() ?? []) {
      const outcome = test.outcome()
      if (outcome === 'expected') passed++
      else if (outcome !== 'skipped' || test.results.length === 0) failed++
    }
    if (result.status !== 'passed' && failed === 0) failed = 1
    // After the list reporter's own summary.
    setTimeout(() => process.stdout.write(`${passed} passed, ${failed} failed\n`), 0)
  }

  printsToStdio(): boolean {
    return false
  }
}
