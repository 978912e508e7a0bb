package messages_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
)

var update = flag.Bool("update", false, "write the golden files")

var told = dialect.Told{Model: "acme/small", ID: "01J", Created: time.Unix(1_700_000_000, 0).UTC(), Usage: true}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, file)
}

func indented(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, raw, "", "  "), "%s", raw)
	return b.String() + "\n"
}

// neutral shows a value of the neutral form without its zero members.
func neutral(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	var plain any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&plain))
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(said(plain)))
	return b.String()
}

func said(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			member = said(member)
			v[name] = member
			if member == nil || member == "" || member == false || member == json.Number("0") && name != "Kind" {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = said(v[i])
		}
	}
	return v
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	return body
}

// The particulars of the format: what becomes of each body in the neutral form
// and, written again, for an upstream.
func TestRequestParticulars(t *testing.T) {
	inputs, err := filepath.Glob("testdata/request/*/in.json")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r, violations := messages.New().DecodeRequest(read(t, input))
			require.Empty(t, violations)
			golden(t, filepath.Join(dir, "neutral.json"), neutral(t, r))
			encoded, err := messages.New().EncodeRequest(r, dialect.Target{Model: "small-v1", MaxOutput: 32_000})
			require.NoError(t, err)
			golden(t, filepath.Join(dir, "want.json"), indented(t, encoded.Body))
			golden(t, filepath.Join(dir, "degraded.txt"), strings.Join(append(encoded.Degraded, ""), "\n"))
		})
	}
}

const conversations = "../../testdata/conversations"

// TestConversations reads the shared cases and writes them again.
func TestConversations(t *testing.T) {
	dirs, err := filepath.Glob(conversations + "/*")
	require.NoError(t, err)
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "request.messages.json")); err != nil {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := filepath.Join("testdata", "conversations", filepath.Base(dir))
			r, violations := messages.New().DecodeRequest(read(t, filepath.Join(dir, "request.messages.json")))
			require.Empty(t, violations)
			if _, err := os.Stat(filepath.Join(dir, "reply.messages.json")); err != nil {
				return // of a request in which turns meet that Anthropic's own would not have
			}
			encoded, err := messages.New().EncodeRequest(r, dialect.Target{Model: r.Model})
			require.NoError(t, err)
			require.Empty(t, encoded.Degraded)
			require.JSONEq(t, string(read(t, filepath.Join(dir, "request.messages.json"))), string(encoded.Body))

			plain, failure := messages.New().DecodeReply(read(t, filepath.Join(dir, "reply.messages.json")))
			require.Nil(t, failure)
			golden(t, filepath.Join(want, "reply.json"), indented(t, messages.New().EncodeReply(plain, told)))

			streamed, failure := dialecttest.Fold(messages.New(), bytes.NewReader(read(t, filepath.Join(dir, "stream.messages.sse"))))
			require.Nil(t, failure)
			streamed.ServiceTier = plain.ServiceTier
			require.Equal(t, plain, streamed, "a stream folded is the plain reply")
			golden(t, filepath.Join(want, "stream.sse"), string(rewritten(t, read(t, filepath.Join(dir, "stream.messages.sse")))))
		})
	}
}

// rewritten reads a stream and writes it again.
func rewritten(t *testing.T, stream []byte) []byte {
	decoder, encoder := messages.New().DecodeStream(), messages.New().EncodeStream(told)
	var out []byte
	for _, e := range decoded(t, decoder, stream) {
		out = encoder.Encode(out, &e)
	}
	return encoder.End(out)
}

func decoded(t *testing.T, decoder dialect.StreamDecoder, stream []byte) []conversation.Event {
	t.Helper()
	var out []conversation.Event
	r := sse.NewReader(bytes.NewReader(stream), sse.MaxEvent)
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		events, failure, err := decoder.Decode(e, nil)
		require.Nil(t, failure)
		require.NoError(t, err)
		out = append(out, events...)
	}
	require.True(t, decoder.Done())
	out, failure := decoder.End(out)
	require.Nil(t, failure)
	return out
}
