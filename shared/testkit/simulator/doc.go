// Package simulator is a model provider for demonstrations and tests. It
// speaks the APIs of OpenAI, Anthropic, Google, Azure, Vertex and Bedrock on
// every surface of an inference gateway, answers the same request with the
// same text, refuses what the provider would refuse in its words, and
// misbehaves on demand. It owns the wire formats by hand and must not know the
// gateway's types: sharing them would hide their mistakes.
//
// # Paths
//
// The first segment of a path says whose API it is; the rest is as there.
//
//	(none)         every surface, as openai-compatible servers have it; any
//	               key or none, unknown members pass
//	as-openai      Authorization: Bearer OpenAIKey…
//	as-anthropic   x-api-key: AnthropicKey…, and anthropic-version
//	as-google      x-goog-api-key: GoogleKey…
//	as-azure       api-key: AzureKey…, or a token of as-azure/token; both
//	               /openai/v1/… and /openai/deployments/NAME/…?api-version=
//	as-vertex      a token of as-vertex/token or of the metadata server's path;
//	               Gemini and Claude under …/publishers/…
//	as-bedrock     Signature Version 4 of the AWS key, which is recomputed, or
//	               Authorization: Bearer BedrockKey…
//	keyless        before one of these: no credential, and none is welcome
//
// Under a prefix, headers and members that the provider does not know are
// refused. Everywhere, what no gateway may send is: its own keys and members,
// a second credential, a key in the query, and headers about the caller.
// What a caller stored (files, videos, music, batches, responses) is found
// with its own credential only.
//
// # Answers
//
// The reply quotes the prompt. With tools it calls the ones that the prompt
// names (all of them at once, unless parallel calls are off), or the first
// one when the tool choice demands a call; after a tool result it quotes the
// result. With a JSON schema it answers a valid instance of it. A token is a
// word with the white space before it; usage counts those. Thoughts come with
// proofs (signatures, encrypted content) that are verified when they return,
// and cache marks are written once and read after that.
//
// Words of a model's name, between dashes or slashes, change the answer:
//
//	reason       it thinks although nobody asked
//	redacted     its thoughts are hidden
//	refuse       it refuses, in the format's own way
//	block        Gemini: the prompt is blocked
//	cached       half of the input was cached
//	quirk-max_tokens, quirk-max_completion_tokens
//	             chat: the other name of the limit is refused
//	quirk-nostreamoptions, quirk-nodeveloper, quirk-nosystem
//	             chat: these are refused
//	quirk-reasoning
//	             chat: thoughts are in "reasoning", not "reasoning_content"
//
// # Shapes that no provider owns
//
//	POST /parse      {model, input or document.url or document.text}, or a form
//	                 with model and a file → {id, object, model, content,
//	                 chunks [{index, page, text}], usage}
//	POST /decisions  {model, input, options []}, or a form of the same →
//	                 {id, object, model, decision, scores {option: 0–1}, usage}
//	POST /music      {model, prompt} → {id, object, status, progress, model,
//	                 audio [{url, content_type, duration}] once completed};
//	GET /music/{id}  the same
//
// Jobs are queued, then in progress, and complete when they have been asked
// about Options.Polls times.
//
// # Faults by model name
//
// A model name that contains "fault-" at its start or after a dash or slash
// asks for what follows, as terms joined by dashes. Terms combine:
//
//	status-503          this status, with the format's own error envelope
//	retry-7             a Retry-After header of 7 seconds with the status
//	quota, context, policy, auth
//	                    the provider's own refusal of each kind
//	latency-200ms       wait before the head
//	reset               reset the connection before any byte
//	hang                never answer
//	hang-3              stream: fall silent after 3 content events
//	trickle, trickle-2ms  one byte a write, with a pause between
//	split-5             this many bytes a write
//	cut, cut-3          end the connection after 3 content events (1 if not
//	                    given); a plain reply is cut in the middle
//	garbage             a 200 whose body is not of the format
//	malformed-2         stream: one unreadable event after 2 content events
//	error-first         stream: a 200 whose first event is an error
//	error-mid           stream: an error event after 2 content events
//	no-usage            leave usage out
//	no-done             stream: leave the terminal marker out
//	html                an HTML page, as load balancers send (502)
//	gzip, br, zstd, deflate
//	                    a compressed body, whatever was accepted
//	wrongtype           a Content-Type of plain text
//	redirect            a 302 to another path
//	short               a Content-Length longer than the body
//	early               a 103 before the head
//	trailer             trailers behind the body
//	stale               close every re-used connection without a byte
//	goaway              close the connection after the answer: GOAWAY over HTTP/2
//	crlf, nospace, comments  stream: other spellings of the same events
//	long-3000           a reply text of 3000 KiB in one event
//	tps-20              stream at 20 tokens a second
//	failjob             the job will fail
//	times-2             misbehave in the first 2 requests for this model only
//
// For example "small-fault-status-429-retry-7" or "fault-latency-1s-cut-3".
// An unknown term is answered with 404 and names the term. Later requests
// about a job are not spoiled by its model's name.
//
// # Faults by header and by call
//
// The header x-sim-fault takes the same terms, x-sim-tps a token rate and
// x-sim-text the reply text; a gateway must not forward them. Tests use
// Server.SetFault, Server.FailNext and Server.HandleModel.
package simulator
