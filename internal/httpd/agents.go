package httpd

import (
	"context"
	"slices"

	"fyllocode.dev/fyllo"
)

// Agents is the catalogue with its processes. Its errors carry codes.
type Agents interface {
	List() []fyllo.Agent
	CustomProblem() *fyllo.Error // why the file of custom Agents is not used, nil when it is
	AddCustom(a fyllo.CustomAgent) (fyllo.AgentID, error)
	RemoveCustom(idOrName string) error
	Suggestions() []fyllo.AgentSuggestion
	Check(ctx context.Context, id fyllo.AgentID) (fyllo.AgentCheck, error)
	Retry(ctx context.Context, id fyllo.AgentID) error // after Core gave up on it (R-AGT-056)
	// Look has the registry fetched when it is old, and what is installed looked at, in the background; force = whatever
	// is known (R-AGT-005).
	Look(force bool)
	Registry() *fyllo.RegistryState // nil when there is none
}

// AgentList is the catalogue.
type AgentList struct {
	Agents []fyllo.Agent `json:"agents"`
	// Problem says why the file of custom Agents is not used, so that Agents may be missing; nil when it is used.
	Problem *fyllo.Failure `json:"problem,omitempty"`
	// Registry tells how the list of known Agents stands; nil when there is none.
	Registry *fyllo.RegistryState `json:"registry,omitempty"`
}

type suggestionList struct {
	Suggestions []fyllo.AgentSuggestion `json:"suggestions"`
}

type agentPath struct {
	ID fyllo.AgentID `path:"id"`
}

type lookBody struct {
	Force bool `json:"force,omitempty" doc:"Fetch and look even when everything is fresh"`
}

func (s *Server) agentList() AgentList {
	// The state first: what it says is done is in the list.
	list := AgentList{Registry: s.Agents.Registry()}
	list.Agents = s.Agents.List()
	if problem := s.Agents.CustomProblem(); problem != nil {
		list.Problem = fyllo.FailureOf(problem)
	}
	return list
}

func (s *Server) addAgentRoutes(a router) {
	add(a, get("listAgents", "/api/agents", "The catalogue"),
		func(context.Context, caller, *nothing) (*answer[AgentList], error) {
			return reply(s.agentList()), nil
		})
	add(a, post("lookForAgents", "/api/agents/look", "Fetches the list of known Agents when it is old, and looks at what is installed, in the background"),
		func(_ context.Context, _ caller, in *struct{ Body lookBody }) (*answer[AgentList], error) {
			s.Agents.Look(in.Body.Force)
			return reply(s.agentList()), nil
		})
	add(a, post("addAgent", "/api/agents", "Adds or replaces a custom Agent"),
		func(_ context.Context, _ caller, in *struct{ Body fyllo.CustomAgent }) (*answer[fyllo.Agent], error) {
			id, err := s.Agents.AddCustom(in.Body)
			if err != nil {
				return nil, err
			}
			return s.agent(id)
		})
	add(a, remove("removeAgent", "/api/agents/{id}", "Removes a custom Agent"),
		func(_ context.Context, _ caller, in *agentPath) (*nothing, error) {
			return nil, s.Agents.RemoveCustom(string(in.ID))
		})
	add(a, get("suggestAgents", "/api/agents/suggestions", "Known Agents on PATH"),
		func(context.Context, caller, *nothing) (*answer[suggestionList], error) {
			return reply(suggestionList{Suggestions: s.Agents.Suggestions()}), nil
		})
	add(a, post("checkAgent", "/api/agents/{id}/check", "Starts an Agent and asks what it can do"),
		func(ctx context.Context, _ caller, in *agentPath) (*answer[fyllo.AgentCheck], error) {
			check, err := s.Agents.Check(ctx, in.ID)
			return reply(check), err
		})
	add(a, post("retryAgent", "/api/agents/{id}/retry", "Starts an Agent again that was given up"),
		func(ctx context.Context, _ caller, in *agentPath) (*answer[fyllo.Agent], error) {
			if err := s.Agents.Retry(ctx, in.ID); err != nil {
				return nil, err
			}
			return s.agent(in.ID)
		})
}

func (s *Server) agent(id fyllo.AgentID) (*answer[fyllo.Agent], error) {
	all := s.Agents.List()
	i := slices.IndexFunc(all, func(a fyllo.Agent) bool { return a.ID == id })
	if i < 0 {
		return nil, fyllo.Errorf(fyllo.CodeAgentNotFound, "Agent %s: it is not in the catalogue", id)
	}
	return reply(all[i]), nil
}
