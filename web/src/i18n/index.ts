// The language of the page. The browser decides; Settings override (decision 7).

import { computed, ref, shallowReactive, watchEffect } from 'vue'

import transcriptEn from '@/transcript/strings.en'

import { en, type StringKey as OwnKey } from './en'

/** A language the page can show. */
export type Locale = 'en' | 'zh-CN'

/** Values for the "{name}" places of a string. */
export type Params = Readonly<Record<string, string | number>>

/** A key of the string tables: those of this folder and those of the transcript. */
export type StringKey = OwnKey | keyof typeof transcriptEn

/** A language that is not loaded yet reads English. */
type Tables<K extends string> = { en: Record<K, string>; 'zh-CN'?: Record<K, string> }

const tables: Tables<StringKey> = shallowReactive({ en: { ...en, ...transcriptEn } })

/** Core writes the language of the preferences into the page, so that nothing is shown in another one first. */
const override = ref<Locale | null>(localeOf(document.documentElement.dataset.language))

/** The language shown now. */
export const locale = computed<Locale>(() => override.value ?? browserLocale(navigator.languages))

watchEffect(() => {
  document.documentElement.lang = locale.value
  void loadLanguage(locale.value)
})

/** loadLanguage fetches what the page needs to speak a language; without it the page speaks English. Never rejects. */
export async function loadLanguage(which: Locale = locale.value): Promise<void> {
  if (which === 'en' || tables[which]) return
  tables[which] = (await import('./chinese').catch(() => null))?.chinese
}

/** browserLocale picks the first language of the list that the page can show; anything else reads English. */
export function browserLocale(wanted: readonly string[]): Locale {
  for (const tag of wanted) {
    if (/^zh\b/i.test(tag)) return 'zh-CN'
    if (/^en\b/i.test(tag)) return 'en'
  }
  return 'en'
}

/** setLanguage follows Settings.language: a language of the page, or anything else for the browser's. */
export function setLanguage(setting: string): void {
  override.value = localeOf(setting)
}

function localeOf(setting: string | undefined): Locale | null {
  return setting === 'en' || setting === 'zh-CN' ? setting : null
}

/** The texts of some keys in the language shown now. */
export interface Texts<K extends string> {
  /** t returns the text of a key with its parameters filled in; a parameter that is missing stays visible. */
  t(key: K, params?: Params): string
  /** plural returns the form of a key that fits n; "{n}" shows the number as the language writes it. */
  plural(key: K, n: number, params?: Params): string
}

/** texts makes the functions for string tables of one's own, which load with the part of the page that shows them. */
export function texts<K extends string>(own: Tables<K>): Texts<K> {
  const of = (key: K): string => (own[locale.value] ?? own.en)[key]
  return {
    t: (key, params) => fill(of(key), params),
    plural: (key, n, params) => {
      const forms = of(key).split('|')
      const { rules, numbers } = countingIn(locale.value)
      const form = rules.select(n) === 'one' ? forms[0] : forms[forms.length - 1]
      return fill(form ?? '', { n: numbers.format(n), ...params })
    },
  }
}

const counting = new Map<Locale, { rules: Intl.PluralRules; numbers: Intl.NumberFormat }>()

/** What counting needs in a language, made once: making it costs more than a row does. */
function countingIn(language: Locale): { rules: Intl.PluralRules; numbers: Intl.NumberFormat } {
  let made = counting.get(language)
  if (!made) counting.set(language, (made = { rules: new Intl.PluralRules(language), numbers: new Intl.NumberFormat(language) }))
  return made
}

/** The functions for the strings that every page needs. */
export const { t, plural } = texts<StringKey>(tables)

function fill(text: string, params?: Params): string {
  if (!params) return text
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(params[name] ?? place))
}
