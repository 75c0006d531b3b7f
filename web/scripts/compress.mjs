// Compresses every text file of dist that shrinks, so that the server compresses nothing at run time. A file under
// assets/ is replaced, since nearly every client takes it compressed and the binary holds all files; others get a
// sibling.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist', import.meta.url).pathname
for (const name of readdirSync(dist, { recursive: true })) {
  if (!/\.(js|css|html|svg|json)$/.test(name)) continue
  const path = join(dist, name)
  const raw = readFileSync(path)
  const packed = gzipSync(raw, { level: 9 })
  if (packed.length >= raw.length * 0.95) continue
  writeFileSync(`${path}.gz`, packed)
  if (name.startsWith('assets')) rmSync(path)
}
