// Writes a .gz sibling for every text file of dist that shrinks, so that the server compresses nothing at run time.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist', import.meta.url).pathname
for (const name of readdirSync(dist, { recursive: true })) {
  if (!/\.(js|css|html|svg|json)$/.test(name)) continue
  const path = join(dist, name)
  const raw = readFileSync(path)
  const packed = gzipSync(raw, { level: 9 })
  if (packed.length < raw.length * 0.95) writeFileSync(`${path}.gz`, packed)
}
