/* Makers of messages, views and events for the tests of this folder. */
import type { EventPayloads, EventType, Message, MessagePage, Part, SessionDetail, StreamEvent, Tool } from '@/api/types'
import { openView } from './reduce'
import type { SessionView } from './types'

export const at = '2026-03-04T10:00:00Z'

export function message(id: string, role: Message['role'], parts: (string | Omit<Part, 'id'>)[] = [], extra: Partial<Message> = {}): Message {
  const made = parts.map((p, i) => ({ id: `${id}.${i}`, ...(typeof p === 'string' ? { type: 'text' as const, text: p } : p) }))
  return { id, role, createdAt: at, updatedAt: at, parts: made, ...extra }
}

export function tool(toolCallId: string, extra: Partial<Tool> = {}): Omit<Part, 'id'> {
  return { type: 'tool', tool: { toolCallId, title: toolCallId, kind: 'read', status: 'completed', ...extra } }
}

export function detail(extra: Partial<SessionDetail> = {}): SessionDetail {
  return {
    sessionId: 's1', workspaceId: 'w1', title: 'T', agentId: 'a', agentName: 'A', mode: 'fyllocode', pinned: false,
    running: false, attention: 0, createdAt: at, updatedAt: at, seq: 10, turn: { state: 'idle' }, permissions: [],
    configOptions: [], commands: [], plan: [], queue: { entries: [] }, permissionPolicy: 'ask', ...extra,
  }
}

export function view(messages: Message[] = [], d: Partial<SessionDetail> = {}, page: Partial<MessagePage> = {}): SessionView {
  return openView(detail(d), { messages, seq: 10, ...page })
}

export function event<T extends EventType>(seq: number, type: T, data: EventPayloads[T], sessionId = 's1'): StreamEvent {
  return { seq, sessionId, type, data } as StreamEvent
}
