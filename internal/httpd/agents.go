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
}

// AgentList is the catalogue.
type AgentList struct {
	Agents []fyllo.Agent `json:"agents"`
	// Problem says why the file of custom Agents is not used, so that Agents may be missing; nil when it is used.
	Problem *fyllo.Failure `json:"problem,omitempty"`
}

type suggestionList struct {
	Suggestions []fyllo.AgentSuggestion `json:"suggestions"`
}

type agentPath struct {
	ID fyllo.AgentID `path:"id"`
}

func (s *Server) addAgentRoutes(a router) {
	add(a, get("listAgents", "/api/agents", "The catalogue"),
		func(context.Context, caller, *nothing) (*answer[AgentList], error) {
			list := AgentList{Agents: s.Agents.List()}
			if problem := s.Agents.CustomProblem(); problem != nil {
				list.Problem = fyllo.FailureOf(problem)
			}
			return reply(list), nil
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
