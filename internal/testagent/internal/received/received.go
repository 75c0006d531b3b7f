// Package received tells what blocks a prompt had.
package received

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Blocks describes every block but texts, one line each: type, media type, bytes, the first 16 digits of their SHA-256,
// and the address of a resource.
func Blocks(params json.RawMessage) string {
	var p struct {
		Prompt []struct {
			Type, Data, MIMEType string
			Resource             struct {
				URI, MIMEType string
				Text, Blob    *string
			}
		}
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err.Error()
	}
	var lines []string
	for _, b := range p.Prompt {
		switch r := b.Resource; {
		case b.Type == "text":
		case b.Type != "resource":
			lines = append(lines, describe(b.Type, b.MIMEType, decoded(b.Data)))
		case r.Text != nil:
			lines = append(lines, describe("text-resource", r.MIMEType, []byte(*r.Text))+" "+r.URI)
		case r.Blob != nil:
			lines = append(lines, describe("blob-resource", r.MIMEType, decoded(*r.Blob))+" "+r.URI)
		default:
			lines = append(lines, "resource without content")
		}
	}
	if len(lines) == 0 {
		return "no files"
	}
	return strings.Join(lines, "\n")
}

func describe(kind, mime string, content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%s %s %d %x", kind, mime, len(content), sum[:8])
}

func decoded(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return []byte("no base64: " + err.Error())
	}
	return b
}
