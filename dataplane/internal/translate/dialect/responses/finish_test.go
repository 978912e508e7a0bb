package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

// Anthropic's refusals are text, or nothing, and a reason to end.
func TestARefusalDoesNotLookLikeAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		parts  []conversation.Part
		status string
		reason string
	}{
		"in words of its own": {[]conversation.Part{{Kind: conversation.Refusal, Text: "No."}}, "completed", ""},
		"in text":             {[]conversation.Part{{Kind: conversation.Text, Text: "No."}}, "incomplete", "content_filter"},
		"in silence":          {nil, "incomplete", "content_filter"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &conversation.Reply{Choices: []conversation.Choice{{Parts: c.parts, Finish: conversation.Refused}}}
			plain := gjson.ParseBytes(responses.New().EncodeReply(r, dialecttest.Told))
			require.Equal(t, c.status, plain.Get("status").Str)
			require.Equal(t, c.reason, plain.Get("incomplete_details.reason").Str)

			text := stream(eventsOf(r))
			_, last, _ := strings.Cut(text[strings.LastIndex(text, "event: "):], "\ndata: ")
			require.Equal(t, "response."+c.status, gjson.Get(last, "type").Str)
			require.Equal(t, c.reason, gjson.Get(last, "response.incomplete_details.reason").Str)
		})
	}
}

func TestRepliesRepeatTheFormThatWasAskedFor(t *testing.T) {
	r := &conversation.Reply{Choices: []conversation.Choice{{Parts: []conversation.Part{{Kind: conversation.Text, Text: "{}"}}, Finish: conversation.Stop}}}
	for asked, want := range map[string]string{"": `{"type":"text"}`, `{"type":"json_schema","name":"n","schema":{"const":12345678901234567890}}`: ""} {
		as := dialecttest.Told
		as.Format = json.RawMessage(asked)
		if want == "" {
			want = asked
		}
		require.Equal(t, want, gjson.GetBytes(responses.New().EncodeReply(r, as), "text.format").Raw)
	}
}
