/** A span of time in natural units: which form of the text, and its numbers (R-CHAT-074). */
export interface Elapsed {
  key: 'elapsed.s' | 'elapsed.ms' | 'elapsed.h' | 'elapsed.hm' | 'elapsed.d' | 'elapsed.dh'
  params: Record<string, string | number>
}

/** Rounds down; seconds have two digits after minutes only; a second unit of zero is left out from an hour on. */
export function elapsed(ms: number): Elapsed {
  const s = Math.max(0, Math.floor(ms / 1000))
  const m = Math.floor(s / 60)
  const h = Math.floor(m / 60)
  const d = Math.floor(h / 24)
  if (m === 0) return { key: 'elapsed.s', params: { s } }
  if (h === 0) return { key: 'elapsed.ms', params: { m, s: String(s % 60).padStart(2, '0') } }
  if (d === 0) return m % 60 === 0 ? { key: 'elapsed.h', params: { h } } : { key: 'elapsed.hm', params: { h, m: m % 60 } }
  return h % 24 === 0 ? { key: 'elapsed.d', params: { d } } : { key: 'elapsed.dh', params: { d, h: h % 24 } }
}
