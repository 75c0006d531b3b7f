package httpd

import (
	"context"
	"os"
	"time"

	"fyllocode.dev/fyllo"
)

// DoctorReport is what `fyllo doctor` prints (R-CLI-010). OK is false if any finding needs attention.
type DoctorReport struct {
	OK       bool            `json:"ok"`
	Findings []DoctorFinding `json:"findings"`
}

// DoctorFinding is one thing that was looked at.
type DoctorFinding struct {
	Area   string `json:"area"` // data, tools or agents
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"` // what to do; only when not OK
}

func (s *Server) addStatusRoutes(a router) {
	add(a, get("getStatus", "/api/status", "What Core does"),
		func(ctx context.Context, _ caller, _ *nothing) (*answer[fyllo.Status], error) {
			st, err := s.status(ctx)
			return reply(st), err
		})
	add(a, post("stop", "/api/stop", "Ends Core (command line only)"),
		func(_ context.Context, c caller, _ *nothing) (*nothing, error) {
			if err := c.mustBeBearer(); err != nil {
				return nil, err
			}
			s.Stop()
			return nil, nil
		})
	add(a, get("runDoctor", "/api/doctor", "Looks for what is wrong on this machine"),
		func(ctx context.Context, _ caller, _ *nothing) (*answer[DoctorReport], error) {
			if s.Doctor == nil {
				return nil, fyllo.Errorf(fyllo.CodeNotFound, "doctor: this Core has none")
			}
			report, err := s.Doctor(ctx)
			return reply(report), err
		})
}

func (s *Server) status(ctx context.Context) (fyllo.Status, error) {
	total, running, err := s.Sessions.Counts(ctx)
	if err != nil {
		return fyllo.Status{}, err
	}
	uptime := int64(time.Since(s.started).Seconds())
	st := fyllo.Status{
		Running: true, PID: os.Getpid(), URL: s.base, Version: s.Version, UptimeSeconds: &uptime,
		Sessions: fyllo.SessionCounts{Total: total, Running: running}, Agents: []fyllo.AgentStatus{},
	}
	if s.Spawned != nil {
		st.Spawned.Running = s.Spawned()
	}
	for _, a := range s.Agents.List() {
		if a.Source == fyllo.SourceRegistry && !a.Installed {
			continue // it has no process to tell of
		}
		st.Agents = append(st.Agents, fyllo.AgentStatus{ID: a.ID, State: a.State, PID: a.PID, Generation: a.Generation})
	}
	return st, nil
}
