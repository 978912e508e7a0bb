// Package call holds the values that one request hands down the pipeline:
// Call from the surface, Principal from auth, Pinned from snapshot, Grant from
// limits, Reply from attempt, Outcome from stream. Types only: it knows no
// stage and does no I/O. Values go down by pointer, and a stage only reads what it
// is handed: the pipeline fills in what it finds of a Call before the stages that
// need it, and record completes the Outcome, which comes last.
package call

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Call is a request as its surface read it.
type Call struct {
	ID       id.Request
	Primary  id.Request      // the request within which the gateway makes this one; zero for the callers' own
	Purpose  string          // what the gateway makes it for; "" for the callers' own
	Surface  catalog.Surface // "" for calls that are of none, such as discovery
	Route    string          // method and path pattern, as in "POST /v1/chat/completions"
	Received time.Time

	Token   secret.Token    // the credential, well-formed but not yet believed
	Remote  string          // the caller's IP address
	Header  http.Header     // the caller's; provider takes only what its allow-list names
	Query   url.Values      // the caller's, without credentials; nil for most
	Body    []byte          // read whole, at most the surface's cap; in Store when that is set
	Form    string          // boundary of a multipart body; "" for any other
	Store   Storage         // holds a large Body; nil when memory does
	Action  Action          // what is asked of the surface
	Object  string          // the caller's id of the job or file that a call is about; "" for most
	Kept    catalog.Surface // whose things Object is one of
	Request Request

	// Workspace is the caller's, once the caller is believed, and Owned what
	// Object stands for.
	Workspace id.Workspace
	Owned     Owned

	// Conversation is looked up before the call is decided.
	Conversation Conversation

	// Malformed says what was wrong with the body or headers. Such a call is
	// authenticated and recorded like any other, and goes no further, so that
	// only a caller with a valid key learns more than that the key is bad.
	Malformed *fault.Error
}

// Action is what a call asks of its surface.
type Action string

// The actions. Most surfaces have Generate only.
const (
	Generate Action = "" // an answer, or a job or file to be made
	Count    Action = "count"
	Get      Action = "get"
	List     Action = "list"
	Content  Action = "content"
	Cancel   Action = "cancel"
	Delete   Action = "delete"
)

// Owned is something that a provider keeps for a workspace: a job or a file.
type Owned struct {
	Endpoint string // id of the endpoint that has it
	ID       string // the provider's own id
}

// Makes reports whether the call makes something that the provider keeps.
func (c *Call) Makes() bool {
	if c.Action != Generate {
		return false
	}
	switch c.Surface {
	case catalog.Videos, catalog.Music, catalog.Batches, catalog.Files:
		return true
	default:
		return false
	}
}

// Storage holds a body that is too large for memory, until everyone who reads
// it has released it. The edge retains it for the length of the request.
type Storage interface {
	Retain()
	Release()
}

// Request is what the gateway understood of the body and headers.
type Request struct {
	Model    string
	Models   []string
	Provider decide.Preferences
	Routing  decide.RoutingFields

	Stream      bool
	StreamUsage bool   // the caller asked for the usage chunk itself
	InputFile   string // the caller's id of the file that the call works on; "" for most

	SessionID       string
	EndUser         string
	Agent           string // that the caller names; "" for the key's
	ClientRequestID string
	Caching         Caching
	Metadata        map[string]any // primitives; only ever compared against

	FirstByte    time.Duration // 0: the server's default
	Parameters   []string      // the body's parameters that endpoints may or may not support, sorted
	Needs        []catalog.Modality
	InputTokens  int64 // estimate
	OutputTokens int64 // requested cap; 0 when none
}

// Caching is what a request says about the provider's prompt cache, and what
// its conversation is recognized by when it has no session id.
type Caching struct {
	Key       string        // the caller's prompt_cache_key; "" when there is none that can be used
	Stated    bool          // the body has a prompt_cache_key, whatever it says
	Marked    bool          // the caller asks for caching itself
	Retention time.Duration // the longest that it asks for; 0: none
	Opening   Opening
}

// Opening is where the part of a conversation stands that stays the same from
// turn to turn. Its values are JSON as the caller wrote it and share memory
// with the call's Body; nil is nothing.
type Opening struct {
	System []byte // instructions
	Tools  []byte
	// Turns hold the first turn of the user: an array in which it comes first or
	// after instructions, or a value that stands for it.
	Turns []byte
	// Prompt says that Turns is one text that grows with the conversation.
	Prompt bool
}

// Conversation is what a call is recognized as a turn of; the zero value is
// none.
type Conversation struct {
	decide.Conversation
	// Name is what pins are kept by. It tells nothing of what it was made of.
	Name [16]byte
	Hint Hint
}

// Hint is what a provider is told so that it keeps a conversation's turns
// together; the zero value is nothing.
type Hint [16]byte

// String is the hint as it is sent.
func (h Hint) String() string { return hex.EncodeToString(h[:]) }

// CacheHint is how a provider is told which of its prompts begin as this call's
// does, in words of the catalog; "" when it is not told: it has no way, the
// conversation is not pinned, or the caller has said it already.
func (c *Call) CacheHint(p *catalog.Provider) (how string) {
	how = p.CacheHint()
	if c.Conversation.Hint == (Hint{}) || how == catalog.HintNone || how == catalog.HintPromptCacheKey && c.Request.Caching.Stated {
		return ""
	}
	return how
}

// Principal is who calls, believed.
type Principal struct {
	Key policy.Key
}

// Pinned is the one revision that a request is decided under.
type Pinned struct {
	Policy  *policy.View
	Catalog *catalog.View
}
