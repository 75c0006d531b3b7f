package httpd

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd/internal/schema"
)

//go:generate go run ./cmd/openapi ../../web/src/api/openapi.json

// eventPayloads is the union of events: each type with its payload. A test holds it against the vocabulary.
var eventPayloads = []struct {
	Type    fyllo.EventType
	Payload reflect.Type
}{
	{fyllo.EventSession, reflect.TypeFor[fyllo.SessionSummary]()},
	{fyllo.EventSessionRemoved, reflect.TypeFor[emptyEvent]()},
	{fyllo.EventMessage, reflect.TypeFor[fyllo.Message]()},
	{fyllo.EventDelta, reflect.TypeFor[fyllo.Delta]()},
	{fyllo.EventPart, reflect.TypeFor[fyllo.PartEvent]()},
	{fyllo.EventTags, reflect.TypeFor[fyllo.TagsEvent]()},
	{fyllo.EventTurn, reflect.TypeFor[fyllo.Turn]()},
	{fyllo.EventTurnEnd, reflect.TypeFor[fyllo.TurnEndEvent]()},
	{fyllo.EventPermission, reflect.TypeFor[fyllo.Permission]()},
	{fyllo.EventPermissionClosed, reflect.TypeFor[fyllo.PermissionClosed]()},
	{fyllo.EventConfig, reflect.TypeFor[fyllo.ConfigEvent]()},
	{fyllo.EventCommands, reflect.TypeFor[fyllo.CommandsEvent]()},
	{fyllo.EventUsage, reflect.TypeFor[fyllo.Usage]()},
	{fyllo.EventPlan, reflect.TypeFor[fyllo.PlanEvent]()},
	{fyllo.EventQueue, reflect.TypeFor[fyllo.Queue]()},
	{fyllo.EventSpawned, reflect.TypeFor[fyllo.SpawnedEvent]()},
	{fyllo.EventActivity, reflect.TypeFor[fyllo.Activity]()},
	{fyllo.EventAgents, reflect.TypeFor[fyllo.AgentsEvent]()},
	{fyllo.EventDraft, reflect.TypeFor[fyllo.Draft]()},
	{fyllo.EventSettings, reflect.TypeFor[fyllo.Settings]()},
	{fyllo.EventWorkspace, reflect.TypeFor[fyllo.Workspace]()},
	{fyllo.EventFocus, reflect.TypeFor[emptyEvent]()},
	{fyllo.EventReset, reflect.TypeFor[emptyEvent]()},
}

// emptyEvent is the payload of events that say everything by their type.
type emptyEvent struct{}

// Spec returns the description of the API and of the events, as it is checked in for the interface.
func Spec() ([]byte, error) {
	_, a := (&Server{}).routes()
	api := a.OpenAPI()
	describeEvents(api)
	for _, s := range api.Components.Schemas.Map() {
		schema.Tidy(s)
	}
	compact, err := json.Marshal(api)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// describeEvents adds the event union and the stream.
func describeEvents(api *huma.OpenAPI) {
	schemas := api.Components.Schemas
	union := &huma.Schema{Description: "One event of the stream. Skip types that are not known."}
	for _, e := range eventPayloads {
		name := "Event" + camel(string(e.Type))
		schemas.Map()[name] = &huma.Schema{
			Type:     huma.TypeObject,
			Required: []string{"data", "seq", "type"},
			Properties: map[string]*huma.Schema{
				"seq":       {Type: huma.TypeInteger, Format: "int64", Description: "number of the event; of several merged ones, the last"},
				"sessionId": {Type: huma.TypeString},
				"type":      {Type: huma.TypeString, Enum: []any{string(e.Type)}},
				"data":      schemas.Schema(e.Payload, true, name),
			},
		}
		union.OneOf = append(union.OneOf, schema.Ref(name))
	}
	schemas.Map()["StreamEvent"] = union
	text := func(name, doc string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	api.AddOperation(&huma.Operation{
		OperationID: "stream", Method: "GET", Path: "/api/stream",
		Summary:     "The events of this window",
		Description: "A WebSocket. Each text frame is an array of StreamEvent. Close codes: 1001 Core stops, 4001 unknown window, 4002 the window has another socket, 4003 too slow, 4004 the window's Workspace changed.",
		Parameters: []*huma.Param{
			text("window", "the window's id"), text("after", "number of the last event seen"), text("run", "the run of that number"),
		},
		Responses: map[string]*huma.Response{"101": {Description: "Switching Protocols"}},
	})
}

// camel turns "turn.end" into "TurnEnd".
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, ".") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// describeVocabulary names the closed sets of words in the description, which the vocabulary itself cannot do
// without knowing about it.
func describeVocabulary(api *huma.OpenAPI) {
	r := api.Components.Schemas
	schema.Words(r, fyllo.RoleUser, fyllo.RoleAssistant)
	schema.Words(r, fyllo.ModeFyllo, fyllo.ModeNative)
	schema.Words(r, fyllo.PolicyAsk, fyllo.PolicyAllowOnce)
	schema.Words(r, fyllo.PartText, fyllo.PartReasoning, fyllo.PartTool, fyllo.PartAttachment, fyllo.PartReminder)
	schema.Words(r, fyllo.KindRead, fyllo.KindWrite, fyllo.KindEdit, fyllo.KindDelete, fyllo.KindMove, fyllo.KindSearch,
		fyllo.KindExecute, fyllo.KindThink, fyllo.KindFetch, fyllo.KindSwitchMode, fyllo.KindOther)
	schema.Words(r, fyllo.ToolPending, fyllo.ToolInProgress, fyllo.ToolCompleted, fyllo.ToolFailed)
	schema.Words(r, fyllo.TurnIdle, fyllo.TurnWaiting, fyllo.TurnStreaming, fyllo.TurnCancelling)
	schema.Words(r, fyllo.KindFolder, fyllo.KindCollection)
	schema.Words(r, fyllo.Supported, fyllo.Unsupported, fyllo.Unknown)
	schema.Words(r, fyllo.SourceRegistry, fyllo.SourceCustom, fyllo.SourceBuiltin)
	schema.Words(r, fyllo.InstallNPX, fyllo.InstallUVX, fyllo.InstallBinary)
	schema.Words(r, fyllo.ManagedByFyllo, fyllo.ManagedByUser)
	schema.Words(r, fyllo.AgentStopped, fyllo.AgentStarting, fyllo.AgentReady, fyllo.AgentRestarting, fyllo.AgentFailed)
	schema.Words(r, fyllo.FileAdded, fyllo.FileModified, fyllo.FileDeleted)
	schema.Words(r, fyllo.MatchTitle, fyllo.MatchID, fyllo.MatchMessage)
	schema.Words(r, fyllo.DraftConnecting, fyllo.DraftReady, fyllo.DraftFailed)
	schema.Words(r, roleLauncher, roleWorkspace)
	schema.Words(r, openBoundCurrent, openFocusedExisting, openCreated)
	r.RegisterTypeAlias(reflect.TypeFor[fyllo.ConfigValue](), reflect.TypeFor[schema.ConfigValue]())
}
