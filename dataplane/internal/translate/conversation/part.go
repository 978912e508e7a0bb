package conversation

import "encoding/json"

// Kind says which members of a Part are set.
type Kind int

// The kinds of part.
const (
	Text    Kind = iota // Text
	Refusal             // Text
	Thought             // Thought
	Image               // Media
	Audio               // Media; Text is its transcript
	Video               // Media
	File                // Media
	Call                // Call
	Result              // Result
)

// Part is a piece of a message.
type Part struct {
	Kind      Kind
	Text      string
	Media     *Media
	Call      *ToolCall
	Result    *ToolResult
	Thought   *Thinking
	Cache     Cache // a cache mark stands behind this part
	Citations []Citation
}

// Cache is how long what precedes a mark is to be kept by the provider; "" is
// no mark.
type Cache string

// The lifetimes of a cache mark.
const (
	Cache5m Cache = "5m"
	Cache1h Cache = "1h"
)

// Media is an image, sound, video or file. One of Data, Text, URL and FileID
// is set.
type Media struct {
	MIME   string // "image/png"; "" unknown
	Data   string // base64, as it was written
	Text   string // a document given as plain text
	URL    string
	FileID string // the provider's own id of an uploaded file
	Name   string // file name or title
	Detail string // low, high, auto
	ID     string // of an audio reply that is referred to
}

// ToolCall is a call that the model makes.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON text, as the model wrote it; text for a custom tool
	Custom    bool
}

// ToolResult answers a ToolCall.
type ToolResult struct {
	CallID  string
	Name    string // of the tool, where the format has it
	Parts   []Part
	IsError bool
	Custom  bool
}

// Thinking is what a model shows or hides of its reasoning. Signature and Data
// are opaque: only the provider family that made them can read them, so they
// go back to their Origin alone (see Seal).
type Thinking struct {
	ID        string
	Text      string
	Summary   bool   // Text is a summary, not the thoughts
	Signature string // proves Text
	Data      string // thoughts that are not shown; also the proof that belongs to the next part
	Origin    Origin // of Signature and Data
}

// Origin is the family of formats whose words something is in.
type Origin string

// The origins.
const (
	OpenAI    Origin = "openai"
	Anthropic Origin = "anthropic"
	Google    Origin = "google"
)

// Citation says where a text comes from.
type Citation struct {
	URL   string
	Title string
	Quote string
	Start int // of the cited text, in characters
	End   int
}

// Reply is a complete answer.
type Reply struct {
	ID      string // the upstream's; "" when it has none
	Model   string // as the upstream names it
	Choices []Choice
	Usage   Usage
	// ServiceTier and Fingerprint are kept where both formats have them.
	ServiceTier string
	Fingerprint string
}

// Choice is one of the answers to a request.
type Choice struct {
	Index    int
	Parts    []Part
	Finish   Finish
	Stop     string          // the stop sequence that ended it
	Logprobs json.RawMessage // in the form of chat completions
}

// Finish says why a choice ended.
type Finish string

// The finish reasons; "" is none.
const (
	Stop          Finish = "stop"
	Length        Finish = "length"
	ToolCalls     Finish = "tool_calls"
	ContentFilter Finish = "content_filter"
	Refused       Finish = "refusal"
	Paused        Finish = "pause" // the provider's own tools take long: ask again with what there is
	Failed        Finish = "error" // the model broke off, as with a malformed call
)
