package acp

import (
	"slices"

	"fyllocode.dev/fyllo"
)

// The methods of ACP v1 that are used here.
const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodLoad       = "session/load"
	methodResume     = "session/resume"
	methodPrompt     = "session/prompt"
	methodCancel     = "session/cancel"
	methodClose      = "session/close"
	methodSetOption  = "session/set_config_option"
	methodSetMode    = "session/set_mode"
	methodSetModel   = "session/set_model"
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"
)

const protocolVersion = 1

type initializeParams struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientInfo         ClientInfo         `json:"clientInfo"`
	ClientCapabilities clientCapabilities `json:"clientCapabilities"`
}

// clientCapabilities advertises what is implemented, and nothing else (R-AGT-053, decision 8).
type clientCapabilities struct {
	Session struct {
		ConfigOptions struct {
			Boolean struct{} `json:"boolean"`
		} `json:"configOptions"`
	} `json:"session"`
}

// sessionParams are the params of new, load and resume. mcpServers is never null.
type sessionParams struct {
	SessionID             fyllo.ACPSessionID `json:"sessionId,omitzero"`
	Cwd                   string             `json:"cwd"`
	AdditionalDirectories []string           `json:"additionalDirectories,omitempty"`
	MCPServers            []mcpServer        `json:"mcpServers"`
}

type mcpServer struct {
	Type    string       `json:"type"`
	Name    string       `json:"name"`
	URL     string       `json:"url"`
	Headers []httpHeader `json:"headers"` // must be there, also when empty
}

type httpHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// wireServers sorts the headers by name, so that equal servers are equal on the wire.
func wireServers(list []fyllo.MCPServer) []mcpServer {
	out := make([]mcpServer, 0, len(list))
	for _, m := range list {
		w := mcpServer{Type: "http", Name: m.Name, URL: m.URL, Headers: make([]httpHeader, 0, len(m.Headers))}
		for k, v := range m.Headers {
			w.Headers = append(w.Headers, httpHeader{Name: k, Value: v})
		}
		slices.SortFunc(w.Headers, func(a, b httpHeader) int {
			if a.Name < b.Name {
				return -1
			}
			return 1
		})
		out = append(out, w)
	}
	return out
}

type sessionRef struct {
	SessionID fyllo.ACPSessionID `json:"sessionId"`
}

type promptParams struct {
	SessionID fyllo.ACPSessionID `json:"sessionId"`
	Prompt    []wireBlock        `json:"prompt"`
}

// wireBlock is a content block as sent; each type uses its own members.
type wireBlock struct {
	Type     string        `json:"type"`
	Text     *string       `json:"text,omitzero"`
	Data     []byte        `json:"data,omitzero"` // base64 on the wire
	MIME     string        `json:"mimeType,omitzero"`
	URI      string        `json:"uri,omitzero"`
	Name     string        `json:"name,omitzero"`
	Resource *wireResource `json:"resource,omitzero"`
}

type wireResource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitzero"`
	Text *string `json:"text,omitzero"`
	Blob []byte  `json:"blob,omitzero"`
}

func wireBlocks(blocks []fyllo.PromptBlock) []wireBlock {
	out := make([]wireBlock, 0, len(blocks))
	for _, b := range blocks {
		w := wireBlock{Type: b.Type}
		switch b.Type {
		case "text":
			w.Text = &b.Text
		case "resource":
			w.Resource = &wireResource{URI: b.URI, MIME: b.MIME, Blob: b.Data}
			if b.Data == nil {
				w.Resource.Text = &b.Text
			}
		case "resource_link":
			w.URI, w.Name, w.MIME = b.URI, b.Name, b.MIME
		default: // image, audio
			w.Data, w.MIME, w.URI = b.Data, b.MIME, b.URI
		}
		out = append(out, w)
	}
	return out
}

type setOptionParams struct {
	SessionID fyllo.ACPSessionID `json:"sessionId"`
	ConfigID  string             `json:"configId"`
	Type      string             `json:"type,omitzero"` // only "boolean" is written
	Value     fyllo.ConfigValue  `json:"value"`
}

type setModeParams struct {
	SessionID fyllo.ACPSessionID `json:"sessionId"`
	ModeID    string             `json:"modeId"`
}

type setModelParams struct {
	SessionID fyllo.ACPSessionID `json:"sessionId"`
	ModelID   string             `json:"modelId"`
}

// permissionAnswer has the nested outcome of the protocol.
type permissionAnswer struct {
	Outcome permissionOutcome `json:"outcome"`
}

type permissionOutcome struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId,omitzero"`
}

// outcome is the answer for an option; "" means cancelled.
func outcome(optionID string) permissionAnswer {
	if optionID == "" {
		return permissionAnswer{Outcome: permissionOutcome{Outcome: "cancelled"}}
	}
	return permissionAnswer{Outcome: permissionOutcome{Outcome: "selected", OptionID: optionID}}
}
