import { FailureError } from './failure'
import type {
  Agent,
  AgentList,
  BodyQuery,
  ConfigChange,
  ConfigOption,
  Draft,
  Failure,
  MediaQuery,
  FileChanges,
  FileText,
  KeptAttachment,
  FoundFiles,
  Message,
  MessagePage,
  Mode,
  PermissionNote,
  Policy,
  Queue,
  QueueChange,
  QueueRequest,
  SearchResult,
  SessionDetail,
  SessionPage,
  SessionSummary,
  Settings,
  SpawnDetail,
  SpawnedList,
  WindowContext,
  Workspace,
} from './types'

export interface StartRequest {
  requestId: string
  agentId: string
  mode: Mode
  text: string
  policy: Policy
  config?: ConfigChange[]
  useDraft: boolean
}

/** The JSON of a first submission and its files, in order, as one request (R-CHAT-053). */
function formOf(body: StartRequest, files: readonly File[]): FormData {
  const form = new FormData()
  const attachments = files.map((f) => ({ name: f.name, mime: f.type, size: f.size }))
  form.append('request', new Blob([JSON.stringify({ ...body, attachments })], { type: 'application/json' }))
  for (const file of files) form.append('file', file, 'file')
  return form
}

export interface PromptRequest {
  requestId: string
  text: string
  agentId?: string
  mode?: Mode
  config?: ConfigChange[]
  /** Send the last message again instead. */
  retryOf?: string
  /** Handles of files that wait in this Session, in order. */
  attachments?: string[]
  /** An earlier message whose files go along once more. */
  attachmentsOf?: string
}

export interface OpenResult {
  status: 'bound-current' | 'focused-existing' | 'created'
  workspace: Workspace
  url?: string
}

export interface ClientOptions {
  fetch?: typeof fetch
  /** Where the window id survives a reload; sessionStorage in the page. */
  storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Path of the page, sent when the window registers. */
  path?: () => string
}

interface Call {
  method?: string
  body?: unknown
  form?: FormData
  query?: Record<string, string | number | undefined>
  signal?: AbortSignal
  /** The answer is plain text, or bytes, instead of JSON. */
  as?: 'text' | 'bytes'
}

const WINDOW_KEY = 'fyllo.window'

/**
 * Typed calls to Core. Every call carries the window id; when Core does not know it any more (it restarted), the
 * window registers again once and the call is repeated. Every failure is a FailureError.
 */
export class Client {
  private context: WindowContext | null = null
  private registering: Promise<WindowContext> | null = null
  private readonly doFetch: typeof fetch
  private readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  private readonly path: () => string
  /** Told about every registration, also the ones that a call did by itself. */
  onRegistered: (context: WindowContext) => void = () => {}

  constructor(options: ClientOptions = {}) {
    this.doFetch = options.fetch ?? ((input, init) => fetch(input, init))
    this.storage = options.storage ?? sessionStorage
    this.path = options.path ?? (() => location.pathname)
  }

  /** The registration in force, or null before the first. */
  get window(): WindowContext | null {
    return this.context
  }

  /** Registers this tab; joins a registration in flight. A ticket binds it to the Workspace it was made for. */
  register(ticket?: string): Promise<WindowContext> {
    this.registering ??= this.send<WindowContext>('/api/windows', {
      method: 'POST',
      body: { windowId: this.storage.getItem(WINDOW_KEY) ?? undefined, ticket, path: this.path() },
    })
      .then((context) => this.registered(context))
      .finally(() => (this.registering = null))
    return this.registering
  }

  /** Moves a Workspace that another window holds to this one. */
  async claim(): Promise<WindowContext> {
    return this.registered(await this.call<WindowContext>('/api/windows/claim', { method: 'POST' }))
  }

  workspaces = () => this.call<{ workspaces: (Workspace & { open: boolean })[] }>('/api/workspaces')
  openWorkspace = (body: { paths?: string[]; workspaceId?: string }) =>
    this.call<OpenResult>('/api/workspaces/open', { method: 'POST', body })
  workspace = () => this.call<Workspace>('/api/workspace')
  directories = (prefix: string, signal?: AbortSignal) =>
    this.call<{ home: string; directories: string[] }>('/api/directories', { query: { prefix }, signal })

