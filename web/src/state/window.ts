// This window: registration with Core, the event stream, and what happens when either breaks.

import { computed, ref, shallowRef } from 'vue'

import { failureOf, FailureError } from '@/api/failure'
import { EventStream, type StreamState } from '@/api/socket'
import type { Failure, StreamEvent, WindowContext, Workspace } from '@/api/types'

import { applyToAgents, loadAgents } from './agents'
import { client } from './client'
import { applyToDraft, retryDraft } from './draft'
import { applyToNotices } from './notices'
import { applyToOpen, reloadOpen } from './open'
import { applyToSessions, loadSessions } from './sessions'
import { applyToSettings, loadSettings } from './settings'
import { applyToSpawned, reloadSpawned } from './spawned'

/**
 * What the window can show. `unreachable` tries again by itself, `unauthorized` needs a fresh link, `conflict` means
 * that the Workspace is open in another tab, `refused` that Core would not register this one.
 */
export type Phase = 'starting' | 'ready' | 'unreachable' | 'unauthorized' | 'conflict' | 'refused'

/** What the window can show now. */
export const phase = ref<Phase>('starting')

/** Why the window was refused; null otherwise. */
export const problem = shallowRef<Failure | null>(null)

/** The window's Workspace; null in a launcher. */
export const workspace = shallowRef<Workspace | null>(null)

/** State of the event stream. */
export const connection = ref<StreamState>('connecting')

/** Whether the stream was lost and is being taken up again. */
export const reconnecting = computed(() => wasOpen.value && connection.value !== 'open' && phase.value === 'ready')

/** The Session that the page shows; it is read again first when the stream lost its thread. */
export const shownSession = ref<string | null>(null)

let markRegistered: () => void = () => {}

/** Resolves when the window is registered and can show pages; stays open otherwise. */
export const registered = new Promise<void>((resolve) => (markRegistered = resolve))

/** Whether the stream was open at any time. */
export const wasOpen = ref(false)
const firstRetry = 500
const slowestRetry = 5000

const stream = new EventStream({ client, onEvents: apply, onReset: refetch, onState: follow })

client.onRegistered = adopt

/** takeTicket reads the one-time ticket of an opened URL and takes it out of the address bar. */
export function takeTicket(): string | undefined {
  const url = new URL(location.href)
  const ticket = url.searchParams.get('bind') ?? undefined
  if (ticket) {
    url.searchParams.delete('bind')
    history.replaceState(history.state, '', url.pathname + url.search + url.hash)
  }
  return ticket
}

/** boot registers the window and starts the stream, trying until Core answers. */
export async function boot(ticket = takeTicket(), attempt = 0): Promise<void> {
  try {
    await client.register(ticket || undefined)
  } catch (error) {
    bootFailed(error, ticket, attempt)
    return
  }
  if (phase.value !== 'conflict') enter()
}

/** moveHere takes the Workspace over from the other tab; the page then starts anew as its owner. */
export async function moveHere(): Promise<void> {
  await client.claim()
  location.reload()
}

function bootFailed(error: unknown, ticket: string | undefined, attempt: number): void {
  const failure = failureOf(error)
  if (error instanceof FailureError && error.status === 401) {
    phase.value = 'unauthorized'
  } else if (failure.code === 'NETWORK' || (error instanceof FailureError && error.status >= 500)) {
    phase.value = 'unreachable'
    setTimeout(() => void boot(ticket, attempt + 1), Math.min(slowestRetry, firstRetry * 2 ** attempt))
  } else if (ticket !== undefined) {
    // A used ticket, as after a restored tab: the path may still name the Workspace.
    void boot('', attempt)
  } else {
    problem.value = failure
    phase.value = 'refused'
  }
}

/** adopt takes what Core says about this window, at the first registration and at every later one. */
function adopt(context: WindowContext): void {
  if (context.conflict) {
    phase.value = 'conflict'
    stream.close()
    return
  }
  workspace.value = context.workspace ?? null
}

function enter(): void {
  phase.value = 'ready'
  markRegistered()
  stream.connect()
  void loadSettings()
  if (!workspace.value) return
  void loadSessions()
  void loadAgents()
}

function apply(events: StreamEvent[]): void {
  applyToSessions(events)
  applyToOpen(events)
  applyToAgents(events)
  applyToSettings(events)
  applyToDraft(events)
  applyToSpawned(events)
  applyToNotices(events)
  for (const event of events) {
    if (event.type === 'workspace') workspace.value = event.data
    else if (event.type === 'focus') window.focus()
  }
}

/** refetch reads every snapshot again; nobody clicked for it, so failures show in place only. */
function refetch(): void {
  void loadSettings()
  if (!workspace.value) return
  reloadOpen(shownSession.value)
  reloadSpawned()
  void loadSessions()
  void loadAgents()
  if (shownSession.value === null) retryDraft()
}

function follow(state: StreamState): void {
  connection.value = state
  if (state === 'open') wasOpen.value = true
  if (state === 'unauthorized') phase.value = 'unauthorized'
}
