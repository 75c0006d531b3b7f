// @vitest-environment happy-dom
import { afterEach, describe, expect, it } from 'vitest'

import { en } from './en'
import { browserLocale, plural, setLanguage, t, texts } from './index'
import { ago } from './time'
import { zhCN } from './zh-CN'

afterEach(() => setLanguage('en'))

describe('the string tables', () => {
  const places = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort()

  it('have the same parameters in both languages', () => {
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      expect(places(zhCN[key]), key).toEqual(places(en[key]))
    }
  })

  it('write an ellipsis as one character', () => {
    for (const text of [...Object.values(en), ...Object.values(zhCN)]) expect(text).not.toContain('...')
  })
})

describe('the language', () => {
  it('follows the browser', () => {
    expect(browserLocale(['de-DE', 'zh-TW', 'en'])).toBe('zh-CN')
    expect(browserLocale(['en-GB', 'zh'])).toBe('en')
    expect(browserLocale(['fr'])).toBe('en')
  })

  it('is overridden by Settings and named in the document', async () => {
    setLanguage('zh-CN')
    expect(t('mode.native')).toBe('原生')
    await Promise.resolve()
    expect(document.documentElement.lang).toBe('zh-CN')
  })
})

it('counts R-CHAT-015', () => {
  setLanguage('en')
  expect(plural('sidebar.attention', 1)).toBe('1 to do')
  expect(plural('sidebar.attention', 3)).toBe('3 to do')
  setLanguage('zh-CN')
  expect(plural('sidebar.attention', 3)).toBe('3 项待处理')
})

it('speaks for tables that are loaded later as well', () => {
  const own = texts({ en: { files: '{n} file|{n} files', gone: '{path} is gone' }, 'zh-CN': { files: '{n} 个文件', gone: '{path} 已不在' } })
  setLanguage('en')
  expect([own.plural('files', 1), own.plural('files', 1200), own.t('gone', { path: '/a' })]).toEqual(['1 file', '1,200 files', '/a is gone'])
  setLanguage('zh-CN')
  expect([own.plural('files', 1), own.t('gone', { path: '/a' })]).toEqual(['1 个文件', '/a 已不在'])
})

it('writes times as people say them', () => {
  const noon = Date.parse('2026-06-15T12:00:00Z')
  const minutes = (n: number) => ago(noon - n * 60_000, noon)
  setLanguage('en')
  expect(minutes(0.5)).toBe('just now')
  expect(minutes(-3)).toBe('just now')
  expect(minutes(5)).toMatch(/^5\s?m.* ago$/)
  expect(minutes(60 * 26)).toMatch(/^1\s?d.* ago$/)
  expect(minutes(60 * 24 * 30)).toBe('May 16')
  expect(minutes(60 * 24 * 400)).toBe('May 11, 2025')
})
