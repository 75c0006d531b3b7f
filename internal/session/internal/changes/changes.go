// Package changes answers what an answer changed on disk: it reads the long texts that the fold of filechanges needs,
// file by file, so that no more than one file's texts are in memory at a time.
package changes

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/filechanges"
)

// Snapshot is an answer as far as its file changes go.
type Snapshot struct {
	MessageID string
	Parts     []fyllo.Part // others than tools may be missing
	Streaming bool         // its turn runs
	// Body reads the whole of a text that the parts hold as a preview.
	Body func(fyllo.BodyRef) ([]byte, error)
}

// List returns the net changes. A file whose texts cannot be read is listed with a Problem and hides no other.
func (s Snapshot) List() fyllo.FileChanges {
	out := fyllo.FileChanges{MessageID: s.MessageID, Changes: []fyllo.FileChange{}}
	for _, g := range filechanges.Groups(s.Parts, s.Streaming) {
		if text, changed := s.fold(g); changed {
			out.Changes = append(out.Changes, text.FileChange)
		}
	}
	return out
}

// File returns the net change of one file with its texts, NOT_FOUND when there is none.
func (s Snapshot) File(path string) (fyllo.FileText, error) {
	key := filechanges.Key(path)
	for _, g := range filechanges.Groups(s.Parts, s.Streaming) {
		if filechanges.Key(g.Path) != key {
			continue
		}
		if text, changed := s.fold(g); changed {
			return text, nil
		}
	}
	return fyllo.FileText{}, fyllo.Errorf(fyllo.CodeNotFound, "file changes: message %s changed nothing in %s", s.MessageID, path)
}

func (s Snapshot) fold(g filechanges.Group) (fyllo.FileText, bool) {
	problem := s.load(&g)
	file, changed := g.Fold()
	text := fyllo.FileText{FileChange: file.Summary(), Texts: file.Segments}
	if file.Broken {
		text.Problem = fyllo.FailureOf(problem)
	}
	if text.Texts == nil {
		text.Texts = []fyllo.FileSegment{}
	}
	return text, changed
}

// load makes the texts of a file whole. It stops at the first that cannot be read, which stays a preview.
func (s Snapshot) load(g *filechanges.Group) error {
	for i := range g.Diffs {
		for _, b := range []**fyllo.Body{&g.Diffs[i].Old, &g.Diffs[i].New} {
			if *b == nil || (*b).Ref == nil {
				continue
			}
			text, err := s.Body(*(*b).Ref)
			if err != nil {
				return err
			}
			*b = &fyllo.Body{Text: string(text), Size: len(text)}
		}
	}
	return nil
}