  agents = () => this.call<AgentList>('/api/agents')
  lookForAgents = (force: boolean) => this.call<AgentList>('/api/agents/look', { method: 'POST', body: { force } })
  addAgent = (body: { name: string; command: string; args: string[]; env: Record<string, string> }) =>
    this.call<Agent>('/api/agents', { method: 'POST', body })
  removeAgent = (id: string) => this.call<void>(`/api/agents/${encodeURIComponent(id)}`, { method: 'DELETE' })
  agentSuggestions = <T = unknown>() => this.call<T>('/api/agents/suggestions')
  checkAgent = <T = unknown>(id: string) =>
    this.call<T>(`/api/agents/${encodeURIComponent(id)}/check`, { method: 'POST' })
  retryAgent = (id: string) => this.call<Agent>(`/api/agents/${encodeURIComponent(id)}/retry`, { method: 'POST' })

  sessions = (cursor?: string, limit?: number) =>
    this.call<SessionPage>('/api/sessions', { query: { cursor, limit } })
  /** The first 50 Sessions that hold some words, the best first. Aborting the signal ends the scan. */
  searchSessions = (q: string, signal?: AbortSignal) =>
    this.call<SearchResult>('/api/search', { query: { q }, signal })
  startSession = (body: StartRequest, files: readonly File[] = []) =>
    this.call<{ sessionId: string; message: Message }>('/api/sessions', {
      method: 'POST',
      ...(files.length > 0 ? { form: formOf(body, files) } : { body }),
    })
  session = (id: string, signal?: AbortSignal) => this.call<SessionDetail>(sessionPath(id), { signal })
  updateSession = (id: string, body: { title?: string; pinned?: boolean; policy?: Policy }) =>
    this.call<SessionSummary>(sessionPath(id), { method: 'PATCH', body })
  deleteSession = (id: string) => this.call<void>(sessionPath(id), { method: 'DELETE' })
  messages = (id: string, before?: string, limit?: number, signal?: AbortSignal) =>
    this.call<MessagePage>(`${sessionPath(id)}/messages`, { query: { before, limit }, signal })
  body = (id: string, q: BodyQuery) =>
    this.call<string>(`${sessionPath(id)}/body`, {
      query: { part: q.part, field: q.field, index: q.index, spawned: q.spawned },
      as: 'text',
    })
  /** The bytes of an attachment. Their type is what they are, or application/octet-stream. */
  media = (id: string, q: MediaQuery) =>
    this.call<Blob>(`${sessionPath(id)}/media`, {
      query: { part: q.part, index: q.index, spawned: q.spawned },
      as: 'bytes',
    })
  /** What a Session has spawned, in list order (R-SPAWN-119). */
  spawned = (id: string) => this.call<SpawnedList>(`${sessionPath(id)}/spawned`)
  /** One of them, with what was said in one turn: its id, or "latest". */
  spawnedDetail = (id: string, child: string, turn: string) =>
    this.call<SpawnDetail>(`${sessionPath(id)}/spawned/${encodeURIComponent(child)}`, { query: { turn } })
  /** The net file changes of one answer, live or stored (R-CHAT-097). */
  changes = (id: string, messageId: string, signal?: AbortSignal) =>
    this.call<FileChanges>(`${messagePath(id, messageId)}/changes`, { signal })
  /** Files by a part of their path, in the directories of a Session; "" looks in those of the Workspace. */
  files = (query: string, sessionId: string, signal?: AbortSignal) =>
    this.call<FoundFiles>('/api/files', { query: { q: query, sessionId: sessionId || undefined }, signal })
  /** One of those changes with its texts; `path` as the list has it. */
  fileText = (id: string, messageId: string, path: string, signal?: AbortSignal) =>
    this.call<FileText>(`${messagePath(id, messageId)}/changes/file`, { query: { path }, signal })
  prompt = (id: string, body: PromptRequest) =>
    this.call<{ message: Message }>(`${sessionPath(id)}/prompts`, { method: 'POST', body })
  /** Has a message sent when the turn has ended; the same id again is the same message. */
  enqueue = (id: string, body: QueueRequest) => this.call<Queue>(`${sessionPath(id)}/queue`, { method: 'POST', body })
  changeQueued = (id: string, entry: string, body: QueueChange) =>
    this.call<Queue>(`${sessionPath(id)}/queue/${encodeURIComponent(entry)}`, { method: 'PATCH', body })
  dropQueued = (id: string, entry: string) =>
    this.call<Queue>(`${sessionPath(id)}/queue/${encodeURIComponent(entry)}`, { method: 'DELETE' })
  releaseQueue = (id: string) => this.call<Queue>(`${sessionPath(id)}/queue/release`, { method: 'POST' })
  cancel = (id: string) => this.call<void>(`${sessionPath(id)}/cancel`, { method: 'POST' })
  /** Answers a permission request; optionId null cancels it. */
  answer = (id: string, permissionId: string, requestId: string, optionId: string | null) =>
    this.call<PermissionNote>(`${sessionPath(id)}/permissions/${encodeURIComponent(permissionId)}`, {
      method: 'POST',
      body: optionId === null ? { requestId } : { requestId, optionId },
    })
  setConfig = (id: string, option: string, value: string | boolean) =>
    this.call<{ options: ConfigOption[] }>(`${sessionPath(id)}/config`, {
      method: 'POST',
      body: { id: option, value },
    })

