package translate_test

import (
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

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

var update = flag.Bool("update", false, "write the golden files")

const canonical = "acme/small"

var north = decide.Candidate{
	Endpoint: &catalog.Endpoint{ID: "north:acme/small", Provider: "north", UpstreamModel: "small-v1"},
	Provider: &catalog.Provider{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "http://north.example/v1"},
}

func chat(body string) *call.Call {
	return &call.Call{Surface: catalog.Chat, Body: []byte(body)}
}

// cases calls check with each folder's input; what check returns must be the
// folder's want file.
func cases(t *testing.T, kind string, check func(t *testing.T, name, in string) string) {
	inputs, err := filepath.Glob(filepath.Join("testdata", kind, "*", "in.*"))
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		dir, file := filepath.Split(input)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			in, err := os.ReadFile(input)
			require.NoError(t, err)
			got := check(t, name, string(in))
			golden := filepath.Join(dir, "want"+filepath.Ext(file))
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestRequests(t *testing.T) {
	cases(t, "request", func(t *testing.T, name, in string) string {
		c := chat(in)
		c.Request.Stream = strings.HasPrefix(name, "stream")
		r, failure := translate.New(nil).Request(c, north)
		require.Nil(t, failure)
		require.Equal(t, "/chat/completions", r.Path)
		require.Equal(t, c.Request.Stream, r.Stream)
		require.True(t, json.Valid(r.Body.Join()), string(r.Body.Join()))
		require.Equal(t, in, string(c.Body), "the caller's body is left alone")
		return string(r.Body.Join())
	})
}

func TestReplies(t *testing.T) {
	cases(t, "reply", func(t *testing.T, _, in string) string {
		codec := translate.New(nil).Codec(chat(strings.Repeat("x", 40)), canonical, north)
		out, failure := codec.Whole([]byte(in))
		require.Nil(t, failure)
		return string(out) + "\n-- " + seen(codec)
	})
}

func TestStreams(t *testing.T) {
	cases(t, "stream", func(t *testing.T, name, in string) string {
		c := chat(strings.Repeat("x", 40))
		c.Request.Stream, c.Request.StreamUsage = true, name == "usage_wanted"
		codec := translate.New(nil).Codec(c, canonical, north)
		out, failure := run(t, codec, in)
		verdict := "complete"
		if failure != nil {
			verdict = fmt.Sprintf("%s: %s: %s", failure.Class, failure.Fault.Code, failure.Fault.Message)
		}
		return out + "\n-- " + verdict + "\n-- " + seen(codec)
	})
}

// run takes a stream through a codec as attempt does. A bar stands after the
// event that was the first content.
func run(t require.TestingT, codec upstream.Codec, in string) (string, *upstream.Failure) {
	var out strings.Builder
	content := false
	r := sse.NewReader(strings.NewReader(in), sse.MaxEvent)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		piece, failure := codec.Event(e)
		out.Write(piece.Bytes)
		if piece.Content && !content {
			content = true
			out.WriteString("-- first content\n")
		}
		if failure != nil {
			return out.String(), failure
		}
	}
	end, failure := codec.End()
	out.Write(end)
	return out.String(), failure
}

func seen(m call.Meter) string {
	text, err := json.Marshal(m.Seen())
	if err != nil {
		return err.Error()
	}
	return string(text) + "\n"
}

func TestRepliesWithoutChoices(t *testing.T) {
	for _, in := range []string{`{"choices":5}`, `{"choices":null}`, `{"choices":{}}`, `{"choices":"x"}`, `{"id":"x"}`} {
		_, failure := translate.New(nil).Codec(chat("{}"), canonical, north).Whole([]byte(in))
		require.NotNil(t, failure, in)
		require.Equal(t, upstream.MalformedReply, failure.Class, in)
	}
}
