package chat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with a file.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func readable(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	return b.Bytes()
}

// inputs calls check for each file of a folder that matches.
func inputs(t *testing.T, pattern string, check func(t *testing.T, file string, in []byte)) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if strings.Contains(pattern, "conversations") {
			name = filepath.Base(filepath.Dir(file))
		}
		t.Run(name, func(t *testing.T) {
			in, err := os.ReadFile(file)
			require.NoError(t, err)
			check(t, file, in)
		})
	}
}

// What is peculiar in requests, and what the neutral form of it is.
func TestRequestInputs(t *testing.T) {
	inputs(t, "testdata/request/*.json", func(t *testing.T, file string, in []byte) {
		r, violations := chat.New().DecodeRequest(in)
		golden(t, strings.TrimSuffix(file, ".json")+".want", readable(t, struct {
			Request    *conversation.Request
			Violations []fault.Violation
		}{r, violations}))
	})
}

func TestReplyInputs(t *testing.T) {
	inputs(t, "testdata/reply/*.json", func(t *testing.T, file string, in []byte) {
		r, failure := chat.New().DecodeReply(in)
		golden(t, strings.TrimSuffix(file, ".json")+".want", append(readable(t, r), verdict(failure)...))
	})
}

func TestStreamInputs(t *testing.T) {
	inputs(t, "testdata/stream/*.sse", func(t *testing.T, file string, in []byte) {
		r, failure := dialecttest.Fold(chat.New(), bytes.NewReader(in))
		golden(t, strings.TrimSuffix(file, ".sse")+".want", append(readable(t, r), verdict(failure)...))
	})
}

func verdict(f *upstream.Failure) string {
	if f == nil {
		return "-- complete\n"
	}
	return "-- " + string(f.Class) + "\n"
}

const conversations = "../../testdata/conversations/*/"

// What this format's own inputs of all cases look like when it writes them.
func TestConversationsWritten(t *testing.T) {
	codec := chat.New()
	to := dialect.Target{Model: "gpt-5", Quirks: dialect.Quirks{ReasoningField: "reasoning"}}
	written := func(t *testing.T, file string) string {
		return filepath.Join("testdata/written", filepath.Base(filepath.Dir(file)))
	}
	t.Run("request", func(t *testing.T) {
		inputs(t, conversations+"request.chat.json", func(t *testing.T, file string, in []byte) {
			r, violations := codec.DecodeRequest(in)
			require.Empty(t, violations)
			encoded, err := codec.EncodeRequest(r, to)
			require.NoError(t, err)
			golden(t, written(t, file)+".request", append(append(encoded.Body, "\n-- "...), strings.Join(encoded.Degraded, " ")+"\n"...))
		})
	})
	t.Run("reply", func(t *testing.T) {
		inputs(t, conversations+"reply.chat.json", func(t *testing.T, file string, in []byte) {
			r, failure := codec.DecodeReply(in)
			require.Nil(t, failure)
			golden(t, written(t, file)+".reply", append(codec.EncodeReply(r, dialecttest.Told), '\n'))
		})
	})
	t.Run("stream", func(t *testing.T) {
		inputs(t, conversations+"stream.chat.sse", func(t *testing.T, file string, in []byte) {
			golden(t, written(t, file)+".stream", rewritten(t, in))
		})
	})
}

func rewritten(t *testing.T, in []byte) []byte {
	t.Helper()
	decoder, encoder := chat.New().DecodeStream(), chat.New().EncodeStream(dialecttest.Told)
	var out []byte
	var events []conversation.Event
	write := func() {
		for i := range events {
			out = encoder.Encode(out, &events[i])
		}
	}
	r := sse.NewReader(bytes.NewReader(in), sse.MaxEvent)
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		var failure *upstream.Failure
		var malformed error
		events, failure, malformed = decoder.Decode(e, events[:0])
		require.Nil(t, failure)
		require.NoError(t, malformed)
		write()
	}
	require.True(t, decoder.Done())
	events, failure := decoder.End(events[:0])
	require.Nil(t, failure)
	write()
	return encoder.End(out)
}

// A stream makes the reply that the plain answer is.
func TestConversationsStreamedAndPlain(t *testing.T) {
	s := supports()
	inputs(t, conversations+"reply.chat.json", func(t *testing.T, file string, in []byte) {
		plain, failure := chat.New().DecodeReply(in)
		require.Nil(t, failure)
		stream, err := os.ReadFile(filepath.Join(filepath.Dir(file), "stream.chat.sse"))
		if errors.Is(err, os.ErrNotExist) {
			return // a case of the whole reply alone
		}
		require.NoError(t, err)
		streamed, failure := dialecttest.Fold(chat.New(), bytes.NewReader(stream))
		require.Nil(t, failure)
		streamed.ServiceTier, streamed.Fingerprint = plain.ServiceTier, plain.Fingerprint // no event has them
		require.Equal(t, dialecttest.NormalReply(plain, &s), dialecttest.NormalReply(streamed, &s))
	})
}
