package export

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"fyllocode.dev/fyllo"
)

// Pictures opens what an attachment of a message holds. An error means that it is only named.
type Pictures func(q fyllo.MediaQuery) (*fyllo.Media, error)

// Bounds of the pictures that stand in a page; larger ones are named.
const (
	maxPicture  = 10 << 20  // bytes of one
	maxPictures = 100 << 20 // bytes of all: browsers read a page whole
)

// htmlAttachment writes a raster picture as itself and everything else by its name. What a picture is, its bytes tell.
func (f *htmlFormat) attachment(w io.Writer, part string, index int, a *fyllo.Attachment) error {
	name := escape(attachment(a))
	m := f.picture(fyllo.MediaQuery{PartID: part, Index: index})
	if m == nil {
		_, err := fmt.Fprintf(w, "<p class=\"facts\">Attachment: %s</p>\n", name)
		return err
	}
	defer m.Content.Close()
	f.spent += m.Size
	alt := escape(oneLine(a.Name))
	if alt == "" {
		alt = "Picture"
	}
	if _, err := fmt.Fprintf(w, `<figure><img alt="%s" src="data:%s;base64,`, alt, m.Type); err != nil {
		return err
	}
	enc := base64.NewEncoder(base64.StdEncoding, w)
	_, err := io.Copy(enc, io.LimitReader(m.Content, m.Size))
	if err = errors.Join(err, enc.Close()); err == nil {
		_, err = fmt.Fprintf(w, "\"><figcaption>%s</figcaption></figure>\n", name)
	}
	return err
}

// picture opens an attachment that stands in the page as a picture, nil when it does not.
func (f *htmlFormat) picture(q fyllo.MediaQuery) *fyllo.Media {
	if f.pictures == nil {
		return nil
	}
	m, err := f.pictures(q)
	if err != nil {
		return nil
	}
	if !strings.HasPrefix(m.Type, "image/") || m.Size > maxPicture || f.spent+m.Size > maxPictures {
		m.Content.Close()
		return nil
	}
	return m
}
