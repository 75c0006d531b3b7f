// The draft of this window: which Agent and mode the next Session gets, and how far its probe is (R-CHAT-030).

import { computed, ref, shallowRef } from 'vue'

import type { Agent, Draft, Mode, StreamEvent } from '@/api/types'

import { client } from './client'
import { ConfigChanges } from './config'
import { failureOf } from './failures'

const debounce = 200

/** The Agent chosen for the next Session; "" while there is none. */
export const draftAgent = ref('')

/** The mode chosen for the next Session. */
export const draftMode = ref<Mode>('fyllocode')

/** Whether the Agent was picked by the user rather than taken by default. */
let picked = false

const known = shallowRef<Draft | null>(null)

/** What Core last said about the probe of the present choice; null until it said something. */
export const draft = computed<Draft | null>(() => (known.value && fits(known.value) ? known.value : null))

/** Changes of the draft's configuration; they go to the probe (R-CHAT-038). */
export const draftChanges = shallowRef(changesOfDraft())

/** A change belongs to the choice at which it was made: one that is still waiting when that goes is dropped with it. */
function changesOfDraft(): ConfigChanges {
  const changes: ConfigChanges = new ConfigChanges(async (id, value) => {
    if (draftChanges.value === changes) await client.setDraftConfig(id, value)
  })
  return changes
}

let timer: ReturnType<typeof setTimeout> | undefined
let generation = 0

/** chooseDraft changes the choice; the probe follows 200 ms after the last change (R-AGT-092). */
export function chooseDraft(agentId: string, mode: Mode): void {
  const same = agentId === draftAgent.value && mode === draftMode.value
  if (same && (draft.value || timer !== undefined)) return
  if (!same) draftChanges.value = changesOfDraft()
  draftAgent.value = agentId
  draftMode.value = mode
  clearTimeout(timer)
  timer = setTimeout(() => void connect(), debounce)
}

/** pickAgent is the user's choice of the Agent. */
export function pickAgent(id: string): void {
  picked = true
  chooseDraft(id, draftMode.value)
}

/**
 * followAgents keeps the choice in step with the Agents on offer: one that is gone is replaced, and so is a default
 * that cannot start here. The Tour, when it was only there for want of another, gives way to the first real Agent.
 */
export function followAgents(offered: readonly Agent[], last: string | undefined, multiRoot: boolean): void {
  const now = offered.find((a) => a.id === draftAgent.value)
  picked &&= now !== undefined
  const kept = now !== undefined && (picked || (now.source !== 'builtin' && !barred(now, multiRoot)))
  const startable = offered.filter((a) => !barred(a, multiRoot))
  chooseDraft(kept ? now.id : defaultAgent(startable, last), draftMode.value)
}

/** barred says whether an Agent cannot start in a Workspace of several directories (R-CHAT-032). */
export function barred(agent: Agent, multiRoot: boolean): boolean {
  return multiRoot && agent.capabilities?.multiRoot === 'unsupported'
}

/** retryDraft asks for the probe again, at once. */
export function retryDraft(): void {
  clearTimeout(timer)
  known.value = null
  void connect()
}

/** forgetDraft drops what is known of the probe; Core has consumed or ended it. The choice stays. */
export function forgetDraft(): void {
  generation++
  draftChanges.value = changesOfDraft()
  clearTimeout(timer)
  timer = undefined
  known.value = null
}

/** applyToDraft takes the `draft` events of a frame. */
export function applyToDraft(events: readonly StreamEvent[]): void {
  for (const event of events) if (event.type === 'draft') known.value = event.data
}

/**
 * defaultAgent picks the Agent of a new draft: last used if installed, else the first installed one; the Tour stands
 * last and is used only when there is no other (R-AGT-110, decision 20).
 */
export function defaultAgent(agents: readonly Agent[], last: string | undefined): string {
  const installed = selectable(agents)
  return (installed.find((a) => a.id === last) ?? installed[0])?.id ?? ''
}

/** selectable returns the Agents that can be chosen (R-CHAT-025), in list order with the Tour last. */
export function selectable(agents: readonly Agent[]): Agent[] {
  const installed = agents.filter((a) => a.installed)
  return [...installed.filter((a) => a.source !== 'builtin'), ...installed.filter((a) => a.source === 'builtin')]
}

async function connect(): Promise<void> {
  timer = undefined
  const mine = ++generation
  const [agentId, mode] = [draftAgent.value, draftMode.value]
  if (!agentId) return
  try {
    const answer = await client.putDraft(agentId, mode)
    // An event may have overtaken the answer; ready and failed are later than connecting.
    if (mine === generation && !(answer.state === 'connecting' && draft.value)) known.value = answer
  } catch (error) {
    if (mine !== generation) return
    known.value = { agentId, mode, state: 'failed', configOptions: [], commands: [], error: failureOf(error) }
  }
}

function fits(d: Draft): boolean {
  return d.agentId === draftAgent.value && d.mode === draftMode.value
}
