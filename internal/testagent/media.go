package testagent

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// hostileSVG tells a page by window.pwned that its script ran, and asks elsewhere for a picture.
const hostileSVG = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="window.pwned=1;parent.pwned=1">` +
	`<script>window.pwned=2;parent.pwned=2</script><image href="https://evil.example/pixel.png" width="40" height="40"/>` +
	`<circle cx="20" cy="20" r="18"/></svg>`

// result sends a finished tool call whose content is the given blocks.
func (t *turn) result(title string, blocks ...object) {
	id := t.callID()
	content := make([]object, 0, len(blocks))
	for _, b := range blocks {
		content = append(content, object{"type": "content", "content": b})
	}
	t.start(id, object{"title": title, "kind": "other", "rawInput": object{"url": "http://localhost:3000/"}})
	t.change(id, object{"status": "completed", "content": content})
}

// picture is a tool call whose result is a text and pictures, each of its own size and colour.
func (t *turn) picture(args string) {
	blocks := []object{text("Took a screenshot.")}
	for i := range max(numbers(args, 1)[0], 1) {
		blocks = append(blocks, imageBlock("image/png", picturePNG(i)))
	}
	t.result("Take a screenshot", blocks...)
}

func (t *turn) sound(string) {
	t.result("Record a sound", object{"type": "audio", "mimeType": "audio/wav", "data": base64.StdEncoding.EncodeToString(beep())})
}

// file is a tool call whose result is a file, a text and a link, as embedded resources. The name may hold escapes.
func (t *turn) file(name string) {
	if name == "" {
		name = "report.bin"
	}
	uri := "file:///project/" + unescape(name)
	blob := base64.StdEncoding.EncodeToString([]byte("%FILE-1.0\x00\x01\x02 the bytes of a file"))
	t.result("Make a report",
		object{"type": "resource", "resource": object{"uri": uri, "mimeType": "application/octet-stream", "blob": blob}},
		object{"type": "resource", "resource": object{"uri": "file:///project/notes.txt", "mimeType": "text/plain", "text": "words of a resource"}},
		object{"type": "resource_link", "uri": "https://evil.example/linked.png", "name": "linked.png", "mimeType": "image/png"},
	)
}

// svg is a tool call whose result is a hostile SVG, once as what it is, and once as what it is not.
func (t *turn) svg(string) {
	t.result("Draw a diagram", imageBlock("image/svg+xml", []byte(hostileSVG)), imageBlock("image/png", []byte(hostileSVG)))
}

// badImage is a tool call whose result is pictures that are none: no base64, no picture, and half of one.
func (t *turn) badImage(string) {
	whole := picturePNG(0)
	t.result("Take a bad screenshot",
		object{"type": "image", "mimeType": "image/png", "data": "!!! no base64 !!!"},
		imageBlock("image/png", []byte("these bytes are no picture")),
		imageBlock("image/png", whole[:len(whole)/2]),
	)
}

// hugeImage is a tool call whose result is one picture of that many bytes, in one line that is written as it is made.
func (t *turn) hugeImage(args string) {
	id := t.callID()
	t.start(id, object{"title": "Take a huge screenshot", "kind": "other"})
	head := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call_update",`+
		`"toolCallId":%q,"status":"completed","content":[{"type":"content","content":{"type":"image","mimeType":"image/png","data":"`,
		t.session.id, id)
	picture := picturePNG(0) // what stands behind the end of a picture is ignored
	size := max(numbers(args, 1)[0], len(picture))
	var line bytes.Buffer
	line.Grow(len(head) + base64.StdEncoding.EncodedLen(size) + 16)
	line.WriteString(head)
	enc := base64.NewEncoder(base64.StdEncoding, &line)
	_, _ = enc.Write(picture) // a Buffer takes everything
	_, _ = enc.Write(bytes.Repeat([]byte{0}, size-len(picture)))
	_ = enc.Close()
	line.WriteString(`"}}]}}}` + "\n")
	t.agent.raw(line.Bytes())
}

func imageBlock(mime string, data []byte) object {
	return object{"type": "image", "mimeType": mime, "data": base64.StdEncoding.EncodeToString(data)}
}

// picturePNG draws picture i: wider with each i, a gradient in its own colour.
func picturePNG(i int) []byte {
	const height = 200
	width := 320 + 40*i
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(80 * i), G: uint8(255 * x / width), B: uint8(255 * y / height), A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic("testagent: " + err.Error()) // writing to memory does not fail
	}
	return b.Bytes()
}

// beep is a quarter of a second of a tone, as a WAV file.
func beep() []byte {
	const rate = 8000
	samples := make([]byte, rate/4)
	for i := range samples {
		samples[i] = byte(128 + 60*math.Sin(float64(i)*2*math.Pi*440/rate))
	}
	var b bytes.Buffer
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, uint32(36+len(samples)))
	b.WriteString("WAVEfmt ")
	_ = binary.Write(&b, binary.LittleEndian, struct {
		Size             uint32
		Format, Channels uint16
		Rate, ByteRate   uint32
		Align, Bits      uint16
	}{16, 1, 1, rate, rate, 1, 8})
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, uint32(len(samples)))
	b.Write(samples)
	return b.Bytes()
}
