package attachments

import (
	"bytes"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"fyllocode.dev/fyllo"
)

func partID(messageID string, n int) string { return messageID + "." + strconv.Itoa(n) }

// Blocks reads the files of a message and makes of them what the Agent gets: images as they are, texts and other files
// as embedded resources. What the Agent cannot take is ATTACHMENT_REJECTED: it may have changed since the message was
// written (R-CHAT-048). All files are in memory at once, fyllo.MaxAttachmentBytes at most.
func Blocks(m fyllo.Message, can fyllo.Capabilities, open Opener) ([]fyllo.PromptBlock, error) {
	files := Of(m)
	if err := CheckStored(can, files); err != nil {
		return nil, err
	}
	var blocks []fyllo.PromptBlock
	for _, a := range files {
		content, err := read(a, open)
		if err != nil {
			return nil, fyllo.Errorf(fyllo.CodeAttachmentNotFound, "send %q: the stored copy cannot be read: %w", a.Name, err)
		}
		blocks = append(blocks, block(a, content))
	}
	return blocks, nil
}

func read(a fyllo.Attachment, open Opener) ([]byte, error) {
	f, err := open(a.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	content := make([]byte, a.Size)
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, err
	}
	return content, nil
}

// block is one file as a content block.
func block(a fyllo.Attachment, content []byte) fyllo.PromptBlock {
	if KindOf(a.Name, a.MIME) == Image {
		return fyllo.PromptBlock{Type: "image", MIME: a.MIME, Data: content}
	}
	handle, _, _ := strings.Cut(a.File, ".")
	b := fyllo.PromptBlock{Type: "resource", MIME: a.MIME, URI: "attachment:///" + handle + "/" + url.PathEscape(a.Name)}
	if !isText(content) {
		b.Data = content
		return b
	}
	b.Text = string(content)
	if !strings.HasPrefix(b.MIME, "text/") && (b.MIME == octets || !strings.HasPrefix(b.MIME, "application/")) {
		b.MIME = "text/plain" // browsers take some sources for sounds or films, by their endings
	}
	return b
}

// isText reports whether an Agent can read the bytes as words.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }
