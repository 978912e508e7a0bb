// Package conversation owns the neutral form of a conversation with a model:
// the request, the reply, and the events of a streamed reply. Each wire format
// has one codec to and from it, so that formats meet here and nowhere else. It
// knows no format, no provider and no transport.
package conversation

import "encoding/json"

// Request asks a model to continue a conversation. A zero member was not said.
type Request struct {
	Model    string
	Messages []Message // instructions included, where they stand

	Tools         []Tool
	ToolChoice    ToolChoice
	ParallelTools *bool

	MaxTokens        int64
	Temperature      Number
	TopP             Number
	TopK             Number
	Seed             Number
	FrequencyPenalty Number
	PresencePenalty  Number
	Stop             []string
	Choices          int64 // "n", "candidateCount"
	Logprobs         bool
	TopLogprobs      Number
	Output           *Output
	Verbosity        string // low, medium or high
	Reasoning        Reasoning
	ServiceTier      string
	User             string // the end user's id
	CacheKey         string // prompt_cache_key
	Stream           bool

	// Other names the members that have no neutral form, such as
	// "logit_bias": every codec but that of the same format must list them as
	// degraded.
	Other []string
	// State names what of the conversation the caller left with a provider and
	// only refers to, such as "previous_response_id": no other provider can know
	// it. A request with any can only pass as it was written.
	State []string
}

// Unable names what no codec can write of the request, for a *dialect.Unable;
// "" when all of it is here.
func (r *Request) Unable() string {
	if len(r.State) == 0 {
		return ""
	}
	return r.State[0] + " stands for what another provider holds; send the whole conversation instead"
}

// Number is a JSON number as it was written; "" when there was none.
type Number string

// Role says whose a message is.
type Role string

// The roles. A Tool message holds results only, and all results of one turn.
const (
	System    Role = "system"
	Developer Role = "developer"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn, or a part of one.
type Message struct {
	Role  Role
	Name  string // of the participant, where the format has it
	Parts []Part
}

// Tool is something that the model may call.
type Tool struct {
	Kind        ToolKind
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema as it was written: key order is part of a provider's cache key
	Strict      *bool
	Cache       Cache
	// Raw is the definition of a Builtin tool, or the "format" of a Custom one,
	// in the words of its Origin.
	Raw    json.RawMessage
	Origin Origin
}

// ToolKind says what a tool takes and who runs it.
type ToolKind int

// The kinds of tool.
const (
	Function ToolKind = iota // run by the caller; takes JSON
	Custom                   // run by the caller; takes text
	Builtin                  // run by the provider: only its own format has it
)

// ToolChoice says whether and which tools are to be called.
type ToolChoice struct {
	Mode    ToolMode
	Name    string   // of the tool, for One
	Allowed []string // when only some of the tools may be called; with Auto or Required
}

// ToolMode is the mode of a ToolChoice.
type ToolMode string

// The modes; "" was not said.
const (
	Auto     ToolMode = "auto"
	None     ToolMode = "none"
	Required ToolMode = "required"
	One      ToolMode = "one"
)

// Output constrains the form of the reply's text.
type Output struct {
	Kind        OutputKind
	Name        string
	Description string
	Schema      json.RawMessage // as it was written; for JSONSchema
	Strict      *bool
}

// OutputKind is the kind of an Output.
type OutputKind string

// The kinds of output.
const (
	PlainText  OutputKind = "text"
	JSONObject OutputKind = "json_object"
	JSONSchema OutputKind = "json_schema"
)

// Reasoning says how much the model is to think, and what is shown of it.
type Reasoning struct {
	Effort  string // none, minimal, low, medium, high, xhigh
	Budget  int64  // tokens; -1: the model decides ("adaptive", "dynamic")
	Off     bool   // explicitly no reasoning
	Summary string // auto, concise, detailed: the thoughts are to be shown
}

// IsZero reports that nothing was said.
func (r Reasoning) IsZero() bool { return r == Reasoning{} }
