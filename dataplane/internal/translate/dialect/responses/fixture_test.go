package responses_test

import (
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

var update = flag.Bool("update", false, "write the golden files")

// golden demands what the file holds.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func usage(in, out int64) conversation.Usage {
	return conversation.Usage{Usage: meter.Usage{Input: in, Output: out}, Known: true}
}

// eventsOf is the plainest stream that makes a reply of one choice.
func eventsOf(r *conversation.Reply) []conversation.Event {
	c := &r.Choices[0]
	out := []conversation.Event{{Kind: conversation.Began}}
	for i, p := range c.Parts {
		open := p
		text := p.Text
		open.Text, open.Citations = "", nil
		var proof *conversation.Thinking
		switch {
		case p.Call != nil:
			call := *p.Call
			text, call.Arguments = call.Arguments, ""
			open.Call = &call
		case p.Thought != nil:
			text = p.Thought.Text
			open.Thought = &conversation.Thinking{ID: p.Thought.ID, Summary: p.Thought.Summary}
			proof = &conversation.Thinking{Signature: p.Thought.Signature, Data: p.Thought.Data, Origin: p.Thought.Origin}
		}
		out = append(out, conversation.Event{Kind: conversation.Opened, Index: i, Part: open})
		if text != "" {
			out = append(out, conversation.Event{Kind: conversation.Added, Index: i, Text: text})
		}
		if proof != nil {
			out = append(out, conversation.Event{Kind: conversation.Signed, Index: i, Part: conversation.Part{Kind: conversation.Thought, Thought: proof}})
		}
		if len(p.Citations) > 0 {
			out = append(out, conversation.Event{Kind: conversation.Cited, Index: i, Part: conversation.Part{Citations: p.Citations}})
		}
		out = append(out, conversation.Event{Kind: conversation.Closed, Index: i})
	}
	if c.Logprobs != nil {
		out = append(out, conversation.Event{Kind: conversation.Rated, Logprobs: c.Logprobs})
	}
	return append(out, conversation.Event{Kind: conversation.Stopped, Finish: c.Finish}, conversation.Event{Kind: conversation.Metered, Usage: r.Usage})
}

// stream writes events as a caller gets them.
func stream(events []conversation.Event) string {
	w := responses.New().EncodeStream(dialecttest.Told)
	var text []byte
	for i := range events {
		text = w.Encode(text, &events[i])
	}
	return string(w.End(text))
}

// decoded reads a stream, with how it ended.
func decoded(t *testing.T, text string) (events []conversation.Event, failure *upstream.Failure, malformed int) {
	t.Helper()
	d := responses.New().DecodeStream()
	r := sse.NewReader(strings.NewReader(text), sse.MaxEvent)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		events, failure, err = d.Decode(e, events)
		if errors.Is(err, dialect.ErrMalformed) {
			malformed++
		}
		if failure != nil {
			return events, failure, malformed
		}
	}
	events, failure = d.End(events)
	return events, failure, malformed
}

func folded(events []conversation.Event) *conversation.Reply {
	var f conversation.Folder
	for i := range events {
		f.Add(events[i])
	}
	return f.Reply()
}
