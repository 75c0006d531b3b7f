package acp

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/jsonrpc"
)

// DecodePermission reads a session/request_permission line; Answer is nil. False means that the line is none or
// names no session. Only PermissionAsk.Raw points into line.
func DecodePermission(line []byte) (fyllo.PermissionAsk, bool) {
	method, params := envelope(line)
	if method != methodPermission {
		return fyllo.PermissionAsk{}, false
	}
	p, ok := permission(params)
	p.Raw = line
	return p, ok
}

// permission reads the params of a request. The tool call may be all that is ever known of that call.
func permission(params []byte) (fyllo.PermissionAsk, bool) {
	p := fyllo.PermissionAsk{Tool: &fyllo.ToolPatch{}}
	s := jsonrpc.NewScanner(params)
	s.Object(func(name []byte) {
		switch string(name) {
		case "sessionId":
			id, _ := s.String()
			p.SessionID = fyllo.ACPSessionID(id)
		case "toolCall":
			var d decoder
			var f fields
			s.Object(func(name []byte) {
				if string(name) == "content" { // here always a list
					f.tool.field(&s, name)
					return
				}
				d.field(&f, &s, name)
			})
			p.Tool = f.tool.patch()
			f.tool.finish(f.u.ParentID)
		case "options":
			p.Options = permissionOptions(&s)
		}
	})
	return p, s.Finish() && p.SessionID != ""
}

// permissionOptions keeps the Agent's order. An option without id could not be answered and is left out.
func permissionOptions(s *jsonrpc.Scanner) []fyllo.PermissionOption {
	var list []fyllo.PermissionOption
	s.Array(func() {
		var o fyllo.PermissionOption
		s.Object(func(name []byte) {
			switch string(name) {
			case "optionId":
				o.OptionID, _ = s.String()
			case "name":
				o.Name, _ = s.String()
			case "kind":
				o.Kind, _ = s.String()
			}
		})
		if o.OptionID == "" {
			return
		}
		if o.Name == "" {
			o.Name = o.OptionID
		}
		list = append(list, o)
	})
	return list
}
