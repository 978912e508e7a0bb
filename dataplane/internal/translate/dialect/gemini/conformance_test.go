package gemini_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

// supports is what the format can say to a model whose name tells nothing.
var supports = dialecttest.Supports{
	Params: []string{
		"max_tokens", "temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty", "stop", "n",
		"logprobs", "top_logprobs", "response_format", "reasoning", "tool_choice", "tool_choice.allowed",
	},
	InPath:     true,
	Seeds:      []conversation.Number{"0", "1", "-1", "2147483647", "-2147483648"},
	MaxStops:   5,
	Efforts:    []string{"minimal", "low", "medium", "high"},
	Budget:     true,
	Off:        true,
	Summaries:  []string{"auto"},
	Assistants: true,
	Media: map[conversation.Kind]dialecttest.Forms{
		conversation.Image: {Data: true, URL: true, URLTyped: true, MIMEs: []string{"image/png", "image/webp"}},
		conversation.Audio: {Data: true, URL: true, URLTyped: true, MIMEs: []string{"audio/wav"}},
		conversation.Video: {Data: true, URL: true, URLTyped: true, MIMEs: []string{"video/mp4"}},
		conversation.File:  {Data: true, URL: true, URLTyped: true, MIMEs: []string{"application/pdf", "text/plain"}},
	},
	Thought: func(t *rapid.T) conversation.Thinking {
		return rapid.SampledFrom([]conversation.Thinking{
			{Data: "c2lnLTE=", Origin: conversation.Google},
			{Text: "Let me 北京 think.\n", Signature: "c2lnLTI=", Origin: conversation.Google},
			{Text: "Unproven."},
			{Signature: "c2lnLTM=", Origin: conversation.Google},
		}).Draw(t, "thought")
	},
	Builtins: []conversation.Tool{{
		Kind: conversation.Builtin, Name: "googleSearch", Raw: json.RawMessage(`{"googleSearch":{"timeRangeFilter":{}}}`), Origin: conversation.Google,
	}},
	ObjectArguments: true,
	ResultErrors:    true,
	ResultNames:     true,
	Reply: dialecttest.ReplySupports{
		Finishes: []conversation.Finish{conversation.Length, conversation.ContentFilter, conversation.Failed, conversation.Paused},
		Meters:   []string{"input", "output", "cached_read", "reasoning", "image", "audio_input", "audio_output"},
		Choices:  true,
		Images:   true,
		Citation: func(t *rapid.T) conversation.Citation {
			c := conversation.Citation{URL: rapid.StringMatching(`https://[a-z]{1,9}\.example/`).Draw(t, "url"), Title: "A <b>"}
			c.Quote = rapid.SampledFrom([]string{"", "in the source's own words"}).Draw(t, "quote")
			c.Start = rapid.IntRange(0, 9).Draw(t, "start")
			c.End = c.Start + rapid.IntRange(1, 9).Draw(t, "length")
			return c
		},
	},
}

func TestRequests(t *testing.T) { dialecttest.RunRequests(t, gemini.New(), supports) }
func TestReplies(t *testing.T)  { dialecttest.RunReplies(t, gemini.New(), supports) }
func TestStreams(t *testing.T)  { dialecttest.RunStreams(t, gemini.New(), supports) }
func TestObserver(t *testing.T) { dialecttest.RunObserver(t, gemini.New(), supports) }
