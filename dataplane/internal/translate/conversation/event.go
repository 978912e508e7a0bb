package conversation

import (
	"encoding/json"

	"github.com/signalbox-dev/signalbox/shared/meter"
)

// Usage is what a reply used, and whether the upstream said so.
type Usage struct {
	meter.Usage
	Known bool
}

// EventKind says which members of an Event are set.
type EventKind int

// The kinds of event. A stream is Began, then for each choice its parts, each
// Opened, Added to any number of times and Closed, then Stopped; Metered may
// come anywhere and more than once, the last one holds. Parts of one choice
// may overlap: Index tells them apart.
const (
	Began   EventKind = iota // ID, Model
	Opened                   // Choice, Index, Part: its kind, ids and names, and whatever is whole already
	Added                    // Choice, Index, Text: more text, transcript, thoughts, or arguments
	Signed                   // Choice, Index, Part.Thought: more of Signature, Data, Text or ID
	Sounded                  // Choice, Index, Text: more base64 of an audio part
	Cited                    // Choice, Index, Part.Citations
	Closed                   // Choice, Index
	Rated                    // Choice, Logprobs: of the tokens since the last
	Stopped                  // Choice, Finish, Text: the stop sequence
	Metered                  // Usage
)

// Event is one step of a streamed reply.
type Event struct {
	Kind     EventKind
	Choice   int
	Index    int // of the part in its choice, from 0 in the order of opening
	Text     string
	Part     Part
	Finish   Finish
	Usage    Usage
	ID       string
	Model    string
	Logprobs json.RawMessage // in the form of chat completions
}

// IsContent reports whether a caller would see something of the event: it ends
// the time in which another provider can still take over.
func (e *Event) IsContent() bool {
	switch e.Kind {
	case Added, Sounded:
		return e.Text != ""
	case Opened:
		return e.Part.Kind != Text && e.Part.Kind != Refusal && e.Part.Kind != Thought ||
			e.Part.Text != "" || e.Part.Thought != nil && (e.Part.Thought.Text != "" || e.Part.Thought.Data != "")
	case Signed:
		return e.Part.Thought != nil && (e.Part.Thought.Text != "" || e.Part.Thought.Data != "")
	case Stopped:
		return e.Finish != ""
	default:
		return false
	}
}
