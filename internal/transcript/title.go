package transcript

import (
	"fmt"
	"path/filepath"
	"strings"

	"fyllocode.dev/fyllo"
)

// titleRunes is the length of a Session's title (R-CHAT-057).
const titleRunes = 30

// toolTitleRunes bounds a tool title that is made from content.
const toolTitleRunes = 120

// Title makes a Session's title from what its first message says: the value of a "**标题**:" line if there is one,
// else the whole text, white space collapsed, cut to 30 code points (R-CHAT-057).
func Title(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		rest, ok := strings.CutPrefix(line, "**标题**")
		if !ok {
			continue
		}
		if value, ok := cutColon(rest); ok && strings.TrimSpace(value) != "" {
			text = value
			break
		}
	}
	return cutRunes(strings.Join(strings.Fields(text), " "), titleRunes)
}

// cutColon removes the colon, ASCII or full-width, that s must begin with.
func cutColon(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t")
	if rest, ok := strings.CutPrefix(s, ":"); ok {
		return rest, true
	}
	return strings.CutPrefix(s, "：")
}

// cutRunes returns at most n code points of s.
func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return strings.TrimRight(s[:i], " ")
		}
		n--
	}
	return s
}

// firstLine returns the first line that is not blank, bounded.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return cutRunes(line, toolTitleRunes)
		}
	}
	return ""
}

// fallbackTitle is for a call that never says what it is: Agents put a name before "__" in the id (G3).
func fallbackTitle(callID string) string {
	if i := strings.LastIndex(callID, "__"); i > 0 {
		return clean(callID[:i])
	}
	return "Tool"
}

// mcpName splits the form "mcp__server__tool" at the first "__" after the prefix (C7). No other form is split: in
// "server_tool" it cannot be told where the server ends (O12).
func mcpName(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}

// changesTitle makes a title from diffs that are marked as Codex marks them: add without old text, update, or
// delete (X2). Gemini, whose titles say more, marks new files with an empty old text and others with modify, so
// that nothing is made for it.
func changesTitle(diffs []fyllo.Diff, cwd string) string {
	for _, d := range diffs {
		if d.Kind != "update" && d.Kind != "delete" && (d.Kind != "add" || d.Old != nil) {
			return ""
		}
	}
	switch len(diffs) {
	case 0:
		return ""
	case 1:
		verb := map[string]string{"add": "Write", "update": "Edit", "delete": "Delete"}[diffs[0].Kind]
		return verb + " " + shortPath(diffs[0].Path, cwd)
	}
	return fmt.Sprintf("Edit %d files", len(diffs))
}

// shortPath returns path as seen from cwd if it lies below it.
func shortPath(path, cwd string) string {
	if rel, err := filepath.Rel(cwd, path); err == nil && cwd != "" && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
