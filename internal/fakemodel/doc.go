// Package fakemodel is a scripted language-model server on loopback, so that real coding agents can be driven through
// whole turns without a network and without a model.
//
// It speaks the four wire forms that coding agents use: OpenAI chat completions, OpenAI responses, Anthropic messages
// and Gemini generateContent, each streamed and whole. Any path prefix before the known routes is ignored, so that a
// base URL may or may not end in /v1. Token counts, model lists and requests for a title are answered; what is not
// known gets a 404 with a JSON body and is recorded like everything else.
//
// What the model does is written in the user's message, one command a line:
//
//	say: TEXT            stream TEXT, a word a chunk
//	think: TEXT          the same as reasoning, where the wire form has it
//	slow [N]             stream N chunks (200 when absent), one every Config.Pace
//	read the file PATH   call the client's tool for reading
//	write PATH[: TEXT]   call its tool for writing
//	edit PATH: OLD => NEW  call its tool for editing
//	run: COMMAND         call its shell
//	use NAME {JSON}      call the tool whose name is or ends in NAME with these arguments
//	fail STATUS          answer this request with an HTTP status
//
// The last unbroken run of such lines in the newest user message that has any counts; so text which a client puts
// around the message, and earlier messages that it repeats, do no harm. A tool call ends the model's turn. The next
// request, which brings the tool's result, is answered with "Result: " and its beginning, and goes on with the lines
// that follow. A message without a command is answered "ok". A request that offers no tools is what clients send for
// titles and summaries: it gets a title, or JSON that fits the schema it asks for.
//
// Tools are chosen among those that the request offers, by name first and by the shape of the schema otherwise, and
// arguments are shaped to the offered schema.
//
// Requests are served in parallel, each on its own goroutine. A client that goes away ends its answer at the next
// chunk. Close cuts all connections and returns when their goroutines are gone.
package fakemodel
