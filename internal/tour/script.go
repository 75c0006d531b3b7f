package tour

import (
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

//go:embed text
var texts embed.FS

// planSteps are the steps of the whole tour.
var planSteps = map[string][]string{
	"en": {"Say what this is", "Read a file", "Propose a change and ask", "Say what else there is"},
	"zh": {"说明这是什么", "读一个文件", "提出改动并询问", "说明还能做什么"},
}

// permissionNames name the options to allow and to reject.
var permissionNames = map[string][2]string{
	"en": {"Allow once", "Do not allow"},
	"zh": {"允许一次", "不允许"},
}

// scenes are what the tour plays for a word in the prompt, the first one that matches; without any, the whole tour.
var scenes = []struct {
	en   []string // words
	zh   []string // any of these anywhere
	file bool     // only when the prompt also speaks of a file
	play func(*turn)
}{
	{[]string{"delegate", "spawn"}, []string{"委派", "委托", "分派"}, false, (*turn).delegateScene},
	{[]string{"tour", "around", "demo"}, []string{"导览", "参观", "介绍", "带我", "擅长"}, false, (*turn).wholeTour},
	{[]string{"edit", "write", "change", "append", "create", "add"}, []string{"改", "写", "编辑", "新建", "创建"}, false, (*turn).editScene},
	{[]string{"read", "open"}, []string{"读", "打开"}, false, (*turn).readScene},
	{[]string{"show", "view"}, []string{"看"}, true, (*turn).readScene},
	{[]string{"long", "markdown"}, []string{"长"}, false, (*turn).longScene},
}

// fileWords speak of a file without its name.
var fileWords = []string{"file", "files", "readme", "code", "文件", "代码"}

// defaultFile is what the tour writes when no other file is named.
const defaultFile = "TOUR.md"

// play chooses the scene.
func (t *turn) play() {
	if t.told.session != "" && strings.TrimSpace(t.prompt) == "" {
		t.toldScene()
		t.usage()
		return
	}
	said := spoken(t.prompt)
	asks := func(en, zh []string) bool {
		return slices.ContainsFunc(en, func(word string) bool { return slices.Contains(said, word) }) ||
			slices.ContainsFunc(zh, func(text string) bool { return strings.Contains(t.prompt, text) })
	}
	for _, scene := range scenes {
		if asks(scene.en, scene.zh) && (!scene.file || asks(fileWords, fileWords) || t.namedFile() != "") {
			scene.play(t)
			t.usage()
			return
		}
	}
	t.wholeTour()
}

// spoken returns the English words of a prompt in lower case. What belongs to a file name is no word of its own.
func spoken(prompt string) []string {
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool {
		return unicode.Is(unicode.Han, r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	})
	for i, word := range words {
		words[i] = strings.Trim(word, "._-/")
	}
	return words
}

// namedFile returns the first word of the prompt that is the name of something in the Project, or "".
func (t *turn) namedFile() string {
	for _, word := range t.words() {
		if _, err := t.files.root.Lstat(word); err == nil && word != "." {
			return word
		}
	}
	return ""
}

// words returns the words of the prompt as they may name files.
func (t *turn) words() []string {
	words := strings.Fields(t.prompt)
	for i, word := range words {
		words[i] = strings.Trim(word, "`\"'“”‘’，。,;:!?()")
	}
	return words
}

// wholeTour does a bit of everything.
func (t *turn) wholeTour() {
	t.usage()
	t.plan(0)
	t.think(t.text("thought"))
	t.say(t.text("hello"))
	t.plan(1)
	t.readFile()
	t.usage()
	t.plan(2)
	t.editFile(defaultFile)
	step := delegateStep
	if t.plan(step); t.s.spawn != nil {
		t.delegateScene()
		step++
		t.plan(step)
	}
	t.say(t.text("bye"))
	t.plan(step + 1)
	t.usage()
}

// readScene reads the file that the prompt names, else one that is there.
func (t *turn) readScene() {
	name := t.namedFile()
	if text, err := t.files.read(name); name != "" && err == nil {
		t.showFile(name, text)
		return
	}
	t.readFile()
}

func (t *turn) longScene() {
	t.think(t.text("thought"))
	t.say(t.text("long"))
}

// editScene changes the file that the prompt names, else the tour's own. A word names a file if it is a path, or if
// such a file exists.
func (t *turn) editScene() {
	path := func(word string) bool { return strings.Contains(strings.TrimLeft(word, "/"), "/") } // not "/edit"
	words := t.words()
	switch i := slices.IndexFunc(words, path); {
	case i >= 0:
		t.editFile(words[i])
	case t.namedFile() != "":
		t.editFile(t.namedFile())
	default:
		t.editFile(defaultFile)
	}
}

// readFile reads a file of the tour's choice.
func (t *turn) readFile() {
	name, text, ok := t.files.readable()
	if !ok {
		t.pause(stepPause)
		t.say(t.text("noread"))
		return
	}
	t.showFile(name, text)
}

// showFile reads a file as a tool.
func (t *turn) showFile(name, text string) {
	t.pause(stepPause)
	t.spoke = false
	id := t.callID()
	t.update(object{
		"sessionUpdate": "tool_call", "toolCallId": id, "title": "Read " + name, "kind": "read", "status": "in_progress",
		"rawInput": object{"path": name}, "locations": []object{{"path": t.files.abs(name)}},
	})
	t.pause(stepPause)
	t.update(object{
		"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "content": []object{textContent(text)},
	})
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	size := strconv.Itoa(lines)
	switch {
	case t.lang == "zh":
		size += " 行"
	case lines == 1:
		size += " line"
	default:
		size += " lines"
	}
	t.say(t.text("read", "file", name, "size", size))
}

// editFile proposes to add a line to a file, asks, and writes it when that is allowed.
func (t *turn) editFile(path string) {
	c, err := t.propose(path)
	if err != nil {
		t.say(t.text("outside", "file", path))
		return
	}
	t.say(t.text("ask", "file", c.name))
	t.pause(stepPause)
	diff := object{"type": "diff", "path": t.files.abs(c.name), "oldText": c.old, "newText": c.now}
	call := object{
		"toolCallId": t.callID(), "title": "Edit " + c.name, "kind": "edit", "status": "pending",
		"rawInput": object{"path": c.name}, "locations": []object{{"path": t.files.abs(c.name)}}, "content": []object{diff},
	}
	t.spoke = false
	announce := object{"sessionUpdate": "tool_call"}
	for k, v := range call {
		announce[k] = v
	}
	t.update(announce)
	if t.over() {
		return
	}
	done := func(status string, content ...object) {
		t.update(object{"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "status": status, "content": content})
	}
	if !t.allowed(call) {
		done("failed", textContent(notAllowed[t.lang]))
		t.say(t.text("refused"))
		return
	}
	if err := t.files.write(c); err != nil {
		done("failed", textContent(err.Error()))
		t.say(t.text("failed", "why", err.Error()))
		return
	}
	done("completed", diff, textContent(fmt.Sprintf("%s: %d bytes", c.name, len(c.now))))
	t.say(t.text("wrote", "file", c.name))
}

// notAllowed is the result of an edit that the user rejects.
var notAllowed = map[string]string{"en": "Not allowed by the user.", "zh": "用户没有允许。"}

// propose makes a change that adds a line to the file at path, which is relative to the Project or lies in it.
func (t *turn) propose(path string) (change, error) {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(t.files.root.Name(), path)
		if err != nil {
			return change{}, err
		}
		path = rel
	}
	c := change{name: filepath.Clean(path)}
	if !filepath.IsLocal(c.name) || strings.HasPrefix(c.name, ".") || strings.Contains(c.name, string(filepath.Separator)+".") {
		return change{}, errors.New("it lies outside the Project, or is hidden")
	}
	old, err := t.files.read(c.name)
	line := t.text("line", "time", t.a.now().Format("2006-01-02 15:04:05"))
	switch {
	case err == nil:
		if old != "" && !strings.HasSuffix(old, "\n") {
			line = "\n" + line
		}
		c.old, c.now = &old, old+line
	case c.name != defaultFile:
		return change{}, err
	default:
		if _, err := t.files.root.Lstat(c.name); err == nil {
			return change{}, errNotText
		}
		c.now = t.text("file") + line
	}
	return c, nil
}

// text returns a text in the user's language, with each {name} replaced by the value that follows it in pairs.
func (t *turn) text(name string, pairs ...string) string {
	b, err := texts.ReadFile("text/" + name + "." + t.lang + ".md")
	if err != nil {
		panic("tour: " + err.Error()) // a name that is not among the embedded texts
	}
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(string(b))
}

func textContent(text string) object {
	return object{"type": "content", "content": object{"type": "text", "text": text}}
}
