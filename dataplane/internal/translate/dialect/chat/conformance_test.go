package chat_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
)

// supports is what the format can express.
func supports() dialecttest.Supports {
	return dialecttest.Supports{
		Target: dialect.Target{Model: "gpt"},
		Params: slices.DeleteFunc(dialecttest.Params(), func(name string) bool {
			return name == "top_k" || name == "cache_control"
		}),
		MaxStops:   chat.MaxStops,
		Efforts:    []string{"minimal", "low", "medium", "high", "xhigh"},
		Off:        true,
		Developer:  true,
		Anywhere:   true,
		Names:      true,
		Assistants: true,
		Media: map[conversation.Kind]dialecttest.Forms{
			conversation.Image: {Data: true, URL: true, MIMEs: []string{"image/png", "image/webp"}, Details: []string{"low", "high", "auto"}},
			conversation.Audio: {Data: true, MIMEs: []string{"audio/wav", "audio/mpeg"}},
			conversation.File:  {Data: true, FileID: true, MIMEs: []string{"application/pdf"}, NeedName: true},
		},
		Refusals:    true,
		SpokenID:    true,
		Ordered:     true,
		CustomTools: true,
		NamedOutput: true,
		Thought:     anyThought,
		Reply: dialecttest.ReplySupports{
			Finishes: []conversation.Finish{conversation.Stop, conversation.Length, conversation.ToolCalls, conversation.ContentFilter},
			Meters:   []string{"input", "output", "cached_read", "cache_write_5m", "reasoning", "image", "audio_input", "audio_output"},
			Choices:  true, Refusals: true, Audio: true, Images: true, Logprobs: true, Tier: true, Fingerprint: true, Custom: true,
			Citation: anyCitation,
		},
	}
}

func anyThought(t *rapid.T) conversation.Thinking {
	origin := rapid.SampledFrom([]conversation.Origin{conversation.OpenAI, conversation.Anthropic, conversation.Google}).Draw(t, "origin")
	return rapid.SampledFrom([]conversation.Thinking{
		{Text: "Hm, 北京."},
		{Text: "Hm.", Signature: "sig==", Origin: origin},
		{Data: "hidden==", Origin: origin},
		{ID: "rs_1", Text: "In short.", Summary: true},
		{ID: "rs_1", Text: "In short.", Summary: true, Data: "hidden==", Origin: origin},
		{Text: "In short.", Summary: true, Signature: "sig==", Origin: origin},
		{Signature: "sig==", Origin: origin},
	}).Draw(t, "thought")
}

func anyCitation(t *rapid.T) conversation.Citation {
	return conversation.Citation{
		URL: "https://example.com/?a&b", Title: rapid.SampledFrom([]string{"", "A <title>"}).Draw(t, "title"),
		Quote: rapid.SampledFrom([]string{"", "quoted"}).Draw(t, "quote"), Start: rapid.IntRange(0, 3).Draw(t, "start"), End: 7,
	}
}

// The same for what the format's inventor has, for providers that take
// thoughts back with their proofs, and for those that take text alone.
func TestRequests(t *testing.T) {
	t.Run("reasoning", func(t *testing.T) {
		s := supports()
		s.Target.Quirks = dialect.Quirks{ReasoningField: "reasoning", TokenLimit: "max_tokens", NoStreamUsage: true}
		s.Summaries = nil
		dialecttest.RunRequests(t, chat.New(), s)
	})
	t.Run("reasoning_content", func(t *testing.T) {
		s := supports()
		s.Target.Quirks = dialect.Quirks{ReasoningField: "reasoning_content", SystemRole: "system"}
		s.Developer = false
		s.Thought = func(*rapid.T) conversation.Thinking { return conversation.Thinking{Text: "Hm."} }
		dialecttest.RunRequests(t, chat.New(), s)
	})
	t.Run("openai", func(t *testing.T) {
		s := supports()
		s.Thought = nil
		dialecttest.RunRequests(t, chat.New(), s)
	})
}

func TestReplies(t *testing.T) { dialecttest.RunReplies(t, chat.New(), supports()) }

func TestStreams(t *testing.T) { dialecttest.RunStreams(t, chat.New(), supports()) }

// TestMarksForProvidersThatTakeThem: OpenRouter and its like take Anthropic's
// cache marks on texts; on anything else they are still degraded.
func TestMarksForProvidersThatTakeThem(t *testing.T) {
	r := &conversation.Request{Messages: []conversation.Message{
		{Role: conversation.System, Parts: []conversation.Part{{Text: "Be brief.", Cache: conversation.Cache5m}}},
		{Role: conversation.User, Parts: []conversation.Part{
			{Text: "a", Cache: conversation.Cache1h},
			{Text: "b"},
			{Kind: conversation.Image, Media: &conversation.Media{URL: "https://x.example/a.png"}, Cache: conversation.Cache5m},
		}},
	}}
	out, err := chat.New().EncodeRequest(r, dialect.Target{Model: "m", Quirks: dialect.Quirks{CacheControl: true}})
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]},
		{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"b"},
			{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]}]`, gjson.GetBytes(out.Body, "messages").Raw)
	require.Equal(t, []string{"cache_control"}, out.Degraded)

	plain, err := chat.New().EncodeRequest(r, dialect.Target{Model: "m"})
	require.NoError(t, err)
	require.NotContains(t, string(plain.Body), "cache_control")
	require.Equal(t, []string{"cache_control"}, plain.Degraded)
}

func TestObserver(t *testing.T) { dialecttest.RunObserver(t, chat.New(), supports()) }