  draft = () => this.call<Draft>('/api/draft')
  putDraft = (agentId: string, mode: Mode) =>
    this.call<Draft>('/api/draft', { method: 'PUT', body: { agentId, mode } })
  deleteDraft = () => this.call<void>('/api/draft', { method: 'DELETE' })
  setDraftConfig = (id: string, value: string | boolean) =>
    this.call<Draft>('/api/draft/config', { method: 'POST', body: { id, value } })

  /** The bytes of a file that waits to be sent. */
  attachment = (id: string, handle: string) =>
    this.call<Blob>(`${sessionPath(id)}/attachments/${encodeURIComponent(handle)}`, { as: 'bytes' })
  dropAttachment = (id: string, handle: string) =>
    this.call<void>(`${sessionPath(id)}/attachments/${encodeURIComponent(handle)}`, { method: 'DELETE' })

  composer = (sessionId: string) => this.call<{ text: string; attachments?: KeptAttachment[] }>('/api/composer', { query: { sessionId } })
  putComposer = (sessionId: string, text: string) =>
    this.call<void>('/api/composer', { method: 'PUT', query: { sessionId }, body: { text } })

  settings = () => this.call<Settings>('/api/settings')
  patchSettings = (body: Partial<Settings>) => this.call<Settings>('/api/settings', { method: 'PATCH', body })

  /** Calls a route that has no method here. */
  async call<T>(path: string, call: Call = {}): Promise<T> {
    if (!this.context) await this.register()
    try {
      return await this.send<T>(path, call)
    } catch (err) {
      if (!(err instanceof FailureError) || err.failure.code !== 'WINDOW_UNKNOWN') throw err
      await this.register()
      return this.send<T>(path, call)
    }
  }

  private registered(context: WindowContext): WindowContext {
    this.context = context
    this.storage.setItem(WINDOW_KEY, context.windowId)
    this.onRegistered(context)
    return context
  }

  private async send<T>(path: string, call: Call): Promise<T> {
    const headers: Record<string, string> = {}
    if (this.context) headers['X-Fyllo-Window'] = this.context.windowId
    if (call.body !== undefined) headers['Content-Type'] = 'application/json'
    let answer: Response
    let text = ''
    try {
      answer = await this.doFetch(path + queryOf(call.query), {
        method: call.method ?? 'GET',
        headers,
        body: call.form ?? (call.body === undefined ? undefined : JSON.stringify(call.body)),
        signal: call.signal,
        credentials: 'same-origin',
        cache: 'no-store',
      })
      if (call.as === 'bytes' && answer.ok) return (await answer.blob()) as T
      text = await answer.text()
    } catch (err) {
      if (err instanceof DOMException && err.name === 'AbortError') throw err
      throw new FailureError({ code: 'NETWORK', message: 'FylloCode did not answer: the connection failed' }, 0)
    }
    if (!answer.ok) throw new FailureError(parseFailure(text, answer.status), answer.status)
    if (call.as === 'text') return text as T
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
}

function sessionPath(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`
}

function messagePath(id: string, messageId: string): string {
  return `${sessionPath(id)}/messages/${encodeURIComponent(messageId)}`
}

function queryOf(query: Call['query']): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(key, String(value))
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

function parseFailure(text: string, status: number): Failure {
  try {
    const failure = (JSON.parse(text) as { error?: Failure }).error
    if (failure && typeof failure.code === 'string') return failure
  } catch {
    // Not Core's form; a proxy or a crash answered.
  }
  return {
    code: status === 401 ? 'UNAUTHORIZED' : 'INTERNAL',
    message: `FylloCode answered with HTTP status ${status}`,
  }
}
