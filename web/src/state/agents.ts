// The catalogue of Agents, kept current by events.

import { ref, shallowRef } from 'vue'

import type { Agent, AgentList, AuthMethod, Failure, RegistryState, StreamEvent } from '@/api/types'

import { client } from './client'

/** A known Agent that was found on this computer and is not in the catalogue yet. */
export interface Suggestion {
  name: string
  command: string
  args?: string[]
  env?: Record<string, string>
  /** What a person should know before adding it. */
  note?: string
}

/** The outcome of starting an Agent once. */
export interface AgentCheck {
  agentId: string
  ok: boolean
  info?: { protocolVersion: number; name?: string; title?: string; version?: string; authMethods?: AuthMethod[] }
  /** From start to its first answer. */
  startMillis: number
  problem?: Failure
  /** What the Agent wrote to standard error; only when not ok. */
  stderrTail?: string
}

/** The catalogue as Core lists it. */
export const agents = shallowRef<readonly Agent[]>([])

/** How the list of known Agents stands; null when Core has none (R-AGT-005). */
export const registry = shallowRef<RegistryState | null>(null)

/** State of the catalogue. */
export const agentsState = ref<'loading' | 'ready' | 'failed'>('loading')

/** Why the catalogue did not come. */
export const agentsError = shallowRef<unknown>(null)

/** loadAgents reads the catalogue. What is shown stays until it is there. */
export async function loadAgents(): Promise<void> {
  if (agentsState.value === 'failed') agentsState.value = 'loading'
  try {
    show(await client.agents())
  } catch (error) {
    agentsError.value = error
    if (agentsState.value !== 'ready') agentsState.value = 'failed'
  }
}

/** applyToAgents takes the `agents` events of a frame. */
export function applyToAgents(events: readonly StreamEvent[]): void {
  for (const event of events) if (event.type === 'agents') show(event.data)
}

/** agentName is how lists and sentences call an Agent. */
export function agentName(id: string): string {
  return agents.value.find((a) => a.id === id)?.name || id
}

/** initials stand where an Agent has no icon. */
export function initials(a: Agent): string {
  const words = (a.name || a.id).split(/[\s_-]+/).filter(Boolean)
  return words
    .slice(0, 2)
    .map((w) => [...w][0] ?? '')
    .join('')
    .toUpperCase()
}

/**
 * look has Core fetch the list of known Agents when it is old, and see what is installed; force: whatever is known. Events
 * tell what came of it. Nothing is asked of a Core without such a list.
 */
export async function look(force = false): Promise<void> {
  if (registry.value) show(await client.lookForAgents(force))
}

function show(list: Pick<AgentList, 'agents' | 'registry'>): void {
  agents.value = list.agents ?? []
  registry.value = list.registry ?? null
  agentsState.value = 'ready'
  agentsError.value = null
}

/** loadSuggestions asks which known Agents are installed on this computer. */
export async function loadSuggestions(): Promise<readonly Suggestion[]> {
  return (await client.agentSuggestions<{ suggestions: Suggestion[] | null }>()).suggestions ?? []
}

/** addSuggested puts a suggested Agent into the catalogue and reads the catalogue again. */
export async function addSuggested(s: Suggestion): Promise<void> {
  await client.addAgent({ name: s.name, command: s.command, args: s.args ?? [], env: s.env ?? {} })
  await loadAgents()
}

/** addAgent puts a user's own Agent into the catalogue and reads the catalogue again. */
export async function addAgent(a: {
  name: string
  command: string
  args: string[]
  env: Record<string, string>
}): Promise<void> {
  await client.addAgent(a)
  await loadAgents()
}

/** removeAgent takes a user's own Agent out of the catalogue. */
export async function removeAgent(id: string): Promise<void> {
  await client.removeAgent(id)
  await loadAgents()
}

/** checkAgent starts an Agent once and asks for its capabilities. */
export async function checkAgent(id: string): Promise<AgentCheck> {
  return client.checkAgent<AgentCheck>(id)
}

/** retryAgent starts an Agent again that Core gave up. */
export async function retryAgent(id: string): Promise<void> {
  await client.retryAgent(id)
  await loadAgents()
}
