/**
 * The vocabulary of the wire, as the root Go package marshals it. Times are RFC 3339 strings. Go marshals a nil
 * slice as null, so lists that an older Core may leave out are read through `?? []` where they come in.
 */

export type Role = 'user' | 'assistant'
export type Mode = 'fyllocode' | 'native'
export type Policy = 'ask' | 'allow_once'
export type Support = 'supported' | 'unsupported' | 'unknown'

/** The form of every error: HTTP answers, turn ends, events. Branch on `code`, never on text. */
export interface Failure {
  code: string
  message: string
  hint?: string
  details?: unknown
}

export interface Message {
  id: string
  role: Role
  createdAt: string
  updatedAt: string
  parts: Part[]
  model?: string
  effort?: string
  end?: TurnEnd
  rev?: number
}

/** Exactly one of stopReason and error is set. */
export interface TurnEnd {
  stopReason?: string
  error?: Failure
  at: string
}

export type PartType = 'text' | 'reasoning' | 'tool' | 'attachment' | 'reminder'

export interface Part {
  id: string
  type: PartType
  text?: string
  tool?: Tool
  attachment?: Attachment
}

export interface Attachment {
  name?: string
  mime?: string
  uri?: string
  data?: Body
}

export type ToolKind =
  | 'read'
  | 'write'
  | 'edit'
  | 'delete'
  | 'move'
  | 'search'
  | 'execute'
  | 'think'
  | 'fetch'
  | 'switch_mode'
  | 'other'

export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed'

export interface Tool {
  toolCallId: string
  title: string
  name?: string
  kind: ToolKind
  status: ToolStatus
  interrupted?: boolean
  input?: Body
  output?: Body
  error?: Body
  diffs?: Diff[]
  locations?: Location[]
  parentToolCallId?: string
  permissions?: PermissionNote[]
}

/** With `ref` set, `text` is a preview and `size` counts the bytes of the whole text. */
export interface Body {
  text: string
  json?: boolean
  size: number
  ref?: BodyRef
}

export interface BodyRef {
  offset: number
  length: number
}

export interface Diff {
  path: string
  old?: Body
  new?: Body
  kind?: string
}

export interface Location {
  path: string
  line?: number
}

export interface PermissionOption {
  optionId: string
  name: string
  kind: string
}

export interface Permission {
  id: string
  sessionId: string
  messageId: string
  toolCallId?: string
  title: string
  options: PermissionOption[]
  requestedAt: string
}

export interface PermissionNote {
  id: string
  title?: string
  options?: PermissionOption[]
  /** `selected` or `cancelled`. */
  outcome: string
  optionId?: string
  /** `user`, `policy` or `turn`. */
  by: string
  at: string
}

export interface Usage {
  used: number
  size: number
  cost?: { amount: number; currency: string }
}

export interface PlanEntry {
  content: string
  priority: string
  status: string
}

export interface Command {
  name: string
  description?: string
  hint?: string
}

export interface ConfigOption {
  id: string
  name: string
  description?: string
  category?: string
  /** `select` or `boolean`. */
  type: string
  currentValue: string | boolean
  options?: ConfigGroup[]
  legacy?: string
}

export interface ConfigGroup {
  group?: string
  name?: string
  options: ConfigChoice[]
}

export interface ConfigChoice {
  value: string
  name: string
  description?: string
}

export interface ConfigChange {
  id: string
  value: string
}

export interface ScopeFolder {
  folderId: string
  folderName: string
  folderPath: string
}

export interface Scope {
  workspaceId: string
  workspaceKind: WorkspaceKind
  primaryFolderId: string
  folders: ScopeFolder[]
  cwd: string
  additionalDirectories: string[]
}

export type WorkspaceKind = 'folder' | 'collection'

export interface Workspace {
  workspaceId: string
  name: string
  kind: WorkspaceKind
  primaryFolderId: string
  folders: (ScopeFolder & { pathMissing: boolean })[]
  lastOpenedAt: string
}

