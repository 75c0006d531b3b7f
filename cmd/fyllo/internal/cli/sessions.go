package cli

// sessionsCmd groups the commands about Sessions (R-CLI-008).
type sessionsCmd struct {
	List   sessionsListCmd   `cmd:"" help:"List Sessions, newest first."`
	Show   sessionsShowCmd   `cmd:"" help:"Print the whole transcript of a Session."`
	Search sessionsSearchCmd `cmd:"" help:"Search titles, Session ids and messages."`
}

func (sessionsCmd) Help() string { return "Example:\n\n    fyllo sessions list --all" }
