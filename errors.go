package fyllo

import (
	"errors"
	"fmt"
)

// Code is the stable name of an error. Interfaces branch on codes only, never on text (R-WS-140).
type Code string

// Error codes of the whole product; the numbers of the requirements that define them stand behind.
const (
	CodeInternal        Code = "INTERNAL"
	CodeInvalidRequest  Code = "INVALID_REQUEST"
	CodeUnauthorized    Code = "UNAUTHORIZED"
	CodeForbidden       Code = "FORBIDDEN"
	CodeNotFound        Code = "NOT_FOUND"
	CodeTooLarge        Code = "REQUEST_TOO_LARGE"    // a body or text over its limit
	CodeWindowUnknown   Code = "WINDOW_UNKNOWN"       // R-WS-120
	CodeWindowUnbound   Code = "WINDOW_UNBOUND"       // R-CHAT-130: a window without Workspace
	CodeShuttingDown    Code = "SHUTTING_DOWN"        // R-CHAT-156
	CodeStorageDamaged  Code = "STORAGE_DAMAGED"      // R-WS-131
	CodeStorageFailed   Code = "STORAGE_FAILED"       // a disk operation failed
	CodeAlreadyRunning  Code = "CORE_ALREADY_RUNNING" // R-CLI-011, also the codes down to HomeNotWritable
	CodePortInUse       Code = "PORT_IN_USE"
	CodeHomeNotWritable Code = "HOME_NOT_WRITABLE"

	CodeSessionNotFound Code = "CHAT_SESSION_NOT_FOUND" // R-CLI-008
	CodeSessionBusy     Code = "SESSION_BUSY"           // R-CHAT-052
	CodeQueueFull       Code = "QUEUE_FULL"             // R-CHAT-052
	CodeEmptyMessage    Code = "EMPTY_MESSAGE"          // R-CHAT-041
	CodeAttachment      Code = "ATTACHMENT_REJECTED"    // R-CHAT-044, 049

	CodeAttachmentNotFound Code = "SESSION_ATTACHMENT_NOT_FOUND" // R-WS-092

	CodeAgentMismatch   Code = "AGENT_MISMATCH"   // R-AGT-112
	CodeModeFixed       Code = "MODE_FIXED"       // R-CHAT-026
	CodeProbeMismatch   Code = "PROBE_MISMATCH"   // R-CHAT-031
	CodeTurnTimeout     Code = "TURN_TIMEOUT"     // R-CLI-006
	CodeTurnInterrupted Code = "TURN_INTERRUPTED" // R-CHAT-149: Core ended while the turn ran
	CodeCancelTimeout   Code = "CANCEL_TIMEOUT"   // R-CHAT-052: no answer 5 s after a cancel
	CodePermissionGone  Code = "PERMISSION_GONE"  // decision 1: already answered, or its turn ended

	CodeAgentNotFound     Code = "AGENT_NOT_FOUND"
	CodeAgentNotInstalled Code = "AGENT_NOT_INSTALLED" // R-AGT-113
	CodeAgentStartFailed  Code = "AGENT_START_FAILED"
	CodeAgentExited       Code = "AGENT_EXITED"
	CodeAgentStopped      Code = "AGENT_STOPPED"              // R-AGT-057: stopped on purpose
	CodeAgentProtocol     Code = "AGENT_PROTOCOL_MISMATCH"    // R-AGT-053
	CodeAgentTimeout      Code = "AGENT_TIMEOUT"              // the Agent did not answer in time
	CodeAgentError        Code = "AGENT_ERROR"                // the Agent answered with an error
	CodeAuthRequired      Code = "AGENT_AUTH_REQUIRED"        // R-AGT-081: sign-in needed
	CodeACPNotReady       Code = "ACP_NOT_READY"              // R-AGT-056: restarting
	CodeACPGiveUp         Code = "ACP_EXIT_GIVEUP"            // R-AGT-056: too many failures
	CodeACPSessionMissing Code = "ACP_SESSION_MISSING"        // R-CHAT-144: the Agent does not know its session
	CodeMethodMissing     Code = "AGENT_METHOD_MISSING"       // R-CHAT-144: -32601
	CodeRegistry          Code = "REGISTRY_FAILED"            // R-AGT-005
	CodeCustomAgents      Code = "CUSTOM_AGENTS_INVALID"      // R-AGT-020
	CodeCapability        Code = "PROMPT_CAPABILITY_MISMATCH" // R-WS-077

	CodeConfigUnsupported Code = "CONFIG_OPTION_NOT_SUPPORTED" // R-AGT-094
	CodeConfigInvalid     Code = "CONFIG_OPTION_INVALID_VALUE" // R-AGT-094
	CodeConfigDiverged    Code = "CONFIG_RECOVERY_FAILED"      // R-AGT-095

	// fyllo-spawn: failed calls (R-SPAWN §5), then how spawned turns end (R-SPAWN-026).
	CodeSpawnInvalid        Code = "SPAWN_INVALID_REQUEST"
	CodeSpawnParentRequired Code = "SPAWN_PARENT_SESSION_REQUIRED"
	CodeSpawnParentMissing  Code = "SPAWN_PARENT_SESSION_NOT_FOUND"
	CodeSpawnAgent          Code = "SPAWN_AGENT_NOT_FOUND"
	CodeSpawnNotFound       Code = "SPAWN_NOT_FOUND"
	CodeSpawnConfig         Code = "SPAWN_CONFIG_FAILED"
	CodeSpawnUnavailable    Code = "SPAWN_RPC_UNAVAILABLE"
	CodeSpawnCancelled      Code = "SPAWN_RPC_CANCELLED"
	CodeSpawnInternal       Code = "SPAWN_INTERNAL_ERROR"
	CodeSpawnCapacity       Code = "SPAWN_CAPACITY_EXCEEDED"
	CodeTurnFailed          Code = "TURN_FAILED"
	CodeTurnInactivity      Code = "TURN_INACTIVITY_TIMEOUT"
	CodeTurnUnconfirmed     Code = "TURN_CANCEL_UNCONFIRMED"
	CodeTurnPersist         Code = "TURN_PERSIST_FAILED"
	CodeTurnParentCancelled Code = "TURN_CANCELLED_BY_PARENT"
	CodeTurnCancelled       Code = "TURN_CANCELLED"
	CodeProcessInvalidated  Code = "AGENT_PROCESS_INVALIDATED"
	CodeAppShutdown         Code = "APP_SHUTDOWN"
	CodeAppRestarted        Code = "APP_RESTARTED"

	CodeReminderTooLarge Code = "WORKSPACE_REMINDER_TOO_LARGE" // R-GOV-165

	CodeFolderNotFound         Code = "FOLDER_NOT_FOUND"
	CodeFolderPathUnavailable  Code = "FOLDER_PATH_UNAVAILABLE"
	CodeFolderPathConflict     Code = "FOLDER_CANONICAL_PATH_CONFLICT"
	CodeWorkspaceNotFound      Code = "WORKSPACE_NOT_FOUND"
	CodeWorkspaceDeleted       Code = "WORKSPACE_DELETED"
	CodeWorkspaceMetaInvalid   Code = "WORKSPACE_META_INVALID"
	CodeWorkspaceShape         Code = "WORKSPACE_FOLDER_SHAPE_INVALID"
	CodeWorkspaceDuplicate     Code = "WORKSPACE_MEMBER_DUPLICATE"
	CodeWorkspacePathDuplicate Code = "WORKSPACE_MEMBER_PATH_DUPLICATE"
	CodeWorkspacePathNested    Code = "WORKSPACE_MEMBER_PATH_NESTED"
	CodeWorkspacePrimary       Code = "WORKSPACE_PRIMARY_FOLDER_INVALID"
	CodeWorkspacePrimaryGone   Code = "WORKSPACE_PRIMARY_FOLDER_MISSING"
	CodeFolderRemoved          Code = "SESSION_FOLDER_REMOVED"      // R-WS-073
	CodeFolderRelocated        Code = "SESSION_FOLDER_RELOCATED"    // R-WS-073
	CodeFolderPathMissing      Code = "SESSION_FOLDER_PATH_MISSING" // R-WS-073
)

// Error is a failure that a person or a program is told about (R-WS-140, R-CLI-011).
type Error struct {
	Code    Code
	Message string // one sentence "WHAT: WHY"; no secret, no stack trace
	Hint    string // what to do about it; "" when unknown
	Details any    // structured facts that the requirement names; nil if none
	Err     error  // cause, for errors.Is; its text is not shown
}

// Error returns the message for people, without the code.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error with a code and a message; a %w verb sets the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns e with a sentence that says what to do.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// CodeOf returns the code of the first Error in err's chain, CodeInternal if there is none, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// Failure is the form in which an error is stored and sent: in turn ends, events, HTTP answers and on the
// command line.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Details any    `json:"details,omitempty"`
}

// FailureOf turns err into a Failure; nil stays nil. An error without a code is reported as CodeInternal with
// its own text.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &Failure{Code: e.Code, Message: e.Message, Hint: e.Hint, Details: e.Details}
	}
	return &Failure{Code: CodeInternal, Message: err.Error()}
}
