import { defineConfig } from '@playwright/test'

import base from '../playwright.config.ts'

/** `make bench-ui`: one page at a time, no retries, a table instead of a list of tests. */
export default defineConfig(base, {
  testDir: '.',
  testMatch: '*.bench.ts',
  globalSetup: './setup.ts',
  outputDir: '../test-results/bench',
  reporter: './table.ts',
  fullyParallel: false,
  workers: 1,
  timeout: 180_000,
})
