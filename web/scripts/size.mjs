// Prints what a first visit to the Chat page loads, in gzip KB, and fails above the budget of 150 KB of JavaScript.
// Everything that index.html and the lazily loaded page import statically counts; other lazy imports and workers do
// not.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist', import.meta.url).pathname
const html = readFileSync(join(dist, 'index.html'), 'utf8')
const queue = [...html.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g)].map((m) => m[1])
queue.push(...readdirSync(join(dist, 'assets')).filter((n) => /^ChatPage-.*\.(js|css)$/.test(n)).map((n) => `assets/${n}`))
const seen = new Map()
while (queue.length > 0) {
  const name = queue.pop()
  if (seen.has(name)) continue
  const raw = readFileSync(join(dist, name))
  seen.set(name, gzipSync(raw, { level: 9 }).length)
  if (!name.endsWith('.js')) continue
  const folder = name.slice(0, name.lastIndexOf('/') + 1)
  for (const m of raw.toString().matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) queue.push(folder + m[1])
}
let js = 0
for (const [name, size] of [...seen].sort((a, b) => b[1] - a[1])) {
  if (name.endsWith('.js')) js += size
  console.log(`${(size / 1024).toFixed(1).padStart(7)} KB  ${name}`)
}
console.log(`${(js / 1024).toFixed(1).padStart(7)} KB  first-load JavaScript, gzip (budget 150, aim 110)`)
if (js > 150 * 1024) process.exit(1)
