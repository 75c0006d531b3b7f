package wire

import (
	"net/http"

	"fyllocode.dev/fyllo"
)

// StatusOf gives every code its HTTP status. Clients branch on the code; 401 means only "sign in again".
var StatusOf = map[fyllo.Code]int{
	fyllo.CodeInternal:        http.StatusInternalServerError,
	fyllo.CodeInvalidRequest:  http.StatusBadRequest,
	fyllo.CodeUnauthorized:    http.StatusUnauthorized,
	fyllo.CodeForbidden:       http.StatusForbidden,
	fyllo.CodeNotFound:        http.StatusNotFound,
	fyllo.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	fyllo.CodeWindowUnknown:   http.StatusConflict,
	fyllo.CodeWindowUnbound:   http.StatusConflict,
	fyllo.CodeShuttingDown:    http.StatusServiceUnavailable,
	fyllo.CodeStorageDamaged:  http.StatusInternalServerError,
	fyllo.CodeStorageFailed:   http.StatusInternalServerError,
	fyllo.CodeAlreadyRunning:  http.StatusConflict,
	fyllo.CodePortInUse:       http.StatusConflict,
	fyllo.CodeHomeNotWritable: http.StatusInternalServerError,

	fyllo.CodeSessionNotFound: http.StatusNotFound,
	fyllo.CodeQueueFull:       http.StatusConflict,

	// Tools of fyllo-spawn answer with these in their own form; over HTTP they are seen in stored records only.
	fyllo.CodeSpawnInvalid: http.StatusBadRequest, fyllo.CodeSpawnParentRequired: http.StatusConflict, fyllo.CodeSpawnParentMissing: http.StatusNotFound,
	fyllo.CodeSpawnAgent: http.StatusNotFound, fyllo.CodeSpawnNotFound: http.StatusNotFound, fyllo.CodeSpawnConfig: http.StatusBadGateway,
	fyllo.CodeSpawnUnavailable: http.StatusServiceUnavailable, fyllo.CodeSpawnCancelled: http.StatusConflict,
	fyllo.CodeSpawnInternal: http.StatusInternalServerError, fyllo.CodeSpawnCapacity: http.StatusTooManyRequests,
	fyllo.CodeTurnFailed: http.StatusBadGateway, fyllo.CodeTurnInactivity: http.StatusGatewayTimeout, fyllo.CodeTurnUnconfirmed: http.StatusGatewayTimeout,
	fyllo.CodeTurnPersist: http.StatusInternalServerError, fyllo.CodeTurnParentCancelled: http.StatusConflict, fyllo.CodeTurnCancelled: http.StatusConflict,
	fyllo.CodeProcessInvalidated: http.StatusConflict, fyllo.CodeAppShutdown: http.StatusServiceUnavailable, fyllo.CodeAppRestarted: http.StatusConflict,

	fyllo.CodeSessionBusy:     http.StatusConflict,
	fyllo.CodeEmptyMessage:    http.StatusBadRequest,
	fyllo.CodeAttachment:      http.StatusBadRequest,
	fyllo.CodeAgentMismatch:   http.StatusConflict,
	fyllo.CodeModeFixed:       http.StatusConflict,
	fyllo.CodeProbeMismatch:   http.StatusConflict,
	fyllo.CodeTurnTimeout:     http.StatusGatewayTimeout,
	fyllo.CodeTurnInterrupted: http.StatusConflict,
	fyllo.CodeCancelTimeout:   http.StatusGatewayTimeout,
	fyllo.CodePermissionGone:  http.StatusConflict,

	fyllo.CodeAgentNotFound:     http.StatusNotFound,
	fyllo.CodeAgentNotInstalled: http.StatusConflict,
	fyllo.CodeRegistry:          http.StatusBadGateway,
	fyllo.CodeAgentStartFailed:  http.StatusBadGateway,
	fyllo.CodeAgentExited:       http.StatusBadGateway,
	fyllo.CodeAgentProtocol:     http.StatusBadGateway,
	fyllo.CodeAgentStopped:      http.StatusConflict,
	fyllo.CodeAgentTimeout:      http.StatusGatewayTimeout,
	fyllo.CodeAgentError:        http.StatusBadGateway,
	fyllo.CodeAuthRequired:      http.StatusConflict,
	fyllo.CodeACPNotReady:       http.StatusServiceUnavailable,
	fyllo.CodeACPGiveUp:         http.StatusServiceUnavailable,
	fyllo.CodeACPSessionMissing: http.StatusConflict,
	fyllo.CodeMethodMissing:     http.StatusBadGateway,
	fyllo.CodeCustomAgents:      http.StatusBadRequest,
	fyllo.CodeCapability:        http.StatusConflict,

	fyllo.CodeConfigUnsupported: http.StatusBadRequest,
	fyllo.CodeConfigInvalid:     http.StatusBadRequest,
	fyllo.CodeConfigDiverged:    http.StatusConflict,

	fyllo.CodeReminderTooLarge:   http.StatusBadRequest,
	fyllo.CodeAttachmentNotFound: http.StatusNotFound,

	fyllo.CodeFolderNotFound:         http.StatusNotFound,
	fyllo.CodeFolderPathUnavailable:  http.StatusConflict,
	fyllo.CodeFolderPathConflict:     http.StatusConflict,
	fyllo.CodeWorkspaceNotFound:      http.StatusNotFound,
	fyllo.CodeWorkspaceDeleted:       http.StatusConflict,
	fyllo.CodeWorkspaceMetaInvalid:   http.StatusInternalServerError,
	fyllo.CodeWorkspaceShape:         http.StatusBadRequest,
	fyllo.CodeWorkspaceDuplicate:     http.StatusBadRequest,
	fyllo.CodeWorkspacePathDuplicate: http.StatusBadRequest,
	fyllo.CodeWorkspacePathNested:    http.StatusBadRequest,
	fyllo.CodeWorkspacePrimary:       http.StatusBadRequest,
	fyllo.CodeWorkspacePrimaryGone:   http.StatusConflict,
	fyllo.CodeFolderRemoved:          http.StatusConflict,
	fyllo.CodeFolderRelocated:        http.StatusConflict,
	fyllo.CodeFolderPathMissing:      http.StatusConflict,
}
