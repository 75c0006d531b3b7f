/** Prints one plain last line, "N passed, N failed", which scripts read. */
export default class PlainSummary {
  onTestRunEnd(modules, errors) {
    let passed = 0
    let failed = errors.length
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
      }
      if (module.state() === 'failed' && module.errors().length > 0) failed++
    }
    // After the default reporter's own summary.
    setTimeout(() => process.stdout.write(`${passed} passed, ${failed} failed\n`), 0)
  }
}
