package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/internal/httpd"
)

// Areas of the findings of a doctor.
const (
	areaData   = "data"
	areaTools  = "tools"
	areaAgents = "agents"

	dataRoot = "data root" // the name of a finding
)

// lowSpace is the free space below which somebody should act.
const lowSpace = 500 << 20

// checkAtOnce is how many Agents a doctor starts at a time.
const checkAtOnce = 2

// doctor looks at the data root, the tool chain and every Agent (R-CLI-010).
func (c *core) doctor(ctx context.Context) (httpd.DoctorReport, error) {
	report := httpd.DoctorReport{OK: true}
	report.Findings = append(report.Findings, checkWritable(c.options.Root), checkSpace(c.options.Root))
	report.Findings = append(report.Findings, checkTools()...)
	if problem := c.pool.CustomProblem(); problem != nil {
		report.Findings = append(report.Findings, failed(areaAgents, "custom Agents", fyllo.FailureOf(problem)))
	}
	report.Findings = append(report.Findings, c.checkAgents(ctx)...)
	for _, f := range report.Findings {
		report.OK = report.OK && f.OK
	}
	return report, ctx.Err()
}

// failed is a finding about a failure.
func failed(area, name string, f *fyllo.Failure) httpd.DoctorFinding {
	return httpd.DoctorFinding{Area: area, Name: name, Detail: fmt.Sprintf("%s (%s)", f.Message, f.Code), Hint: f.Hint}
}

func notWritable(root string, err error) httpd.DoctorFinding {
	return httpd.DoctorFinding{
		Area: areaData, Name: dataRoot, Detail: fmt.Sprintf("%s: %v (%s)", root, err, fyllo.CodeHomeNotWritable),
		Hint: "Make it writable, or choose another one with --home or FYLLO_HOME.",
	}
}

func checkWritable(root string) httpd.DoctorFinding {
	probe, err := os.CreateTemp(root, ".doctor-*")
	if err != nil {
		return notWritable(root, err)
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return notWritable(root, err)
	}
	return httpd.DoctorFinding{Area: areaData, Name: dataRoot, OK: true, Detail: root + " is writable"}
}

func checkSpace(root string) httpd.DoctorFinding {
	f := httpd.DoctorFinding{Area: areaData, Name: "free space"}
	free, err := freeSpace(root)
	if err != nil {
		f.Detail, f.Hint = err.Error(), "Check the file system of "+root+"."
		return f
	}
	f.OK = free >= lowSpace
	f.Detail = fmt.Sprintf("%d MiB", free>>20)
	if !f.OK {
		f.Hint = "Free some space: Sessions cannot be stored on a full disk."
	}
	return f
}

// checkTools looks for the commands that Agents and their installation use. Which of them are needed depends on
// the Agents, whose own findings say so; a missing one alone is no fault.
func checkTools() []httpd.DoctorFinding {
	findings := []httpd.DoctorFinding{{
		Area: areaTools, Name: "PATH", OK: os.Getenv("PATH") != "", Detail: os.Getenv("PATH"),
	}}
	if !findings[0].OK {
		findings[0].Hint = "Set PATH: without it no Agent is found."
	}
	for _, name := range []string{"node", "npm", "npx", "uv", "git"} {
		f := httpd.DoctorFinding{Area: areaTools, Name: name, OK: true, Detail: "not found; only Agents that use it need it"}
		if path, err := exec.LookPath(name); err == nil {
			if path, err = filepath.Abs(path); err == nil {
				f.Detail = path
			}
		}
		findings = append(findings, f)
	}
	return findings
}

// checkAgents starts every Agent of the catalogue, a few at a time, and reports in the order of the catalogue.
func (c *core) checkAgents(ctx context.Context) []httpd.DoctorFinding {
	all := slices.DeleteFunc(c.pool.List(), func(a fyllo.Agent) bool { return a.Source == fyllo.SourceRegistry && !a.Installed })
	findings := make([]httpd.DoctorFinding, len(all))
	slots := make(chan struct{}, checkAtOnce)
	var running sync.WaitGroup
	for i, agent := range all {
		running.Go(func() { // ends with the check, which has its own limit
			slots <- struct{}{}
			defer func() { <-slots }()
			findings[i] = c.checkAgent(ctx, agent)
		})
	}
	running.Wait()
	return findings
}

func (c *core) checkAgent(ctx context.Context, agent fyllo.Agent) httpd.DoctorFinding {
	check, err := c.pool.Check(ctx, agent.ID)
	if err != nil {
		return failed(areaAgents, string(agent.ID), fyllo.FailureOf(err))
	}
	if !check.OK {
		return failed(areaAgents, string(agent.ID), check.Problem)
	}
	return httpd.DoctorFinding{
		Area: areaAgents, Name: string(agent.ID), OK: true,
		Detail: fmt.Sprintf("%s starts in %d ms", agent.Name, check.StartMillis),
	}
}
