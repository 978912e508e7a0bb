package chat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// seed adds the golden inputs.
func seed(f *testing.F, patterns ...string) {
	f.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			in, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(in)
		}
	}
}

// What is written of what was read is read as the same again.
func FuzzRequest(f *testing.F) {
	seed(f, "testdata/request/*.json", conversations+"request.chat.json")
	to := dialect.Target{Model: "m", Quirks: dialect.Quirks{ReasoningField: "reasoning"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, violations := chat.New().DecodeRequest(body)
		if len(violations) > 0 || !json.Valid(body) {
			return
		}
		first, err := chat.New().EncodeRequest(r, to)
		if err != nil {
			_, ok := errors.AsType[*dialect.Unable](err)
			require.True(t, ok, "%v", err)
			return
		}
		require.True(t, json.Valid(first.Body), "%q gave %q", body, first.Body)
		again, violations := chat.New().DecodeRequest(first.Body)
		require.Empty(t, violations, "%q gave %q", body, first.Body)
		second, err := chat.New().EncodeRequest(again, to)
		require.NoError(t, err)
		require.Equal(t, string(first.Body), string(second.Body))
	})
}

func FuzzReply(f *testing.F) {
	seed(f, "testdata/reply/*.json", conversations+"reply.chat.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		r, failure := chat.New().DecodeReply(body)
		if failure != nil {
			return
		}
		require.True(t, json.Valid(body))
		first := chat.New().EncodeReply(r, dialecttest.Told)
		require.True(t, json.Valid(first), "%q gave %q", body, first)
		again, failure := chat.New().DecodeReply(first)
		require.Nil(t, failure, "%q gave %q", body, first)
		require.Equal(t, string(first), string(chat.New().EncodeReply(again, dialecttest.Told)))
	})
}

// The events of whatever comes are in order, and what is written of them is a
// stream that reads as the same.
func FuzzStream(f *testing.F) {
	seed(f, "testdata/stream/*.sse", conversations+"stream.chat.sse")
	f.Fuzz(func(t *testing.T, in []byte) {
		decoder, encoder := chat.New().DecodeStream(), chat.New().EncodeStream(dialecttest.Told)
		var all []conversation.Event
		var failure *upstream.Failure
		r := sse.NewReader(bytes.NewReader(in), sse.MaxEvent)
		for e, err := r.Next(); err == nil && failure == nil; e, err = r.Next() {
			all, failure, _ = decoder.Decode(e, all)
		}
		if failure == nil {
			all, failure = decoder.End(all)
		}
		require.NoError(t, dialecttest.Sound(all, failure == nil), "%q", in)
		var out []byte
		var folder conversation.Folder
		for i := range all {
			out = encoder.Encode(out, &all[i])
			folder.Add(all[i])
		}
		if failure != nil {
			return
		}
		out = encoder.End(out)
		back, failure := dialecttest.Fold(chat.New(), bytes.NewReader(out))
		require.Nil(t, failure, "%q", out)
		s := supports()
		require.Equal(t, said(folder.Reply(), &s), said(back, &s), "%q gave %q", in, out)
	})
}

// said is what a reply says, in the order in which the format has it.
func said(r *conversation.Reply, s *dialecttest.Supports) [][]string {
	var out [][]string
	for _, c := range dialecttest.NormalReply(r, s).Choices {
		texts := make([]string, 9)
		for _, p := range c.Parts {
			text := p.Text
			switch {
			case p.Call != nil:
				text = p.Call.ID + p.Call.Name + p.Call.Arguments
			case p.Thought != nil:
				text = p.Thought.Text + p.Thought.Signature + p.Thought.Data
			}
			texts[p.Kind] += text
		}
		out = append(out, texts)
	}
	return out
}
