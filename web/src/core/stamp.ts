import type { Message, Tool } from '@/api/types'

const serials = new WeakMap<object, number>()
let lastSerial = 0

/** A number for an object; values of a view are never changed in place, so the same number means the same content. */
function serialOf(value: object): number {
  let serial = serials.get(value)
  if (!serial) serials.set(value, (serial = ++lastSerial))
  return serial
}

/**
 * Tells when the file changes of an answer may have changed: it differs whenever a diff, the state of its call
 * or whether the answer still streams differs. "" when no call has a diff.
 */
export function stampOf(message: Message, running: boolean): string {
  const calls: string[] = []
  for (const { tool } of message.parts) {
    if (tool?.diffs?.length) calls.push(`${serialOf(tool.diffs)}${tool.status}${tool.parentToolCallId ? '^' : ''}${tool.subagent ? '*' : ''}`)
  }
  return calls.length > 0 ? `${calls.join()}${running ? '…' : ''}` : ''
}

/** Tells whether the diffs of a call count as changes of its answer (R-CHAT-097, 098). Core says the same. */
export function counts(tool: Tool, running: boolean): boolean {
  if (tool.parentToolCallId || tool.subagent) return false
  return tool.status === 'completed' || (running && tool.status !== 'failed')
}
