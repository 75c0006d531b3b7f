import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { repo } from '../core.ts'
import buildPrograms from '../setup.ts'

interface Vite {
  build(config: object): Promise<{ output: { code: string }[] }[]>
}

/** Builds the programs, and the unit of the measurements from the sources of the page. */
export default async function setup(): Promise<(() => void) | void> {
  const remove = buildPrograms()
  const web = join(repo, 'web')
  const vite = (await import(pathToFileURL(join(web, 'node_modules/vite/dist/node/index.js')).href)) as Vite
  const entry = join(repo, 'e2e/bench/unit.ts')
  const [bundle] = await vite.build({
    ...{ root: web, configFile: join(web, 'vite.config.ts'), publicDir: false, logLevel: 'error' },
    build: { write: false, minify: true, lib: { entry, formats: ['iife'], name: 'benchUnit' } },
  })
  const file = join(dirname(process.env.E2E_HISTORY!), 'unit.js')
  writeFileSync(file, bundle!.output[0]!.code)
  process.env.E2E_BENCH_UNIT = file
  return remove
}
