package attachments

import (
	"fmt"
	"path"
	"strings"

	"fyllocode.dev/fyllo"
)

// Kind is what an attachment is for the Agent.
type Kind string

// The kinds of R-CHAT-044.
const (
	Image Kind = "image"
	File  Kind = "file"
)

// pictures are the endings that make an image of a file without a type, with the type they stand for.
var pictures = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".png": "image/png", ".svg": "image/svg+xml", ".webp": "image/webp",
}

// KindOf tells an image from a file by its type or the ending of its name, whatever their case (R-CHAT-044).
func KindOf(name, mime string) Kind {
	if strings.HasPrefix(strings.ToLower(mime), "image/") || pictures[ending(name)] != "" {
		return Image
	}
	return File
}

func ending(name string) string { return strings.ToLower(path.Ext(name)) }

// Item is one member of a batch.
type Item struct {
	Name      string `json:"name"`
	MIME      string `json:"mime,omitempty"`
	Size      int64  `json:"size"`
	Directory bool   `json:"directory,omitempty"`
}

// Rejected counts what was refused, by reason; an item has the first one that holds, in this order.
type Rejected struct {
	Directories int      `json:"directories,omitempty"`
	Large       int      `json:"large,omitempty"`  // more than fyllo.MaxAttachment
	Images      int      `json:"images,omitempty"` // the Agent takes none, or is not known
	Files       int      `json:"files,omitempty"`  // likewise
	Many        int      `json:"many,omitempty"`   // does not fit into one message with those before
	Names       []string `json:"names,omitempty"`  // of all of them, in order
}

// Any reports whether something was refused.
func (r Rejected) Any() bool { return len(r.Names) > 0 }

// Judge decides about a batch that is added to what a message has already. It returns the places of the items that are
// taken, in order, and one summary of the others (R-CHAT-045). An ability that is not known counts as missing.
func Judge(c fyllo.Capabilities, has, batch []Item) (taken []int, r Rejected) {
	count, bytes := len(has), int64(0)
	for _, i := range has {
		bytes += i.Size
	}
	for n, i := range batch {
		why := refusal(c, i)
		if why == "" && (count == fyllo.MaxAttachments || bytes+i.Size > fyllo.MaxAttachmentBytes) {
			why = "many"
		}
		if why == "" {
			count, bytes = count+1, bytes+i.Size
			taken = append(taken, n)
			continue
		}
		r.add(why, i.Name)
	}
	return taken, r
}

// refusal says why an item cannot be taken by itself, "" if it can.
func refusal(c fyllo.Capabilities, i Item) string {
	switch {
	case i.Directory:
		return "directory"
	case i.Size > fyllo.MaxAttachment:
		return "large"
	case KindOf(i.Name, i.MIME) == Image && c.Image != fyllo.Supported:
		return "image"
	case KindOf(i.Name, i.MIME) == File && c.EmbeddedContext != fyllo.Supported:
		return "file"
	}
	return ""
}

func (r *Rejected) add(why, name string) {
	counter := map[string]*int{"directory": &r.Directories, "large": &r.Large, "image": &r.Images, "file": &r.Files, "many": &r.Many}
	*counter[why]++
	r.Names = append(r.Names, CleanName(name))
}

// Err is the error that tells what was refused, nil when nothing was.
func (r Rejected) Err() error {
	if !r.Any() {
		return nil
	}
	var why []string
	say := func(n int, one, more string) {
		if n == 1 {
			why = append(why, "1 "+one)
		} else if n > 1 {
			why = append(why, fmt.Sprintf("%d %s", n, more))
		}
	}
	say(r.Images, "image, which the Agent does not take", "images, which the Agent does not take")
	say(r.Files, "file, which the Agent does not take", "files, which the Agent does not take")
	say(r.Directories, "directory", "directories")
	say(r.Large, "of more than 25 MiB", "of more than 25 MiB")
	say(r.Many, "too many for one message", "too many for one message")
	e := fyllo.Errorf(fyllo.CodeAttachment, "attach %s: refused: %s", strings.Join(quoted(r.Names), ", "), strings.Join(why, "; "))
	e.Details = r
	return e.WithHint("Send it without them, or choose another Agent.")
}

// quotedNames is how many names a message repeats.
const quotedNames = 5

func quoted(names []string) []string {
	var out []string
	for _, n := range names[:min(len(names), quotedNames)] {
		out = append(out, fmt.Sprintf("%q", n))
	}
	if more := len(names) - quotedNames; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return out
}

// Check refuses a whole message when any of its files cannot be sent (R-CHAT-048).
func Check(c fyllo.Capabilities, files []fyllo.NewAttachment) error {
	batch := make([]Item, len(files))
	for i, f := range files {
		batch[i] = Item{Name: f.Name, MIME: f.MIME, Size: f.Size}
	}
	_, refused := Judge(c, nil, batch)
	return refused.Err()
}

// itemOf is a stored attachment as the judge sees it.
func itemOf(a fyllo.Attachment) Item { return Item{Name: a.Name, MIME: a.MIME, Size: a.Size} }

// CheckStored is Check for files that are stored already.
func CheckStored(c fyllo.Capabilities, files []fyllo.Attachment) error {
	batch := make([]Item, len(files))
	for i, f := range files {
		batch[i] = itemOf(f)
	}
	_, refused := Judge(c, nil, batch)
	return refused.Err()
}
