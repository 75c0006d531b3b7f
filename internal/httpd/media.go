package httpd

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"fyllocode.dev/fyllo"
)

// Media gives the bytes of attachments. Errors carry codes; an attachment that is not there is NOT_FOUND.
type Media interface {
	Media(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, q fyllo.MediaQuery) (*fyllo.Media, error)
}

type mediaQuery struct {
	SessionPath
	Part  string `query:"part" required:"true"`
	Index int    `query:"index" minimum:"-1" default:"-1" doc:"absent: the part's own attachment; else one in the result of its tool"`

	Spawned fyllo.SessionID `query:"spawned" doc:"the part is one of this Session, which the other has spawned"`
}

// mediaPolicy keeps what an Agent sent from doing anything, should a browser ever show it as a page.
const mediaPolicy = "default-src 'none'; sandbox"

const octets = "application/octet-stream"

// mediaAnswer is raw bytes.
type mediaAnswer struct {
	Body func(huma.Context)
}

func (s *Server) addMediaRoute(a router) {
	op := binary(get("getMedia", "/api/sessions/{id}/media", "The bytes of a picture, sound or file in a message"))
	add(a, op, func(ctx context.Context, c caller, in *mediaQuery) (*mediaAnswer, error) {
		m, err := s.media(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return &mediaAnswer{Body: func(h huma.Context) { writeMedia(h, m) }}, nil
	})
}

func (s *Server) media(ctx context.Context, c caller, in *mediaQuery) (*fyllo.Media, error) {
	q := fyllo.MediaQuery{PartID: in.Part, Index: in.Index}
	if in.Spawned != "" {
		o, err := s.parent(ctx, c, in.ID)
		if err != nil {
			return nil, err
		}
		return s.Children.Media(ctx, o, in.Spawned, q)
	}
	w, err := s.owner(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return s.Media.Media(ctx, w, in.ID, q)
}

// binary says that the answer is raw bytes.
func binary(op huma.Operation) huma.Operation {
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK; the type is that of a raster picture or a sound, as its bytes tell, or " + octets,
		Content:     map[string]*huma.MediaType{octets: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
	return op
}

func writeMedia(h huma.Context, m *fyllo.Media) {
	defer m.Content.Close()
	kind := m.Type
	if kind == "" {
		kind = octets
	}
	h.SetHeader("Content-Type", kind)
	h.SetHeader("Content-Length", strconv.FormatInt(m.Size, 10))
	h.SetHeader("Content-Disposition", "attachment")
	h.SetHeader("Content-Security-Policy", mediaPolicy)
	h.SetHeader("Cache-Control", "private, no-cache")
	h.SetStatus(http.StatusOK)
	if _, err := io.Copy(h.BodyWriter(), io.LimitReader(m.Content, m.Size)); err != nil {
		return // the client is gone, or the disk failed; the length tells that something is missing
	}
}
