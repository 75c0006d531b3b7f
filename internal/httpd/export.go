package httpd

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/export"
)

// WholeReader gives a Session from its first message to its last.
type WholeReader interface {
	// Whole calls begin once and then message for every message in order, with whole texts and without what is hidden.
	Whole(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, begin func(fyllo.SessionSummary) error, message func(fyllo.Message) error) error
}

type exportQuery struct {
	SessionPath
	Format export.Format `query:"format" enum:"md,json,html" default:"md"`
}

// fileAnswer is a file that is written while it is made.
type fileAnswer struct {
	Body func(huma.Context)
}

func (s *Server) addExportRoute(a router) {
	op := get("exportSession", "/api/sessions/{id}/export", "The whole Session as one file")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK; the connection ends early when the file cannot be completed",
		Content:     map[string]*huma.MediaType{octets: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
	add(a, op, func(ctx context.Context, c caller, in *exportQuery) (*fileAnswer, error) {
		w, err := s.owner(ctx, c, in.ID)
		if err != nil {
			return nil, err
		}
		if _, err := s.Sessions.Detail(ctx, w, in.ID); err != nil {
			return nil, err // as long as it can be said
		}
		return &fileAnswer{Body: func(h huma.Context) { s.writeExport(h, w, in) }}, nil
	})
}

func (s *Server) writeExport(h huma.Context, w fyllo.WorkspaceID, in *exportQuery) {
	h.SetHeader("Content-Type", in.Format.MIME())
	h.SetHeader("Content-Disposition", `attachment; filename="session.`+string(in.Format)+`"`)
	h.SetHeader("Content-Security-Policy", mediaPolicy)
	h.SetHeader("Cache-Control", "private, no-cache")
	h.SetStatus(http.StatusOK)
	pictures := func(q fyllo.MediaQuery) (*fyllo.Media, error) { return s.Media.Media(h.Context(), w, in.ID, q) }
	var out *export.Writer
	err := s.Sessions.Whole(h.Context(), w, in.ID,
		func(summary fyllo.SessionSummary) (err error) {
			out, err = export.NewWriter(h.BodyWriter(), in.Format, summary, pictures)
			return err
		},
		func(m fyllo.Message) error { return out.Message(m) })
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		panic(http.ErrAbortHandler) // so that nobody takes the file for a whole one
	}
}
