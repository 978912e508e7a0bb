package conversation_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
)

// everything is what a reply can be, whatever the format.
func everything() dialecttest.Supports {
	return dialecttest.Supports{
		Thought: func(t *rapid.T) conversation.Thinking {
			return rapid.SampledFrom([]conversation.Thinking{
				{Text: "Hm, 北京."},
				{Text: "Hm.", Signature: "sig", Origin: conversation.Anthropic},
				{Data: "hidden", Origin: conversation.Google},
				{ID: "rs_1", Text: "In short.", Summary: true, Data: "hidden", Origin: conversation.OpenAI},
			}).Draw(t, "thought")
		},
		Reply: dialecttest.ReplySupports{
			Finishes: []conversation.Finish{conversation.Stop, conversation.Refused, conversation.Paused, conversation.Failed},
			Meters:   dialecttest.Meters(),
			Choices:  true, Refusals: true, Audio: true, Images: true, StopSequence: true, Logprobs: true, Custom: true,
			Citation: func(t *rapid.T) conversation.Citation {
				return conversation.Citation{URL: "https://a.example", Start: rapid.IntRange(0, 9).Draw(t, "start")}
			},
		},
	}
}

func fold(events []conversation.Event) *conversation.Reply {
	var f conversation.Folder
	for _, e := range events {
		f.Add(e)
	}
	return f.Reply()
}

// The events of a reply make the reply, however its texts are split, its calls
// overlap, and its choices take turns.
func TestEventsFoldToTheirReply(t *testing.T) {
	s := everything()
	rapid.Check(t, func(t *rapid.T) {
		r := dialecttest.Reply(t, &s)
		events := dialecttest.Events(t, r)
		require.NoError(t, dialecttest.Sound(events, true))
		got := fold(events)
		require.Equal(t, r.ID, got.ID)
		require.Equal(t, r.Model, got.Model)
		require.Equal(t, dialecttest.NormalReply(r, &s), dialecttest.NormalReply(got, &s))
	})
}

// A decoder's events share memory with nobody after they were added: folding
// changes none of them.
func TestFoldingLeavesEventsAlone(t *testing.T) {
	s := everything()
	rapid.Check(t, func(t *rapid.T) {
		events := dialecttest.Events(t, dialecttest.Reply(t, &s))
		before, err := json.Marshal(events)
		require.NoError(t, err)
		first := fold(events)
		after, err := json.Marshal(events)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
		require.Equal(t, first, fold(events), "and they can be folded again")
	})
}

// What belongs to no part that is open is no reason to fall over.
func TestAnyEventsFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		event := rapid.Custom(func(t *rapid.T) conversation.Event {
			e := conversation.Event{
				Kind:   conversation.EventKind(rapid.IntRange(0, int(conversation.Metered)).Draw(t, "kind")),
				Choice: rapid.IntRange(-1, 2).Draw(t, "choice"), Index: rapid.IntRange(-1, 2).Draw(t, "index"), Text: "x",
				Logprobs: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"content":[1]}`), json.RawMessage(`{`)}).Draw(t, "logprobs"),
			}
			e.Part = rapid.SampledFrom([]conversation.Part{
				{},
				{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "a"}},
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: "t"}},
				{Kind: conversation.Audio, Media: &conversation.Media{}},
			}).Draw(t, "part")
			return e
		})
		r := fold(rapid.SliceOfN(event, 0, 20).Draw(t, "events"))
		require.True(t, slices.IsSortedFunc(r.Choices, func(a, b conversation.Choice) int { return a.Index - b.Index }))
	})
}

func TestTheLastUsageHolds(t *testing.T) {
	usage := func(n int64) conversation.Event {
		u := conversation.Usage{Known: true}
		u.Input = n
		return conversation.Event{Kind: conversation.Metered, Usage: u}
	}
	require.EqualValues(t, 3, fold([]conversation.Event{usage(1), usage(3)}).Usage.Input)
}

func TestIsContent(t *testing.T) {
	part := func(p conversation.Part) conversation.Event {
		return conversation.Event{Kind: conversation.Opened, Part: p}
	}
	thinking := func(t conversation.Thinking) conversation.Part {
		return conversation.Part{Kind: conversation.Thought, Thought: &t}
	}
	for name, c := range map[string]struct {
		event conversation.Event
		want  bool
	}{
		"began":             {conversation.Event{Kind: conversation.Began, ID: "x"}, false},
		"empty text opens":  {part(conversation.Part{}), false},
		"text opens":        {part(conversation.Part{Text: "x"}), true},
		"refusal opens":     {part(conversation.Part{Kind: conversation.Refusal}), false},
		"thought opens":     {part(thinking(conversation.Thinking{ID: "x"})), false},
		"hidden thought":    {part(thinking(conversation.Thinking{Data: "x"})), true},
		"call opens":        {part(conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{}}), true},
		"text":              {conversation.Event{Kind: conversation.Added, Text: "x"}, true},
		"no text":           {conversation.Event{Kind: conversation.Added}, false},
		"sound":             {conversation.Event{Kind: conversation.Sounded, Text: "x"}, true},
		"a signature":       {conversation.Event{Kind: conversation.Signed, Part: thinking(conversation.Thinking{Signature: "x"})}, false},
		"hidden thoughts":   {conversation.Event{Kind: conversation.Signed, Part: thinking(conversation.Thinking{Data: "x"})}, true},
		"closed":            {conversation.Event{Kind: conversation.Closed}, false},
		"stopped":           {conversation.Event{Kind: conversation.Stopped, Finish: conversation.Stop}, true},
		"usage":             {conversation.Event{Kind: conversation.Metered}, false},
		"probabilities":     {conversation.Event{Kind: conversation.Rated}, false},
		"where it is from":  {conversation.Event{Kind: conversation.Cited}, false},
		"ended for nothing": {conversation.Event{Kind: conversation.Stopped}, false},
	} {
		require.Equal(t, c.want, c.event.IsContent(), name)
	}
}
