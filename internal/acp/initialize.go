package acp

import (
	"bytes"
	"context"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// Initialize negotiates the protocol version and learns what the Agent can do. It comes first, and once. Errors:
// AGENT_PROTOCOL_MISMATCH when the Agent does not speak version 1 (R-AGT-053), and those of every call.
func (c *Conn) Initialize(ctx context.Context) (fyllo.AgentInfo, error) {
	k := call{method: methodInitialize, what: "start the Agent"}
	params := initializeParams{ProtocolVersion: protocolVersion, ClientInfo: c.opts.Client}
	return ask(ctx, c, k, params, func(r reply) (fyllo.AgentInfo, error) {
		if r.err != nil {
			return fyllo.AgentInfo{}, r.err
		}
		info := agentInfo(r.raw)
		if info.ProtocolVersion != protocolVersion {
			return fyllo.AgentInfo{}, fyllo.Errorf(fyllo.CodeAgentProtocol,
				"Cannot use the Agent: it speaks version %d of the Agent Client Protocol, and only version %d is supported",
				info.ProtocolVersion, protocolVersion)
		}
		c.caps.Store(&info.Capabilities)
		return info, nil
	})
}

// agentInfo reads an initialize result. A capability that is not there is unsupported, never unknown (R-AGT-072).
func agentInfo(raw []byte) fyllo.AgentInfo {
	no := fyllo.Unsupported
	info := fyllo.AgentInfo{
		AuthMethods:  []fyllo.AuthMethod{},
		Capabilities: fyllo.Capabilities{Image: no, Audio: no, EmbeddedContext: no, HTTPMCP: no, MultiRoot: no},
		Raw:          bytes.Clone(raw),
	}
	s := jsonrpc.NewScanner(raw)
	s.Object(func(name []byte) {
		switch string(name) {
		case "protocolVersion":
			n, _ := s.Int()
			info.ProtocolVersion = int(n)
		case "agentInfo":
			s.Object(func(name []byte) {
				switch string(name) {
				case "name":
					info.Name, _ = s.String()
				case "title":
					info.Title, _ = s.String()
				case "version":
					info.Version, _ = s.String()
				}
			})
		case "authMethods":
			s.Array(func() { info.AuthMethods = appendAuthMethod(info.AuthMethods, &s) })
		case "agentCapabilities":
			capabilities(&s, &info.Capabilities)
		}
	})
	return info
}

func appendAuthMethod(list []fyllo.AuthMethod, s *jsonrpc.Scanner) []fyllo.AuthMethod {
	var m fyllo.AuthMethod
	s.Object(func(name []byte) {
		switch string(name) {
		case "id":
			m.ID, _ = s.String()
		case "name":
			m.Name, _ = s.String()
		case "description":
			m.Description, _ = s.String()
		case "type":
			m.Type, _ = s.String()
		}
	})
	if m.ID == "" {
		return list
	}
	return append(list, m)
}

func capabilities(s *jsonrpc.Scanner, c *fyllo.Capabilities) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "loadSession":
			c.Load, _ = s.Bool()
		case "promptCapabilities":
			s.Object(func(name []byte) {
				switch string(name) {
				case "image":
					c.Image = supported(s)
				case "audio":
					c.Audio = supported(s)
				case "embeddedContext":
					c.EmbeddedContext = supported(s)
				}
			})
		case "mcpCapabilities":
			s.Object(func(name []byte) {
				if string(name) == "http" {
					c.HTTPMCP = supported(s)
				}
			})
		case "sessionCapabilities":
			s.Object(func(name []byte) {
				switch string(name) {
				case "additionalDirectories":
					if present(s) {
						c.MultiRoot = fyllo.Supported
					}
				case "resume":
					c.Resume = present(s)
				case "close":
					c.Close = present(s)
				}
			})
		}
	})
}

// supported is true and nothing else.
func supported(s *jsonrpc.Scanner) fyllo.Support {
	if v, _ := s.Bool(); v {
		return fyllo.Supported
	}
	return fyllo.Unsupported
}

// present reads a capability that is an object: {} supports it, null does not.
func present(s *jsonrpc.Scanner) bool {
	if s.Kind() == '{' {
		s.Skip()
		return true
	}
	v, _ := s.Bool()
	return v
}
