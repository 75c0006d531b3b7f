package filechanges

import "fyllocode.dev/fyllo"

// Group is what the calls of one answer reported about one file.
type Group struct {
	Path  string // as first reported
	Diffs []fyllo.Diff
}

// File is the net change of one file.
type File struct {
	Path     string // as first reported
	Change   fyllo.FileChangeKind
	Segments []fyllo.FileSegment // see fyllo.FileSegment for what nil means; none when Broken
	// Broken means that the text of a diff is only a preview (its Ref is set), so that nothing can be folded. Change
	// is then what the diffs say without their texts.
	Broken bool
}

// Counts reports whether the diffs of a part are a source: those of visible, ordinary calls (R-CHAT-097) that did not
// fail, and while the message streams also of those that have not ended (R-CHAT-098).
func Counts(p *fyllo.Part, streaming bool) bool {
	t := p.Tool
	if p.Type != fyllo.PartTool || t == nil || t.ParentID != "" || t.Subagent != nil {
		return false
	}
	return t.Status == fyllo.ToolCompleted || streaming && t.Status != fyllo.ToolFailed
}

// Groups sorts the diffs that count by file: diffs in part order and then in the order within their call, files by
// their first diff (R-CHAT-099). streaming says that the message is still being written. Bodies need not be whole.
func Groups(parts []fyllo.Part, streaming bool) []Group {
	var groups []Group
	at := map[string]int{}
	for i := range parts {
		if !Counts(&parts[i], streaming) {
			continue
		}
		for _, d := range parts[i].Tool.Diffs {
			if d.Path == "" {
				continue
			}
			key := Key(d.Path)
			g, known := at[key]
			if !known {
				g = len(groups)
				at[key] = g
				groups = append(groups, Group{Path: d.Path})
			}
			groups[g].Diffs = append(groups[g].Diffs, d)
		}
	}
	return groups
}

// Fold returns the net changes of the parts of one message, in the order of Groups. The bodies of the diffs that count
// must be whole.
func Fold(parts []fyllo.Part, streaming bool) []File {
	groups := Groups(parts, streaming)
	files := make([]File, 0, len(groups))
	for _, g := range groups {
		if f, changed := g.Fold(); changed {
			files = append(files, f)
		}
	}
	return files
}

// Fold returns the net change of the file, false when the answer left it as it was. The bodies must be whole.
func (g Group) Fold() (File, bool) {
	f := file{left: budget}
	for _, d := range g.Diffs {
		if !whole(d.Old) || !whole(d.New) {
			return g.broken()
		}
		f.apply(read(d))
	}
	change, segments := f.result()
	return File{Path: g.Path, Change: change, Segments: segments}, len(segments) > 0
}

// broken says what is certain without the texts.
func (g Group) broken() (File, bool) {
	first, last := read(g.Diffs[0]), read(g.Diffs[len(g.Diffs)-1])
	f := File{Path: g.Path, Change: kindOf(!first.from.exists, !last.to.exists), Broken: true}
	return f, first.from.exists || last.to.exists
}

func whole(b *fyllo.Body) bool { return b == nil || b.Ref == nil }

func kindOf(created, gone bool) fyllo.FileChangeKind {
	switch {
	case gone:
		return fyllo.FileDeleted
	case created:
		return fyllo.FileAdded
	default:
		return fyllo.FileModified
	}
}
