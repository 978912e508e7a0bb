// Package dialecttest holds every codec to the contract of dialect.Codec. It
// draws conversations that a format can express and demands that they come
// back from the wire as they went in, and conversations that it cannot express
// and demands that nothing is dropped in silence. It knows the neutral form and
// no format: what a format can express is a Supports value.
package dialecttest

import (
	"encoding/json"
	"slices"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// Supports says what a format can express. The zero value is a format of text,
// function calls and their results.
type Supports struct {
	Target dialect.Target // what requests are encoded for

	// Params are the names of Params() that the format has a member for.
	Params []string
	// Seeds are the seeds that it takes, nil for any number.
	Seeds []conversation.Number
	// InPath: the model and whether to stream are not in the body.
	InPath bool
	// MaxStops is the most stop sequences it takes, 0 for any number.
	MaxStops int
	// NeedsLimit: a request without a limit of the output is never drawn.
	NeedsLimit bool
	// Efforts are the values of Reasoning.Effort that it has a word for, and
	// that come back. Budget: it has a number of tokens. Off: it can say that
	// there is to be no reasoning. Summaries are the values that come back.
	Efforts   []string
	Budget    bool
	Off       bool
	Summaries []string

	Developer  bool // role; else such a message comes back as System
	Anywhere   bool // instructions may stand between turns; else in one message at the front
	Names      bool // of participants
	Assistants bool // the last message may be the assistant's

	Media       map[conversation.Kind]Forms // in a user's message
	ResultMedia map[conversation.Kind]Forms // in a tool's result
	Refusals    bool                        // as a part of an assistant's message
	SpokenID    bool                        // an assistant's audio by id
	// Thought draws a thought as the format's own models make them; nil when it
	// has none. It is put before another part of the assistant's.
	Thought func(*rapid.T) conversation.Thinking
	// Ordered: the parts of an assistant's message have their places by kind
	// (thoughts, one text, refusal, audio, calls) and not an order of their own.
	Ordered bool

	CustomTools     bool
	Builtins        []conversation.Tool // samples of its own
	ObjectArguments bool                // a call's arguments are an object, not text
	ResultErrors    bool                // ToolResult.IsError
	ResultNames     bool                // ToolResult.Name is written, and wanted
	NamedOutput     bool                // Output has Name, Description and Strict
	CachePlaces     []conversation.Role // whose text parts may carry a mark, with "cache_control" in Params

	Reply ReplySupports
}

// ReplySupports says what a format can express in a reply.
type ReplySupports struct {
	Finishes     []conversation.Finish // that come back
	Meters       []string              // of Meters()
	Choices      bool                  // more than one
	Refusals     bool                  // as a part
	Audio        bool                  // a spoken part with id, data and transcript
	Images       bool                  // an inline image/png
	StopSequence bool                  // which one ended the reply; with the Finish Stop
	Logprobs     bool
	Tier         bool // ServiceTier
	Fingerprint  bool
	Custom       bool // calls of custom tools
	// Citation draws one of a text; nil when there are none.
	Citation func(*rapid.T) conversation.Citation
	// NoStreamCitations: only a plain reply has them.
	NoStreamCitations bool
}

// Forms are the ways in which media can be given.
type Forms struct {
	Data     bool
	Text     bool // a document as plain text
	URL      bool
	FileID   bool
	MIMEs    []string // of Data
	URLTyped bool     // a URL or FileID keeps its type
	Named    bool     // has a name
	NeedName bool     // always has one
	Details  []string
}

// Params are the neutral names of everything a request can say besides its
// content. A format either has the parameter or degrades it under this name.
func Params() []string {
	return []string{
		"max_tokens", "temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty", "stop", "n",
		"logprobs", "top_logprobs", "response_format", "verbosity", "reasoning", "service_tier", "user",
		"prompt_cache_key", "parallel_tool_calls", "tool_choice", "tool_choice.allowed", "cache_control", "tools.0.strict",
	}
}

// Meters are the names of the counts of a usage.
func Meters() []string {
	return []string{"input", "output", "cached_read", "cache_write_5m", "cache_write_1h", "reasoning", "image", "audio_input", "audio_output"}
}

func (s *Supports) has(param string) bool { return slices.Contains(s.Params, param) }

// everything is what the neutral form itself can express, for the requests
// that no format takes whole.
func everything(s Supports) Supports {
	all := Forms{
		Data: true, Text: true, URL: true, FileID: true, MIMEs: []string{"application/pdf"},
		URLTyped: true, Named: true, Details: []string{"low", "high", "auto"},
	}
	image, audio, video := all, all, all
	image.MIMEs, audio.MIMEs, video.MIMEs = []string{"image/png"}, []string{"audio/wav"}, []string{"video/mp4"}
	image.Text, audio.Text, video.Text = false, false, false
	media := map[conversation.Kind]Forms{
		conversation.Image: image, conversation.Audio: audio, conversation.Video: video, conversation.File: all,
	}
	return Supports{
		Target: s.Target, Params: Params(), Efforts: []string{"low", "high"}, Budget: true, Off: true, Summaries: []string{"auto"},
		Developer: true, Anywhere: true, Names: true, Assistants: true, Media: media, ResultMedia: media, Refusals: true,
		SpokenID: true, CustomTools: true, ResultErrors: true, ResultNames: true, NamedOutput: true,
		CachePlaces: []conversation.Role{conversation.System, conversation.User},
		Builtins:    []conversation.Tool{{Kind: conversation.Builtin, Name: "search", Raw: json.RawMessage(`{"type":"search"}`), Origin: "elsewhere"}},
	}
}
