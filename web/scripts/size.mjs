// Prints what a first visit loads, in gzip KB: an empty Chat page, and one with a Session open. A file counts when
// index.html or a page names it, or when a counted module imports it statically; grammars and workers do not. Fails
// when the JavaScript of a Session exceeds the budget of 150 KB.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

const dist = new URL('../dist', import.meta.url).pathname
const html = readFileSync(join(dist, 'index.html'), 'utf8')
const assets = readdirSync(join(dist, 'assets')).map((n) => n.replace(/\.gz$/, ''))
const seen = new Map()

/** A file as it was before compress.mjs. */
function bytes(name) {
  const path = join(dist, name)
  return existsSync(path) ? readFileSync(path) : gunzipSync(readFileSync(`${path}.gz`))
}

/** Adds the files and what they import; returns the bytes of all JavaScript so far. */
function load(names) {
  const queue = [...names]
  while (queue.length > 0) {
    const name = queue.pop()
    if (seen.has(name)) continue
    const raw = bytes(name)
    seen.set(name, gzipSync(raw, { level: 9 }).length)
    if (!name.endsWith('.js')) continue
    for (const m of raw.toString().matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) queue.push(`assets/${m[1]}`)
  }
  return [...seen].reduce((sum, [name, size]) => (name.endsWith('.js') ? sum + size : sum), 0)
}

const chunk = (pattern) => assets.filter((n) => pattern.test(n)).map((n) => `assets/${n}`)
const kb = (bytes) => `${(bytes / 1024).toFixed(1).padStart(7)} KB`

const chat = load([
  ...[...html.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g)].map((m) => m[1]),
  ...chunk(/^ChatPage-[^.]*\.(js|css)$/),
])
const session = load(chunk(/^(SessionPane|TranscriptList)-[^.]*\.(js|css)$/))
for (const [name, size] of [...seen].sort((a, b) => b[1] - a[1])) console.log(`${kb(size)}  ${name}`)
console.log(`${kb(chat)}  JavaScript of an empty Chat page, gzip (aim 110)`)
console.log(`${kb(session)}  JavaScript with a Session open, gzip (budget 150)`)
if (session > 150 * 1024) process.exit(1)
