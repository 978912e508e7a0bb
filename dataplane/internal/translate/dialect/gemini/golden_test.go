package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

var update = flag.Bool("update", false, "write the golden files")

// cases calls check with each folder's input; what check returns must be the
// folder's want.txt.
func cases(t *testing.T, kind string, check func(t *testing.T, in []byte) string) {
	inputs, err := filepath.Glob(filepath.Join("testdata", kind, "*", "in.*"))
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in, err := os.ReadFile(input)
			require.NoError(t, err)
			got := check(t, in)
			golden := filepath.Join(dir, "want.txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// show writes a value so that a person can compare it: without the members
// that say nothing.
func show(t *testing.T, v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(v))
	text, err := prune(json.NewDecoder(&out), "")
	require.NoError(t, err)
	return text
}

// prune indents JSON and leaves out empty members. Numbers and order stay.
func prune(d *json.Decoder, indent string) (string, error) {
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return "", err
	}
	open, ok := token.(json.Delim)
	if !ok {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(token)
		return strings.TrimSuffix(out.String(), "\n"), err
	}
	var lines []string
	for d.More() {
		line := ""
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return "", err
			}
			line = fmt.Sprintf("%v: ", name)
		}
		value, err := prune(d, indent+"  ")
		if err != nil {
			return "", err
		}
		if open == '{' && (value == "null" || value == `""` || value == "0" || value == "false" || value == "{}") {
			continue
		}
		lines = append(lines, indent+"  "+line+value)
	}
	if _, err := d.Token(); err != nil {
		return "", err
	}
	if len(lines) == 0 {
		return string(open) + map[json.Delim]string{'{': "}", '[': "]"}[open], nil
	}
	return string(open) + "\n" + strings.Join(lines, "\n") + "\n" + indent + map[json.Delim]string{'{': "}", '[': "]"}[open], nil
}

// A request as a client writes it: what it means, and what a model of each
// kind is sent.
func TestGoldenRequests(t *testing.T) {
	cases(t, "request", func(t *testing.T, in []byte) string {
		r, violations := gemini.New().DecodeRequest(in)
		require.Empty(t, violations)
		out := show(t, r)
		for _, model := range []string{"gemini-2.5-flash", "gemini-3-pro-preview"} {
			encoded, err := gemini.New().EncodeRequest(r, dialect.Target{Model: model})
			require.NoError(t, err)
			require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
			out += fmt.Sprintf("\n-- %s, without %q\n%s\n", model, encoded.Degraded, encoded.Body)
		}
		return out
	})
}

var told = dialect.Told{Model: "acme/small", ID: "req_1"}

// A reply as Google writes it: what it means, and what a caller of the same
// format would be told after a translation.
func TestGoldenReplies(t *testing.T) {
	cases(t, "reply", func(t *testing.T, in []byte) string {
		r, failure := gemini.New().DecodeReply(in)
		require.Nil(t, failure)
		body := gemini.New().EncodeReply(r, told)
		require.True(t, json.Valid(body), "%s", body)
		return show(t, r) + "\n-- encoded\n" + string(body) + "\n"
	})
}

// A stream as Google writes it, folded, and written again.
func TestGoldenStreams(t *testing.T) {
	cases(t, "stream", func(t *testing.T, in []byte) string {
		folded, failure := dialecttest.Fold(gemini.New(), bytes.NewReader(in))
		out := show(t, folded)
		if failure != nil {
			return out + fmt.Sprintf("\n-- %s %d\n", failure.Class, failure.Status)
		}
		text, malformed := again(t, in)
		for _, e := range eventsOf(t, text) {
			// A client of Google's forgets a turn of which a piece has no parts.
			for _, c := range gjson.Get(e, "candidates").Array() {
				require.True(t, c.Get("content.parts.0").Exists() || len(folded.Choices[0].Parts) == 0, e)
			}
		}
		return out + fmt.Sprintf("\n-- encoded, %d malformed\n%s", malformed, text)
	})
}

// again reads a stream and writes what it means.
func again(t *testing.T, in []byte) (out string, malformed int) {
	decoder, encoder := gemini.New().DecodeStream(), gemini.New().EncodeStream(told)
	var text []byte
	var events []conversation.Event
	write := func() {
		for i := range events {
			text = encoder.Encode(text, &events[i])
		}
	}
	r := sse.NewReader(bytes.NewReader(in), sse.MaxEvent)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var failure *upstream.Failure
		events, failure, err = decoder.Decode(e, events[:0])
		require.Nil(t, failure)
		if err != nil {
			require.ErrorIs(t, err, dialect.ErrMalformed)
			malformed++
		}
		write()
		require.False(t, decoder.Done())
	}
	events, failure := decoder.End(events[:0])
	require.Nil(t, failure)
	write()
	return string(encoder.End(text)), malformed
}

// What all formats have to say alike: a stream is the reply in pieces.
func TestConversations(t *testing.T) {
	folders, err := filepath.Glob("../../testdata/conversations/*")
	require.NoError(t, err)
	seen := 0
	for _, folder := range folders {
		request, err := os.ReadFile(filepath.Join(folder, "request.gemini.json"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		seen++
		t.Run(filepath.Base(folder), func(t *testing.T) {
			require.NoError(t, err)
			_, violations := gemini.New().DecodeRequest(request)
			require.Empty(t, violations)
			plain, err := os.ReadFile(filepath.Join(folder, "reply.gemini.json"))
			if errors.Is(err, os.ErrNotExist) {
				return // a case of the request alone
			}
			require.NoError(t, err)
			stream, err := os.ReadFile(filepath.Join(folder, "stream.gemini.sse"))
			require.NoError(t, err)
			reply, failure := gemini.New().DecodeReply(plain)
			require.Nil(t, failure)
			folded, failure := dialecttest.Fold(gemini.New(), bytes.NewReader(stream))
			require.Nil(t, failure)
			require.Equal(t, reply, folded)
			require.True(t, reply.Usage.Known)
		})
	}
	require.GreaterOrEqual(t, seen, 12)
}
