// What is completed while a message is written: slash commands at the start of a line, and files after "@"
// (R-CHAT-050). One engine for both: where the caret stands in a word that asks for it, which entries fit, and what
// the text is once one is chosen. Positions are UTF-16 units, as a text field counts.

import type { Command } from '@/api/types'

/** A word that asks for completion. */
export interface Trigger {
  kind: '/' | '@'
  /** Where its sign stands. */
  start: number
  /** Behind its last character, which may lie behind the caret. */
  end: number
  /** What stands between the sign and the caret. */
  query: string
}

/** An entry of the popup. */
export interface Completion {
  /** What is inserted behind the sign. */
  value: string
  label: string
  /** One line about it. */
  detail?: string
}

/** Characters before an "@" that make it part of something else, as in an address of mail. */
const joined = /[\w.+\-/@:]/

/** triggerAt finds the word that the caret stands in or behind; null when there is nothing to complete. */
export function triggerAt(text: string, caret: number): Trigger | null {
  const line = text.lastIndexOf('\n', caret - 1) + 1
  const word = /\S*$/.exec(text.slice(line, caret))![0]
  const behind = text.slice(caret)
  if (word.startsWith('/') && caret - word.length === line) {
    return { kind: '/', start: line, end: caret + /^\S*/.exec(behind)![0].length, query: word.slice(1) }
  }
  const at = word.lastIndexOf('@')
  const start = caret - word.length + at
  if (at < 0 || (at > 0 && joined.test(word[at - 1]!))) return null
  const end = caret + /^[^\s,;:!?'"()[\]{}，。；：！？（）]*/.exec(behind)![0].length
  return { kind: '@', start, end, query: text.slice(start + 1, caret) }
}

/** matching returns the entries whose value holds the query, whatever the case: those that begin with it come first. */
export function matching<T extends Completion>(entries: readonly T[], query: string): T[] {
  const wanted = query.toLowerCase()
  const begin: T[] = []
  const hold: T[] = []
  for (const e of entries) {
    const at = e.value.toLowerCase().indexOf(wanted)
    if (at === 0) begin.push(e)
    else if (at > 0) hold.push(e)
  }
  return [...begin, ...hold]
}

/** A stretch of text and what takes its place; the caret goes behind that. */
export interface Edit {
  start: number
  end: number
  insert: string
}

/** complete puts a chosen value in place of the word, with one blank behind it. */
export function complete(text: string, trigger: Trigger, value: string): Edit {
  const blank = text[trigger.end] === ' ' ? 1 : 0
  return { start: trigger.start, end: trigger.end + blank, insert: `${trigger.kind}${value} ` }
}

/** firstShown returns the first of the entries to show, so that the active one is among them and as little moves as can be. */
export function firstShown(active: number, first: number, count: number, most: number): number {
  const wanted = Math.min(Math.max(first, active - most + 1), active)
  return Math.max(0, Math.min(wanted, count - most))
}

/** commandEntries are the commands of the Agent's last full list, in its order and each name once. */
export function commandEntries(commands: readonly Command[]): Completion[] {
  const byName = new Map(commands.map((c) => [c.name, c]))
  return [...byName.values()].map((c) => ({ value: c.name, label: `/${c.name}`, detail: c.description || undefined }))
}

/** commandHint is what a command asks for, while the text is that command alone and nothing was said to it yet. */
export function commandHint(text: string, commands: readonly Command[]): string {
  const name = /^\/(\S+) $/.exec(text)?.[1]
  return commands.findLast((c) => c.name === name)?.hint ?? ''
}
