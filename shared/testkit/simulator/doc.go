// Package simulator is a model provider for demonstrations and tests. It
// speaks the OpenAI (chat completions, responses, embeddings, models),
// Anthropic (messages, count_tokens) and Gemini (generateContent,
// streamGenerateContent, countTokens) formats, answers the same request with
// the same text, and misbehaves on demand. It owns the wire JSON by hand and
// must not know the gateway's types: sharing them would hide their mistakes.
//
// # Answers
//
// The reply quotes the prompt. With tools it calls the ones that the prompt
// names (all of them at once, unless parallel calls are off), or the first
// one when the tool choice demands a call; after a tool result it quotes the
// result. With a JSON schema it answers a valid instance of it. A token is a
// word with the white space before it; usage counts those.
//
// # Faults by model name
//
// A model name that contains "fault-" at its start or after a dash or slash
// asks for what follows, as terms joined by dashes. Terms combine:
//
//	status-503          this status, with the format's own error envelope
//	retry-7             a Retry-After header of 7 seconds with the status
//	latency-200ms       wait before the head
//	reset               reset the connection before any byte
//	hang                never answer
//	hang-3              stream: fall silent after 3 content events
//	trickle, trickle-2ms  one byte a write, with a pause between
//	cut, cut-3          end the connection after 3 content events (1 if not
//	                    given); a plain reply is cut in the middle
//	garbage             a 200 whose body is not of the format
//	malformed-2         stream: one unreadable event after 2 content events
//	error-first         stream: a 200 whose first event is an error
//	error-mid           stream: an error event after 2 content events
//	no-usage            leave usage out
//	no-done             stream: leave the terminal marker out
//	html                an HTML page, as load balancers send (502)
//	gzip                a gzip body, whatever was accepted
//	redirect            a 302 to another path
//	short               a Content-Length longer than the body
//	stale               close every re-used connection without a byte
//	crlf, nospace, comments  stream: other spellings of the same events
//	long-3000           a reply text of 3000 KiB in one event
//	tps-20              stream at 20 tokens a second
//	times-2             misbehave in the first 2 requests for this model only
//
// For example "small-fault-status-429-retry-7" or "fault-latency-1s-cut-3".
// An unknown term is answered with 404 and names the term.
//
// # Faults by header and by call
//
// The header x-sim-fault takes the same terms, x-sim-tps a token rate and
// x-sim-text the reply text; a gateway must not forward them. Tests use
// Server.SetFault, Server.FailNext and Server.HandleModel.
package simulator
