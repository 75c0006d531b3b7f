// Times as people read them.

import { ref } from 'vue'

import { locale, t } from './index'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The time that relative texts are written against, in Unix ms; it moves every 30 s. */
export const now = ref(Date.now())

setInterval(() => (now.value = Date.now()), minute / 2)

/** Formats cost a hundred times what they do with them, and there are few. */
const formats = new Map<string, Intl.DateTimeFormat>()

function written(time: number, options: Intl.DateTimeFormatOptions): string {
  const key = `${locale.value} ${Object.keys(options).join(' ')} ${options.year ?? ''}`
  let format = formats.get(key)
  if (!format) formats.set(key, (format = new Intl.DateTimeFormat(locale.value, options)))
  return format.format(time)
}

/** ago writes how long before `at` (Unix ms) a time was: minutes, hours, days, and a date after a week. */
export function ago(time: number, at: number = now.value): string {
  const past = at - time
  if (past < minute) return t('time.now')
  if (past >= 7 * day) return date(time, at)
  const format = new Intl.RelativeTimeFormat(locale.value, { style: 'narrow' })
  if (past < hour) return format.format(-Math.floor(past / minute), 'minute')
  if (past < day) return format.format(-Math.floor(past / hour), 'hour')
  return format.format(-Math.floor(past / day), 'day')
}

/** exact writes a time in full, for tooltips. */
export function exact(time: number): string {
  return written(time, { dateStyle: 'medium', timeStyle: 'short' })
}

/** clock writes the time of a day, with the date in front unless it is today. */
export function clock(time: number, at: number = now.value): string {
  const sameDay = new Date(time).toDateString() === new Date(at).toDateString()
  const hours = written(time, { timeStyle: 'short' })
  return sameDay ? hours : `${date(time, at)} ${hours}`
}

function date(time: number, at: number): string {
  const sameYear = new Date(time).getFullYear() === new Date(at).getFullYear()
  const year = sameYear ? undefined : 'numeric'
  return written(time, { year, month: 'short', day: 'numeric' })
}
