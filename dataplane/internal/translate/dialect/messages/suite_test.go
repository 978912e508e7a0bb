package messages_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
)

func supports() dialecttest.Supports {
	images := dialecttest.Forms{Data: true, URL: true, FileID: true, MIMEs: []string{"image/png", "image/webp"}}
	files := dialecttest.Forms{Data: true, Text: true, URL: true, FileID: true, MIMEs: []string{"application/pdf"}, Named: true}
	media := map[conversation.Kind]dialecttest.Forms{conversation.Image: images, conversation.File: files}
	return dialecttest.Supports{
		Target: dialect.Target{Model: "small-v1"},
		Params: []string{
			"max_tokens", "temperature", "top_p", "top_k", "stop", "response_format", "reasoning", "service_tier", "user",
			"parallel_tool_calls", "tool_choice", "cache_control", "tools.0.strict",
		},
		NeedsLimit: true, Budget: true, Off: true, Summaries: []string{"auto"}, Assistants: true,
		Media: media, ResultMedia: media, Thought: thought,
		Builtins: []conversation.Tool{{
			Kind: conversation.Builtin, Name: "web_search", Origin: conversation.Anthropic,
			Raw: json.RawMessage(`{"type":"web_search_20250305","name":"web_search","max_uses":5}`),
		}},
		ObjectArguments: true, ResultErrors: true,
		CachePlaces: []conversation.Role{conversation.System, conversation.User},
		Reply: dialecttest.ReplySupports{
			// An answer that calls tools says so, whatever its provider called it:
			// of Stop there are tests of their own.
			Finishes:     []conversation.Finish{conversation.Length, conversation.ToolCalls, conversation.Refused, conversation.Paused},
			Meters:       []string{"input", "output", "cached_read", "cache_write_5m", "cache_write_1h", "reasoning"},
			StopSequence: true, Tier: true, Citation: citation,
		},
	}
}

func thought(t *rapid.T) conversation.Thinking {
	if rapid.Bool().Draw(t, "hidden") {
		return conversation.Thinking{Data: rapid.SampledFrom([]string{"EmwKAhgB", "é<>"}).Draw(t, "data"), Origin: conversation.Anthropic}
	}
	return conversation.Thinking{
		Text:      rapid.SampledFrom([]string{"", "Let me think.", "北京\n\"x\""}).Draw(t, "thoughts"),
		Signature: rapid.SampledFrom([]string{"sig-1", "EqQB+/="}).Draw(t, "signature"), Origin: conversation.Anthropic,
	}
}

func citation(t *rapid.T) conversation.Citation {
	c := conversation.Citation{
		Title: rapid.SampledFrom([]string{"", "A page"}).Draw(t, "title"), Quote: rapid.SampledFrom([]string{"a quote", "北"}).Draw(t, "quote"),
	}
	c.URL = rapid.SampledFrom([]string{"", "https://example.com/?a=1&b=<2>"}).Draw(t, "url")
	return c
}

// agreed is the codec for requests whose parameters agree with each other: the
// suite draws each by itself, and the API refuses some of them together.
type agreed struct{ messages.Codec }

func (a agreed) EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error) {
	r.Stop = slices.DeleteFunc(r.Stop, func(s string) bool { return strings.TrimSpace(s) == "" })
	if f, _ := strconv.ParseFloat(string(r.Temperature), 64); f > 1 {
		r.Temperature = "1"
	}
	if r.Reasoning != (conversation.Reasoning{}) && !r.Reasoning.Off {
		r.Temperature, r.TopP, r.TopK = "", "", ""
		if r.ToolChoice.Mode == conversation.Required || r.ToolChoice.Mode == conversation.One {
			r.ToolChoice = conversation.ToolChoice{Mode: conversation.Auto}
		}
	}
	if r.ParallelTools != nil && r.ToolChoice.Mode == "" {
		r.ToolChoice.Mode = conversation.Auto
	}
	if r.ToolChoice.Mode == conversation.None {
		r.ParallelTools = nil
	}
	encoded, err := a.Codec.EncodeRequest(r, to)
	if slices.Equal(encoded.Degraded, []string{"reasoning"}) && len(r.Messages) > 1 {
		// A turn that goes on without its thoughts.
		r.Reasoning = conversation.Reasoning{}
		return a.Codec.EncodeRequest(r, to)
	}
	return encoded, err
}

func TestRequests(t *testing.T) { dialecttest.RunRequests(t, agreed{}, supports()) }

func TestReplies(t *testing.T) { dialecttest.RunReplies(t, messages.New(), supports()) }

func TestStreams(t *testing.T) { dialecttest.RunStreams(t, messages.New(), supports()) }

func TestObserver(t *testing.T) { dialecttest.RunObserver(t, messages.New(), supports()) }
