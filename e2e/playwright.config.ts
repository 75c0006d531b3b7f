import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

import { defineConfig } from '@playwright/test'

/** The system's Chromium, found on PATH; a browser is never downloaded. */
function chromium(): string {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(dir, 'chromium')
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Not in this directory.
    }
  }
  throw new Error('there is no chromium on PATH; scripts/need-chromium installs it on Debian')
}

export default defineConfig({
  testDir: 'specs',
  globalSetup: './setup.ts',
  outputDir: 'test-results',
  reporter: [['list'], ['./reporter.ts']],
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  workers: 2,
  timeout: 90_000,
  expect: { timeout: 30_000, toPass: { intervals: [100] } },
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    trace: 'off',
    launchOptions: {
      executablePath: chromium(),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // Nothing but loopback has an address, so that nothing can leave even where a test does not look.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ],
    },
  },
})
