// Package testagent is a scripted ACP Agent for tests. It speaks ACP v1 over stdin and stdout, needs no network
// and no model, and does whatever the text of a prompt says, so that one Agent serves the tests of every layer:
// acp, session, httpd, the command line and the browser.
//
// # How to start it
//
// A test package re-executes its own binary: call Main first thing in TestMain, and start Command() with
// Environ(script) as the Agent. Outside of tests build internal/testagent/cmd/testagent. Tests that want no process use
// Pipe. The environment variable FYLLO_TESTAGENT selects the behaviour: a preset name ("default", "legacy",
// "resume-missing", … see Presets), several names joined by "+", or a Script as JSON. FYLLO_TESTAGENT_LOG names a file
// to which every received message is appended as one JSON line; ReadLog reads it. A log line exists before the
// Agent acts on the message.
//
// # Prompt words
//
// Only the last text block of a prompt counts, so that reminders in front of it change nothing. It is split at
// newlines and ";"; each piece is a word with arguments, and the pieces run in order. A first piece that is not
// a word makes the whole text ordinary talk, answered with "You said: …". The turn ends with end_turn unless a
// word says otherwise, and with cancelled when session/cancel comes.
//
//	echo TEXT            one text chunk; \n and \u escapes in TEXT are read as in JSON
//	flood N SIZE         N text chunks of SIZE bytes at full speed; chunk i begins with its number and a blank
//	slow N INTERVAL      N text chunks "0 ", "1 ", … with a pause after each
//	clock N INTERVAL     N text chunks holding the Unix time in nanoseconds at which each was written
//	big BYTES            one text chunk of that size in one line
//	bigtool BYTES        one tool call whose output has that size
//	split                an emoji as two chunks, each with one half of a surrogate pair
//	messages             two text chunks with different messageIds
//	markdown             a Markdown sample: headings, list, table, code, link
//	image                a picture block
//	picture [N]          a tool call whose result is a text and N pictures (PNG, 200 high, 320, 360, … wide)
//	sound                a tool call whose result is a WAV of a quarter of a second
//	file [NAME]          a tool call whose result is an embedded file NAME, an embedded text and a link elsewhere; \u
//	                     escapes in NAME are read as in JSON
//	svg                  a tool call whose result is an SVG with a script, once as image/svg+xml, once as image/png
//	badimage             a tool call whose result is pictures that are none: no base64, other bytes, a torn PNG
//	hugeimage BYTES      a tool call whose result is one picture of that many bytes, in one line
//	user TEXT            a user_message_chunk
//	say64 BASE64 [SIZE [INTERVAL]]
//	                     any text, in chunks of about SIZE bytes, with a pause after each
//	tool64 BASE64        one tool call with the fields of a JSON object: title, kind, rawInput, locations, content, …;
//	                     "output" is a text as its content, "status" the last status (completed when missing)
//	lines N              one tool call whose output has N numbered lines, every tenth in colour
//	update64 BASE64      any session/update as a JSON object; a missing toolCallId is made up
//	stream BYTES N SHAPE [INTERVAL]
//	                     Markdown of that size in N chunks, one each INTERVAL. SHAPE: prose, list, table, code, quote,
//	                     line (each one that never ends), mixed
//	think [TEXT]         reasoning chunks
//	tool [TITLE]         one tool call: pending, in_progress, completed with output and location
//	tools N SIZE         N tool calls with SIZE bytes of output each, at full speed
//	failtool             a tool call that ends failed
//	diff [PATH]          an edit call with a diff of an existing file and of a new file
//	change PATH OLD NEW  an edit call with one diff; OLD - adds the file, NEW - deletes it; \n and \u escapes are read as
//	                     in JSON. A relative PATH, here and below, starts from the directory of the ACP session
//	edits JSON           events about edit calls, one for each member of the list, or the same in base64:
//	                     {"call","status","title","kind","output","diffs":[{"path","oldText","newText","kind"}],
//	                     "parent","agent","pause"}. The first event of a call begins it and later ones update it; without
//	                     "call" the event is a call of its own, completed unless "status" says otherwise. "diffs" null
//	                     or [] clears them, absent leaves them. "parent" names the call of a subagent, "agent" marks
//	                     one. "pause" is a silence after the event. Write ; as \u003b
//	bigdiff LINES EDITS  an edit call with the diff of a whole file, big.txt, with that many changed lines spread over it;
//	                     EDITS "all" rewrites every line, of rewritten.txt
//	open-tool            a tool call that stays in_progress when the turn ends
//	orphan-tool          a tool_call_update without tool_call, already completed
//	subagent             an Agent call with child calls and child text (_meta.claudeCode.parentToolUseId)
//	subagent full        two Agent calls at once, as Claude sends them: a third one inside the first, a parent that is
//	                     told late, thoughts and texts of each, a permission request of a child, statistics, final
//	                     answers of two blocks; then the Agent's own text
//	subagent orphan      links that are not safe: an unknown parent, a call that is its own parent, two that are each
//	                     other's, a text of nobody; and a plain call that a child names as its parent, which is safe
//	subagent empty       an Agent call without prompt, child or statistics that completes
//	subagent open        an Agent call with a child, both in progress when the turn ends
//	subagent fail        an Agent call that ends failed, its child completed
//	subagent slow N INTERVAL
//	                     an Agent call with N children, each started and completed INTERVAL after the one before, then
//	                     completed
//	childsession [hold]  a child session announced by subagent_update, with its prompt, thoughts, text, calls, a child
//	                     session of its own, a permission request, and a closing message to the parent. hold leaves
//	                     it running
//	terminal             output by _meta.terminal_output_delta
//	permission [FORM]    a tool call that asks first. FORM: none (only reject and always options), empty (no options),
//	                     bare (no tool_call before the request), two (two requests at once), many (three after
//	                     each other). The answer becomes text "permission: selected allow" or "permission: cancelled"
//	plan                 an agenda of three entries, then the same with progress
//	usage [USED SIZE]    usage_update with cost
//	commands             available_commands_update
//	config ID VALUE      the Agent changes an option itself: config_option_update (current_mode_update when legacy)
//	title TEXT           session_info_update with a title
//	unknown              update kinds, block kinds and _meta that no client knows
//	noise                non-JSON, BOM, CRLF, empty lines, answers without or with null id, invalid UTF-8
//	late [N]             N text chunks, usage and a title, written after the answer
//	after INTERVAL       one text chunk and usage that long after the answer
//	ask METHOD           a request to the client; the answer becomes text "METHOD: -32601" or "METHOD: ok"
//	env NAME, cwd, session, mcp, prompt, meta
//	                     text that tells the variable, the parameters of the ACP session, or the blocks received
//	call TOOL JSON       calls a tool of the MCP server fyllo-spawn that the ACP session was given; text "TOOL: RESULT"
//	blocks               text that tells the images and resources received: type, media type, bytes, SHA-256, address
//	sleep INTERVAL       silence
//	hang                 no answer until session/cancel
//	deaf                 no answer ever, also not after session/cancel
//	stopreading          stdin is not read any more
//	stop REASON          ends the turn with that stop reason
//	error CODE TEXT      ends the turn with an error answer
//	bye CODE             answers the prompt and exits in the same breath
//	exit CODE            exits at once, without an answer
//	forget               the session is unknown to later messages, until a resume or load
//	torn CODE            writes half a line of a text chunk and exits
//	stderr TEXT          one line on stderr
package testagent
