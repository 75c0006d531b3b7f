import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

declare const process: { env: Record<string, string | undefined> }

/** Where `npm run dev` finds a running Core; it must have been started with this origin allowed. */
const core = process.env.FYLLO_CORE ?? 'http://127.0.0.1:4477'
const toCore = { target: core, changeOrigin: true, ws: true, headers: { origin: core } }

const src = new URL('./src', import.meta.url).pathname

/** What markdown-it brings and does not need here. */
const unused = `${src}/core/markdown/unused.ts`
const instead = {
  entities: `${src}/core/markdown/entities.ts`,
  'linkify-it': unused,
  mdurl: unused,
  'punycode.js': unused,
  'uc.micro': unused,
}

/**
 * Kinds of diagram that are left out, since each brings a library of its own, and what mermaid would draw formulas
 * with; see transcript/diagram.
 */
const undrawn = /^katex$|\/(?:abnf|architecture|cynefin|ebnf|ishikawa|peg|railroad|swimlanes|venn|wardley)(?:Diagram)?-[A-Z0-9]+\.mjs$/
const fewerDiagrams = {
  name: 'fyllo-fewer-diagrams',
  enforce: 'pre' as const,
  resolveId: (source: string, importer?: string) =>
    importer?.includes('/mermaid/dist/') && undrawn.test(source) ? `${src}/transcript/diagram/undrawn.ts` : null,
}

export default defineConfig({
  plugins: [fewerDiagrams, vue()],
  resolve: { alias: { '@': src, ...instead } },
  // Nothing of ours uses the options API; both switches only take code out of the bundle.
  define: { __VUE_OPTIONS_API__: 'false', __VUE_PROD_DEVTOOLS__: 'false' },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
  },
  server: { host: '127.0.0.1', proxy: { '/api': toCore, '/auth': toCore } },
  test: {
    environment: 'node',
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/testing/setup.ts'],
    reporters: ['default', './scripts/reporter.mjs'],
  },
})
