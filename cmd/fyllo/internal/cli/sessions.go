package cli

import (
	"fyllocode.dev/fyllo"
	"fyllocode.dev/fyllo/cmd/fyllo/internal/term"
)

// sessionsCmd groups the commands about Sessions (R-CLI-008).
type sessionsCmd struct {
	List   sessionsListCmd   `cmd:"" help:"List Sessions: the pinned ones first, then the others, newest first."`
	Show   sessionsShowCmd   `cmd:"" help:"Print the whole transcript of a Session."`
	Search sessionsSearchCmd `cmd:"" help:"Search titles, Session ids and messages."`
	Rename sessionsRenameCmd `cmd:"" help:"Give a Session another title."`
	Pin    sessionsPinCmd    `cmd:"" help:"Keep a Session at the top of the list."`
	Unpin  sessionsUnpinCmd  `cmd:"" help:"List a Session among the others again."`
	Export sessionsExportCmd `cmd:"" help:"Write a whole Session as Markdown, JSON or one HTML page."`
	Delete sessionsDeleteCmd `cmd:"" help:"Delete a Session and everything stored with it."`
}

func (sessionsCmd) Help() string { return "Example:\n\n    fyllo sessions list --all" }

// sessionID returns the id that a person typed. What cannot be one is the id of no Session.
func sessionID(typed string) (fyllo.SessionID, error) {
	id := fyllo.SessionID(typed)
	if !id.Valid() {
		return "", fyllo.Errorf(fyllo.CodeSessionNotFound, "session %s: that is no Session id", term.OneLine(typed)).
			WithHint("Run 'fyllo sessions list --all' to see the ids.")
	}
	return id, nil
}
