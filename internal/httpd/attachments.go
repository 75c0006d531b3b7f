package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/upload"
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
)

// Attachments keeps the files of Sessions that wait to be sent. Errors carry codes; a Session of another Workspace is
// not found, and neither is a file of another Session.
type Attachments interface {
	Add(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, n fyllo.NewAttachment, body io.Reader) (fyllo.KeptAttachment, error)
	Kept(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID) ([]fyllo.KeptAttachment, error)
	Open(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, handle string) (*fyllo.Media, error)
	Drop(ctx context.Context, w fyllo.WorkspaceID, s fyllo.SessionID, handle string) error
}

// maxStart bounds a first submission with its files and what stands between them.
const maxStart = maxTextBody + fyllo.MaxAttachmentBytes + maxBody

// AttachmentPath names a file of a Session; exported for the same reason as SessionPath.
type AttachmentPath struct {
	SessionPath
	Handle string `path:"handle"`
}

// attachmentBody is the bytes of one file, read as they come.
type attachmentBody struct {
	SessionPath
	Name string `query:"name" required:"true" maxLength:"4096" doc:"for display; never part of a path"`
	Type string `query:"type" maxLength:"256" doc:"what the client takes it for"`

	size int64
	body io.Reader
}

// Resolve implements huma.Resolver: the body is not read ahead.
func (b *attachmentBody) Resolve(h huma.Context) []error {
	n, err := strconv.ParseInt(h.Header("Content-Length"), 10, 64)
	if err != nil {
		return []error{&huma.ErrorDetail{Location: "header.Content-Length", Message: "the length of the file must be known"}}
	}
	b.size, b.body = n, h.BodyReader()
	return nil
}

func (s *Server) addAttachmentRoutes(a router) {
	const path = "/api/sessions/{id}/attachments"
	add(a, created(post("addAttachment", path, "Adds a file to the next message of a Session (R-CHAT-043)")),
		func(ctx context.Context, c caller, in *attachmentBody) (*answer[fyllo.KeptAttachment], error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			kept, err := s.Attachments.Add(ctx, w, in.ID, fyllo.NewAttachment{Name: in.Name, MIME: in.Type, Size: in.size}, in.body)
			return reply(kept), err
		})
	a.OpenAPI().Paths[path].Post.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{octets: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
	add(a, remove("dropAttachment", path+"/{handle}", "Takes a file back that was not sent"),
		func(ctx context.Context, c caller, in *AttachmentPath) (*nothing, error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			return nil, s.Attachments.Drop(ctx, w, in.ID, in.Handle)
		})
	add(a, binary(get("getAttachment", path+"/{handle}", "The bytes of a file that was not sent yet")),
		func(ctx context.Context, c caller, in *AttachmentPath) (*mediaAnswer, error) {
			w, err := s.owner(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			m, err := s.Attachments.Open(ctx, w, in.ID, in.Handle)
			if err != nil {
				return nil, err
			}
			return &mediaAnswer{Body: func(h huma.Context) { writeMedia(h, m) }}, nil
		})
}

// describeStart adds to the description of a first submission that files may come with it.
func describeStart(a huma.API) {
	file := &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	content := a.OpenAPI().Paths["/api/sessions"].Post.RequestBody.Content
	content["multipart/form-data"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"request": content["application/json"].Schema, "file": file,
	}}}
}

// startWithFiles is startSession for a request of several parts (R-CHAT-053).
func (s *Server) startWithFiles(w http.ResponseWriter, r *http.Request) {
	u, err := upload.New(w, r, maxStart)
	if err == nil {
		var out fyllo.StartResult
		if out, err = s.startFrom(r.Context(), u); err == nil {
			u.Drain()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_ = wire.Encode(w, out) // the client may be gone
			return
		}
		u.Drain()
	}
	if !wire.Coded(err) && r.Context().Err() == nil {
		s.log.Error("a call failed", "route", "startSession", "kind", wire.KindOf(err))
	}
	wire.WriteError(w, err)
}

func (s *Server) startFrom(ctx context.Context, u *upload.Reader) (fyllo.StartResult, error) {
	c := callerOf(ctx)
	w, err := c.bound()
	if err != nil {
		return fyllo.StartResult{}, err
	}
	object, err := u.Object(maxTextBody)
	if err != nil {
		return fyllo.StartResult{}, err
	}
	var in fyllo.StartRequest
	if err := json.Unmarshal(object, &in); err != nil {
		return fyllo.StartResult{}, fyllo.Errorf(fyllo.CodeInvalidRequest, "the request is not valid: its first part is not the JSON of a submission")
	}
	if err := checkText(in.Text); err != nil {
		return fyllo.StartResult{}, err
	}
	in.Window, in.NextFile = c.window, u.File
	out, err := s.Sessions.Start(ctx, w, in)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = fyllo.Errorf(fyllo.CodeTooLarge, "the request is too large: files may have %d bytes together", fyllo.MaxAttachmentBytes)
	}
	return out, err
}
