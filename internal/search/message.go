package search

import (
	"errors"
	"unicode"

	"fyllocode.dev/fyllo"
)

// Tags of a reminder in messages of the time before parts were marked (R-CHAT-158).
const (
	openTag  = "<system-reminder>"
	closeTag = "</system-reminder>"
)

// message is what a line says to a search.
type message struct {
	id      string
	hit     bool // it holds the words
	snippet Snippet
}

// messageReader reads messages and looks for the words of a query in them.
type messageReader struct {
	reader
	words finder
	lead  lead
}

// read reads the line at which the source stands, and goes behind it. The error is errDamaged, that of the context, or
// of the disk.
func (r *messageReader) read() (message, int64, error) {
	r.depth = 0
	m, err := r.message()
	if err == nil && r.space() != '\n' {
		err = errDamaged
	}
	end := r.endLine()
	if r.err != nil {
		err = r.err
	}
	return m, end, err
}

func (r *messageReader) message() (message, error) {
	var (
		m     message
		role  string
		parts verdicts
	)
	err := r.object(func(name string) (err error) {
		switch name {
		case "id":
			m.id, err = r.short()
		case "role":
			role, err = r.short()
		case "parts":
			parts, err = r.parts()
		default:
			err = r.skip()
		}
		return err
	})
	if err == nil && m.id == "" {
		err = errDamaged
	}
	if role == string(fyllo.RoleUser) || role == string(fyllo.RoleAssistant) {
		m.snippet, m.hit = parts.first(role)
	}
	return m, err
}

// verdicts is what was found in the parts of a message, before it is known who speaks.
type verdicts struct {
	lead       *Snippet // first hit in part 0
	leadParted bool     // part 0 begins with a reminder of the older form
	leadRest   *Snippet // first hit in what stands behind that
	followed   bool     // part 1 is text
	others     *Snippet // first hit in the parts behind part 0
}

// first returns the first hit of a message. What a user types is one part, so a reminder of the older form has the
// user's text behind it as a part of its own, and text that merely looks like one has not (R-CHAT-158).
func (v verdicts) first(role string) (Snippet, bool) {
	lead := v.lead
	if role == string(fyllo.RoleUser) && v.followed && v.leadParted {
		lead = v.leadRest
	}
	for _, s := range []*Snippet{lead, v.others} {
		if s != nil {
			return *s, true
		}
	}
	return Snippet{}, false
}

func (r *messageReader) parts() (verdicts, error) {
	var v verdicts
	if null, err := r.null(); null || err != nil {
		return v, err
	}
	err := r.list('[', ']', func(i int) error {
		spoken, isText, err := r.part(i == 0)
		if err != nil {
			return err
		}
		v.followed = v.followed || i == 1 && isText
		if !spoken || !r.words.found() {
			return nil
		}
		switch {
		case i == 0:
			v.takeLead(r)
		case v.others == nil:
			s := r.words.snippet()
			v.others = &s
		}
		return nil
	})
	return v, err
}

// takeLead notes what was found in part 0.
func (v *verdicts) takeLead(r *messageReader) {
	s := r.words.snippet()
	v.lead = &s
	v.leadParted = r.lead.parted()
	if r.lead.rest.found() && !r.lead.wholly() {
		s := r.lead.rest.snippet()
		v.leadRest = &s
	}
}

// part reads one part and looks for the words in its text. isText says that it is a text part, spoken that it also
// belongs to the conversation itself rather than to a subagent.
func (r *messageReader) part(first bool) (spoken, isText bool, err error) {
	var kind, parent string
	r.words.reset()
	r.lead.reset()
	err = r.object(func(name string) (err error) {
		switch name {
		case "type":
			kind, err = r.short()
		case "parentToolCallId":
			parent, err = r.short()
		case "text":
			err = r.partText(first)
		default:
			err = r.skip()
		}
		return err
	})
	isText = kind == string(fyllo.PartText)
	return isText && parent == "", isText, err
}

func (r *messageReader) partText(first bool) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if !first {
		return r.text(r.words.add)
	}
	return r.text(func(c rune) {
		r.words.add(c)
		r.lead.add(c)
	})
}

// lead looks at the first part of a message for a reminder of the older form.
type lead struct {
	rest   finder // over what stands behind the reminder
	opened int    // how much of the opening tag stands at the beginning; -1 if something else does
	closed bool   // a closing tag came
	ended  bool   // and nothing but white space behind the last one
	match  int    // how much of a closing tag came last
}

func (l *lead) reset() {
	l.rest.reset()
	*l = lead{rest: l.rest}
}

func (l *lead) add(r rune) {
	if l.opened < 0 {
		return
	}
	space := unicode.IsSpace(r)
	if l.opened < len(openTag) {
		switch {
		case l.opened == 0 && space:
		case r == rune(openTag[l.opened]):
			l.opened++
		default:
			l.opened = -1
		}
		return
	}
	if l.closed {
		l.rest.add(r)
	}
	if !space {
		l.ended = false
	}
	switch {
	case r == rune(closeTag[l.match]):
		l.match++
	case r == rune(closeTag[0]):
		l.match = 1
	default:
		l.match = 0
	}
	if l.match == len(closeTag) {
		l.match, l.closed, l.ended = 0, true, true
	}
}

// parted says that a reminder leads the part.
func (l *lead) parted() bool { return l.closed }

// wholly says that the part is nothing but reminders.
func (l *lead) wholly() bool { return l.ended }

// isDamage tells a line that cannot be read from a file that cannot.
func isDamage(err error) bool { return errors.Is(err, errDamaged) }