export type TurnState = 'idle' | 'waiting' | 'streaming' | 'cancelling'

export interface Turn {
  state: TurnState
  userMessageId?: string
  messageId?: string
  startedAt?: string
  firstContentAt?: string
  lastActivityAt?: string
}

export interface SessionSummary {
  sessionId: string
  workspaceId: string
  title: string
  agentId: string
  agentName: string
  mode: Mode
  pinned: boolean
  running: boolean
  attention: number
  createdAt: string
  updatedAt: string
}

export interface SessionDetail extends SessionSummary {
  seq: number
  turn: Turn
  live?: Message
  permissions: Permission[]
  usage?: Usage
  configOptions: ConfigOption[]
  commands: Command[]
  plan: PlanEntry[]
  permissionPolicy: Policy
  scope?: Scope
  staleReason?: Failure
}

export interface SessionPage {
  sessions: SessionSummary[]
  total: number
  next?: string
  seq: number
}

export interface MessagePage {
  messages: Message[]
  before?: string
  damage?: Damage[]
  seq: number
}

export interface Damage {
  file: string
  offset: number
  length: number
  reason: string
}

export interface Capabilities {
  image: Support
  audio: Support
  embeddedContext: Support
  httpMcp: Support
  multiRoot: Support
  load: boolean
  resume: boolean
  close: boolean
}

export interface AuthMethod {
  id: string
  name: string
  description?: string
  type?: string
}

export interface Agent {
  id: string
  name: string
  source: 'registry' | 'custom' | 'builtin'
  kind: string
  installed: boolean
  version?: string
  command?: string
  args?: string[]
  envNames?: string[]
  state: 'stopped' | 'starting' | 'ready' | 'restarting' | 'failed'
  pid?: number
  generation?: number
  capabilities: Capabilities
  authMethods?: AuthMethod[]
  problem?: Failure
}

export interface Draft {
  agentId: string
  mode: Mode
  state: 'connecting' | 'ready' | 'failed'
  configOptions: ConfigOption[]
  commands: Command[]
  error?: Failure
}

export interface Settings {
  theme: string
  language: string
  railCollapsed: boolean
  hideTour: boolean
  defaultPermissionPolicy: Policy
  lastAgent?: string
}

export interface Delta {
  messageId: string
  partId: string
  index: number
  kind: 'text' | 'reasoning'
  text: string
}

export interface PartEvent {
  messageId: string
  index: number
  part: Part
}

export interface TurnEndEvent {
  userMessageId: string
  messageId?: string
  end: TurnEnd
}

export interface PermissionClosed {
  messageId: string
  toolCallId?: string
  note: PermissionNote
}

/** The payload of each event type; the first group carries a sessionId. */
export interface EventPayloads {
  session: SessionSummary
  'session.removed': Record<string, never>
  message: Message
  delta: Delta
  part: PartEvent
  turn: Turn
  'turn.end': TurnEndEvent
  permission: Permission
  'permission.closed': PermissionClosed
  config: { options: ConfigOption[] }
  commands: { commands: Command[] }
  usage: Usage
  plan: { entries: PlanEntry[] }
  activity: { at: string }

  agents: { agents: Agent[] }
  draft: Draft
  settings: Settings
  workspace: Workspace
  focus: Record<string, never>
  reset: Record<string, never>
}

export type EventType = keyof EventPayloads

/** One entry of a stream frame. An unknown type is skipped, so that a newer Core does not break an open page. */
export type StreamEvent = {
  [T in EventType]: { seq: number; sessionId?: string; type: T; data: EventPayloads[T] }
}[EventType]

export interface WindowContext {
  windowId: string
  role: string
  workspaceId?: string
  workspace?: Workspace
  run: string
  seq: number
  conflict?: unknown
}

/** Which text `GET /sessions/{id}/body` is asked for; `index` counts diffs. */
export interface BodyQuery {
  part: string
  field: 'input' | 'output' | 'error' | 'old' | 'new' | 'attachment' | 'text'
  index?: number
}
