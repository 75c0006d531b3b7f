package cli

// agentsCmd groups the commands about Agents (R-CLI-005).
type agentsCmd struct {
	List   agentsListCmd   `cmd:"" help:"List all Agents."`
	Add    agentsAddCmd    `cmd:"" help:"Add or replace a custom Agent and print its id."`
	Remove agentsRemoveCmd `cmd:"" help:"Remove a custom Agent."`
	Check  agentsCheckCmd  `cmd:"" help:"Start an Agent and print what it can do."`
}

func (agentsCmd) Help() string { return "Example:\n\n    fyllo agents list" }
