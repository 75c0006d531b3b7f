package mcphost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fyllocode.dev/fyllo"
)

// tool is one of the five. run gets arguments that are a JSON object; what it returns is the structured content.
type tool struct {
	mcp.Tool
	blocks bool // it may wait for an Agent
	run    func(ctx context.Context, h *Host, o fyllo.SpawnOwner, args arguments) (any, error)
}

// spawnTools in the order in which they are listed (R-SPAWN-023).
var spawnTools = []tool{availableAgents, promptToAgent, checkSessionStatus, readResponse, cancelSession}

const instructions = "Delegate focused work to other coding Agents that are installed on this machine. " +
	"Start with available_agents, hand work over with prompt_to_agent, follow it with check_session_status and read_response."

func (h *Host) spawnServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: SpawnName, Title: "FylloCode delegation", Version: h.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for i := range spawnTools {
		t := &spawnTools[i]
		listed := t.Tool
		server.AddTool(&listed, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return h.call(ctx, t, req)
		})
	}
	server.AddReceivingMiddleware(inOrder)
	return server
}

// inOrder lists the tools in our order; the SDK lists them by name.
func inOrder(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
			byName := map[string]*mcp.Tool{}
			for _, t := range list.Tools {
				byName[t.Name] = t
			}
			list.Tools = list.Tools[:0]
			for i := range spawnTools {
				if t := byName[spawnTools[i].Name]; t != nil {
					list.Tools = append(list.Tools, t)
				}
			}
		}
		return result, err
	}
}

// call runs a tool for the owner of the lease that the bearer names.
func (h *Host) call(ctx context.Context, t *tool, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	l, ok := leaseOf(req)
	if !ok {
		return nil, errors.New("no lease") // the bearer check let nobody through without one
	}
	ctx, stop := h.attend(ctx, req, l, t.blocks)
	defer stop()
	owner := l.caller()
	if owner.Parent == "" {
		return h.failure(t, fyllo.Errorf(fyllo.CodeSpawnParentRequired, "These tools work inside a Chat Session only; this activation does not belong to one yet.")), nil
	}
	args, err := parse(req.Params.Arguments)
	if err != nil {
		return h.failure(t, err), nil
	}
	out, err := t.run(ctx, h, owner, args)
	if l.ctx.Err() != nil {
		err = fyllo.Errorf(fyllo.CodeSpawnCancelled, "This activation of the Session has ended.")
	}
	if err != nil {
		return h.failure(t, err), nil
	}
	return result(out, false), nil
}

func leaseOf(req *mcp.CallToolRequest) (*Lease, bool) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return nil, false
	}
	l, ok := req.Extra.TokenInfo.Extra[leaseKey].(*Lease)
	return l, ok
}

// result is an object as structured content and as text (R-SPAWN-022).
func result(v any, failed bool) *mcp.CallToolResult {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // our own types
	text := bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text), IsError: failed,
	}
}

// errorObject is the form of a failed call.
type errorObject struct {
	Error struct {
		Code      fyllo.Code `json:"code"`
		Message   string     `json:"message"`
		Retryable bool       `json:"retryable"`
	} `json:"error"`
}

// failures are the codes that a tool may fail with (R-SPAWN §5), and whether trying again may help.
var failures = map[fyllo.Code]bool{
	fyllo.CodeSpawnInvalid: false, fyllo.CodeSpawnParentRequired: false, fyllo.CodeSpawnParentMissing: false, fyllo.CodeSpawnAgent: false,
	fyllo.CodeSpawnNotFound: false, fyllo.CodeSpawnConfig: false, fyllo.CodeSpawnUnavailable: true, fyllo.CodeSpawnCancelled: false,
	fyllo.CodeFolderRemoved: false, fyllo.CodeFolderRelocated: false, fyllo.CodeFolderPathMissing: false, fyllo.CodeCapability: false,
	fyllo.CodeSpawnInternal: false,
}

// failure maps an error to the table; anything else is an internal error that tells nothing (R-SPAWN-038).
func (h *Host) failure(t *tool, err error) *mcp.CallToolResult {
	var o errorObject
	code := fyllo.CodeOf(err)
	retryable, known := failures[code]
	if known {
		o.Error.Code, o.Error.Message, o.Error.Retryable = code, err.Error(), retryable
	} else {
		h.log().Error("tool failed", "tool", t.Name, "err", err)
		o.Error.Code, o.Error.Message = fyllo.CodeSpawnInternal, "FylloCode failed inside. Nothing is known to have been started."
	}
	return result(o, true)
}

func (h *Host) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}
