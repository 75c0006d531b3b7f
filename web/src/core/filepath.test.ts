import { describe, expect, it } from 'vitest'
import { fileKey, splitPath } from './filepath'

describe('fileKey (R-CHAT-100)', () => {
  it.each([
    ['/a/b/../c.ts', '/a/c.ts'],
    ['/a//./b/', '/a/b'],
    ['/../x', '/x'],
    ['C:\\Src\\A.ts', 'c:/src/a.ts'],
    ['\\\\?\\C:\\Src\\A.ts', 'c:/SRC/a.ts'],
    ['\\\\host\\Share\\a', '\\\\HOST\\share/a'],
  ])('takes %j and %j as one file', (a, b) => expect(fileKey(a)).toBe(fileKey(b)))

  it('tells names apart that differ in case where case counts', () => {
    expect(fileKey('/a/B')).not.toBe(fileKey('/a/b'))
    expect(fileKey('/a\\b')).not.toBe(fileKey('/a/b'))
  })
})

describe('splitPath', () => {
  it.each([
    ['/a/b.ts', '/a/', 'b.ts'],
    ['b.ts', '', 'b.ts'],
    ['C:\\a\\b.ts', 'C:\\a\\', 'b.ts'],
    ['/a/back\\slash', '/a/', 'back\\slash'],
  ])('parts %j', (path, directory, name) => expect(splitPath(path)).toEqual({ directory, name }))
})
