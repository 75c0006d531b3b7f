package httpd

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/wire"
)

// Limits of bodies, in bytes. A prompt of maxText bytes is longer as JSON, at worst six times.
const (
	maxBody     = 1 << 20
	maxText     = 4 << 20
	maxTextBody = 6*maxText + maxBody
)

// answer is a JSON answer; its status is the operation's.
type answer[T any] struct{ Body T }

func reply[T any](v T) *answer[T] { return &answer[T]{Body: v} }

// nothing is the input of a route without input, or the answer 204.
type nothing struct{}

// router is where routes are added.
type router struct {
	huma.API
	log *slog.Logger
}

// add registers a route. fn returns errors of the product; their form and status follow from their code. An error
// without a code is a fault of Core: the client is told so, and the log gets its kind.
func add[I, O any](a router, op huma.Operation, fn func(context.Context, caller, *I) (*O, error)) {
	huma.Register(a.API, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := fn(ctx, callerOf(ctx), in)
		if err == nil {
			return out, nil
		}
		if !wire.Coded(err) && ctx.Err() == nil {
			a.log.Error("a call failed", "route", op.OperationID, "kind", wire.KindOf(err))
		}
		return nil, wire.Failed(err)
	})
}

func operation(method, id, path, summary string) huma.Operation {
	return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, MaxBodyBytes: maxBody}
}

func get(id, path, summary string) huma.Operation {
	return operation(http.MethodGet, id, path, summary)
}

func post(id, path, summary string) huma.Operation {
	return operation(http.MethodPost, id, path, summary)
}

func put(id, path, summary string) huma.Operation {
	return operation(http.MethodPut, id, path, summary)
}

func patch(id, path, summary string) huma.Operation {
	return operation(http.MethodPatch, id, path, summary)
}

func remove(id, path, summary string) huma.Operation {
	return operation(http.MethodDelete, id, path, summary)
}

// withText allows the long body of a prompt.
func withText(op huma.Operation) huma.Operation {
	op.MaxBodyBytes = maxTextBody
	return op
}

// created sets the status 201.
func created(op huma.Operation) huma.Operation {
	op.DefaultStatus = http.StatusCreated
	return op
}

func checkText(text string) error {
	if len(text) > maxText {
		return fyllo.Errorf(fyllo.CodeTooLarge, "text: it has %d bytes; at most %d are possible", len(text), maxText)
	}
	return nil
}

// routes builds the handler of /api and its description. Handlers are not run by it, so that the description can be
// made without use cases.
func (s *Server) routes() (http.Handler, huma.API) {
	wire.ConfigureHuma()
	c := huma.DefaultConfig("FylloCode", "1")
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.Formats = map[string]huma.Format{"application/json": {Marshal: wire.Encode, Unmarshal: json.Unmarshal}}
	c.CreateHooks = nil                         // no $schema in answers
	c.AllowAdditionalPropertiesByDefault = true // what a client says beyond the form is ignored (R-CHAT-130)
	mux := http.NewServeMux()
	a := router{API: humago.New(mux, c), log: s.log}
	describeVocabulary(a.OpenAPI())

	s.addTokenRoutes(a)
	s.addWindowRoutes(a)
	s.addWorkspaceRoutes(a)
	s.addAgentRoutes(a)
	s.addSessionRoutes(a)
	s.addChangeRoutes(a)
	s.addMediaRoute(a)
	s.addSearchRoute(a)
	s.addFilesRoute(a)
	s.addTurnRoutes(a)
	s.addQueueRoutes(a)
	s.addSpawnedRoutes(a)
	describeStart(a)
	s.addAttachmentRoutes(a)
	s.addDraftRoutes(a)
	s.addComposerRoutes(a)
	s.addSettingsRoutes(a)
	s.addStatusRoutes(a)

	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		wire.WriteError(w, fyllo.Errorf(fyllo.CodeNotFound, "%s %s: there is no such route", r.Method, r.URL.Path))
	})
	return mux, a.API
}
