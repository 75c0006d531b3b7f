/**
 * The vocabulary of the wire under short names. Everything comes from the Go structs by way of openapi.json
 * (`npm run api`); only what the schema cannot say stands here.
 */
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Agent = Schemas['Agent']
export type AgentCheck = Schemas['AgentCheck']
export type AgentList = Schemas['AgentList']
export type AgentSuggestion = Schemas['AgentSuggestion']
export type Attachment = Schemas['Attachment']
export type AuthMethod = Schemas['AuthMethod']
export type Body = Schemas['Body']
export type BodyRef = Schemas['BodyRef']
export type Capabilities = Schemas['Capabilities']
export type Command = Schemas['Command']
export type ConfigChange = Schemas['ConfigChange']
export type ConfigChoice = Schemas['ConfigChoice']
export type ConfigGroup = Schemas['ConfigGroup']
export type ConfigOption = Schemas['ConfigOption']
export type CustomAgent = Schemas['CustomAgent']
export type Damage = Schemas['Damage']
export type Delta = Schemas['Delta']
export type Diff = Schemas['Diff']
export type DirectoryList = Schemas['DirectoryList']
export type Draft = Schemas['Draft']
export type Failure = Schemas['Failure']
export type FileChange = Schemas['FileChange']
export type FileChangeKind = Schemas['FileChangeKind']
export type FileChanges = Schemas['FileChanges']
export type FileSegment = Schemas['FileSegment']
export type FileText = Schemas['FileText']
export type KeptAttachment = Schemas['KeptAttachment']
export type FoundFiles = Schemas['FoundFiles']
export type InstallWay = Schemas['InstallWay']
export type Location = Schemas['Location']
export type Message = Schemas['Message']
export type MessagePage = Schemas['MessagePage']
export type Mode = Schemas['Mode']
export type OpenResult = Schemas['OpenResult']
export type Part = Schemas['Part']
export type PartEvent = Schemas['PartEvent']
export type Tag = Schemas['Tag']
export type TagsEvent = Schemas['TagsEvent']
export type PartType = Schemas['PartType']
export type Permission = Schemas['Permission']
export type PermissionClosed = Schemas['PermissionClosed']
export type PermissionNote = Schemas['PermissionNote']
export type PermissionOption = Schemas['PermissionOption']
export type PlanEntry = Schemas['PlanEntry']
export type Policy = Schemas['Policy']
export type PromptRequest = Schemas['PromptRequest']
export type Queued = Schemas['Queued']
export type QueueChange = Schemas['QueueChange']
export type Queue = Schemas['Queue']
export type QueueRequest = Schemas['QueueRequest']
export type RegistryState = Schemas['RegistryState']
export type Role = Schemas['Role']
export type Scope = Schemas['Scope']
export type ScopeFolder = Schemas['ScopeFolder']
export type SearchHit = Schemas['SearchHit']
export type SearchResult = Schemas['SearchResult']
export type SessionDetail = Schemas['SessionDetail']
export type SessionPage = Schemas['SessionPage']
export type SessionSummary = Schemas['SessionSummary']
export type Settings = Schemas['Settings']
export type SettingsPatch = Schemas['SettingsPatch']
export type SpawnActivity = Schemas['SpawnActivity']
export type SpawnDetail = Schemas['SpawnDetail']
export type SpawnedList = Schemas['SpawnedList']
export type SpawnSummary = Schemas['SpawnSummary']
export type SpawnTurnDetail = Schemas['SpawnTurnDetail']
export type StartRequest = Schemas['StartRequest']
export type Support = Schemas['Support']
export type Tool = Schemas['Tool']
export type ToolKind = Schemas['ToolKind']
export type ToolStatus = Schemas['ToolStatus']
export type Turn = Schemas['Turn']
export type TurnEnd = Schemas['TurnEnd']
export type TurnEndEvent = Schemas['TurnEndEvent']
export type TurnState = Schemas['TurnState']
export type Usage = Schemas['Usage']
export type WindowContext = Schemas['WindowContext']
export type Workspace = Schemas['Workspace']
export type WorkspaceKind = Schemas['WorkspaceKind']
export type WorkspaceRow = Schemas['WorkspaceRow']

/** One event of the stream. Core may join neighbouring deltas of a part that piled up. */
export type StreamEvent = Schemas['StreamEvent']

export type EventType = StreamEvent['type']

/** The payload of each event type. An unknown type is skipped, so that a newer Core does not break an open page. */
export type EventPayloads = { [T in EventType]: Extract<StreamEvent, { type: T }>['data'] }

/** Which attachment `GET /sessions/{id}/media` is asked for: one in the result of a tool, or without index the part's own. */
export interface MediaQuery {
  part: string
  index?: number
  /** The part is one of this Session, which the other has spawned. */
  spawned?: string
}

/** Which text `GET /sessions/{id}/body` is asked for; `index` counts diffs. */
export interface BodyQuery {
  part: string
  field: 'input' | 'output' | 'error' | 'old' | 'new' | 'attachment' | 'media' | 'prompt' | 'text'
  index?: number
  spawned?: string
}
