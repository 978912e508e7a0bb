package responses_test

import (
	"encoding/json"
	"strconv"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

// supports is what the format can express.
func supports() dialecttest.Supports {
	image := dialecttest.Forms{Data: true, URL: true, FileID: true, MIMEs: []string{"image/png", "image/webp"}, Details: []string{"low", "high", "auto"}}
	file := dialecttest.Forms{Data: true, MIMEs: []string{"application/pdf"}, NeedName: true, URL: true, FileID: true, Details: []string{"low"}}
	return dialecttest.Supports{
		Target: dialect.Target{Model: "gpt"},
		Params: []string{
			"max_tokens", "temperature", "top_p", "logprobs", "top_logprobs", "response_format", "verbosity", "reasoning",
			"service_tier", "user", "prompt_cache_key", "parallel_tool_calls", "tool_choice", "tool_choice.allowed", "tools.0.strict",
		},
		Efforts:   []string{"minimal", "low", "medium", "high", "xhigh", "max"},
		Off:       true,
		Summaries: []string{"auto", "concise", "detailed"},
		Developer: true, Anywhere: true, Assistants: true,
		Media: map[conversation.Kind]dialecttest.Forms{
			conversation.Image: image, conversation.File: file,
			conversation.Audio: {Data: true, MIMEs: []string{"audio/wav", "audio/mpeg"}},
		},
		ResultMedia: map[conversation.Kind]dialecttest.Forms{conversation.Image: image, conversation.File: file},
		Refusals:    true, CustomTools: true, NamedOutput: true,
		// A function that takes nothing is called with {} here.
		ObjectArguments: true,
		Thought:         anyThought,
		Builtins: []conversation.Tool{{
			Kind: conversation.Builtin, Name: "web_search", Origin: conversation.OpenAI, Raw: json.RawMessage(`{"type":"web_search","filters":{"z":1,"a":2}}`),
		}},
		Reply: dialecttest.ReplySupports{
			// That tools are called, or that the model refuses, shows in the output
			// and is nowhere said: TestFinishFollowsFromTheOutput.
			Finishes: []conversation.Finish{conversation.Length, conversation.ContentFilter, conversation.Paused},
			Meters:   []string{"input", "output", "cached_read", "cache_write_5m", "reasoning", "image", "audio_input", "audio_output"},
			Refusals: true, Images: true, Tier: true, Custom: true, Citation: anyCitation,
		},
	}
}

func anyThought(t *rapid.T) conversation.Thinking {
	return rapid.SampledFrom([]conversation.Thinking{
		{ID: itemID(), Text: "Hm, 北京\n\n.", Summary: true, Data: "gAAAA==", Origin: conversation.OpenAI},
		{ID: itemID(), Data: "gAAAA==", Origin: conversation.OpenAI},
	}).Draw(t, "thought")
}

// anyProof draws what the models of other families prove their thoughts with:
// it goes through a caller's hands, and never to another family.
func anyProof(t *rapid.T) conversation.Thinking {
	origin := rapid.SampledFrom([]conversation.Origin{conversation.Anthropic, conversation.Google}).Draw(t, "origin")
	return rapid.SampledFrom([]conversation.Thinking{
		{ID: itemID(), Text: "Hm.", Summary: true, Signature: "sig==", Origin: origin},
		{ID: itemID(), Signature: "sig==", Origin: origin},
		{ID: itemID(), Data: "hidden==", Origin: origin},
		{ID: itemID(), Text: "Hm.", Summary: true, Data: "d.x", Origin: origin},
		{ID: itemID(), Text: "Hm.", Summary: true},
		anyThought(t),
	}).Draw(t, "proof")
}

var items atomic.Int64

// itemID is an id of its own: two items with one id are one to clients.
func itemID() string { return "rs_" + strconv.FormatInt(items.Add(1), 10) }

func anyCitation(t *rapid.T) conversation.Citation {
	return conversation.Citation{
		URL: rapid.SampledFrom([]string{"", "https://example.com/?a&b"}).Draw(t, "url"), Title: "A <title>",
		Quote: rapid.SampledFrom([]string{"", "quoted"}).Draw(t, "quote"), Start: rapid.IntRange(0, 3).Draw(t, "start"), End: 7,
	}
}

// frank is the codec for tools that say whether they are strict: here they
// must, and elsewhere silence means that they are not.
type frank struct{ responses.Codec }

func (f frank) EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error) {
	for i := range r.Tools {
		if t := &r.Tools[i]; t.Kind == conversation.Function && t.Strict == nil {
			t.Strict = new(bool)
		}
	}
	return f.Codec.EncodeRequest(r, to)
}

func TestRequests(t *testing.T) {
	t.Run("openai", func(t *testing.T) { dialecttest.RunRequests(t, frank{}, supports()) })
	t.Run("instructions of developers", func(t *testing.T) {
		s := supports()
		s.Target.Quirks.SystemRole, s.Developer = "system", false
		dialecttest.RunRequests(t, frank{}, s)
	})
}

func TestReplies(t *testing.T) {
	s := supports()
	s.Thought = anyProof
	dialecttest.RunReplies(t, responses.New(), s)
}

func TestStreams(t *testing.T) {
	s := supports()
	s.Thought = anyProof
	dialecttest.RunStreams(t, responses.New(), s)
}

func TestObserver(t *testing.T) {
	s := supports()
	s.Thought = anyProof
	dialecttest.RunObserver(t, responses.New(), s)
}
