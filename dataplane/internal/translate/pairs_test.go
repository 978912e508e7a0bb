package translate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	chatdialect "github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// callers are the formats of callers, with the codec that reads what they get.
var callers = []struct {
	name    string
	surface catalog.Surface
	codec   dialect.Codec
}{
	{"chat", catalog.Chat, chatdialect.New()},
	{"responses", catalog.Responses, responses.New()},
	{"messages", catalog.Messages, messages.New()},
	{"gemini", catalog.Gemini, gemini.New()},
}

// spoken are the formats of upstreams, each with a provider that is asked in it.
var spoken = []struct {
	name string
	kind catalog.ProviderType
	only []catalog.Surface
}{
	{"chat", catalog.OpenAICompatible, nil},
	{"responses", catalog.OpenAI, []catalog.Surface{catalog.Responses}},
	{"messages", catalog.Anthropic, nil},
	{"gemini", catalog.Google, nil},
	{"converse", catalog.Bedrock, nil},
}

// TestPairs takes each conversation of testdata/conversations, in the words of
// each caller, to an upstream of each format and back, plain and streamed.
// What comes of it is in the case's folder want.
func TestPairs(t *testing.T) {
	cases, err := filepath.Glob("testdata/conversations/*")
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, dir := range cases {
		for i := range callers {
			request, err := os.ReadFile(filepath.Join(dir, "request."+callers[i].name+".json"))
			if os.IsNotExist(err) {
				continue // the format cannot say it
			}
			require.NoError(t, err)
			for j := range spoken {
				name := callers[i].name + "-" + spoken[j].name
				t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) {
					p := newJourney(i, j, request)
					got := p.request(t) + p.replies(t, dir, spoken[j].name, callers[i].codec)
					golden(t, filepath.Join(dir, "want", name+".txt"), got)
				})
			}
		}
	}
}

// journey is one conversation between a caller and a candidate.
type journey struct {
	call       call.Call
	to         decide.Candidate
	translator *translate.Translator
	framing    upstream.Framing
}

func newJourney(caller, kind int, body []byte) *journey {
	side := spoken[kind]
	model := "up-model"
	if side.kind == catalog.Bedrock {
		model = "anthropic.claude-up-v1:0"
	}
	return &journey{
		translator: translate.New(nil),
		call: call.Call{
			ID:      id.MustParse[id.RequestKind]("req_00000000000000000000000001"),
			Surface: callers[caller].surface, Received: time.Unix(1_700_000_000, 0), Body: body,
			Request: call.Request{Model: "acme/small", InputTokens: 7, StreamUsage: true},
		},
		to: decide.Candidate{
			Endpoint: &catalog.Endpoint{ID: "north:acme/small", Provider: "north", UpstreamModel: model, Surfaces: side.only, MaxOutput: 32_000},
			Provider: &catalog.Provider{Slug: "north", Type: side.kind, BaseURL: "http://north.example/v1"},
		},
	}
}

// request is what the upstream is sent.
func (p *journey) request(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, stream := range []bool{false, true} {
		p.call.Request.Stream = stream
		r, failure := p.translator.Request(&p.call, p.to)
		if failure != nil {
			require.Equal(t, upstream.CannotCarry, failure.Class, failure.Fault.Error())
			return "# cannot be carried: " + failure.Fault.Message + "\n"
		}
		p.framing = r.Framing
		require.True(t, json.Valid(r.Body.Join()), string(r.Body.Join()))
		require.NotContains(t, string(r.Body.Join()), "acme/small", "the upstream knows the model by another name")
		if stream {
			fmt.Fprintf(&b, "# streamed: %s?%s\n", r.Path, r.Query)
			continue
		}
		fmt.Fprintf(&b, "# sent to %s\n%s\n", r.Path, pretty(r.Body.Join()))
		for _, lost := range r.Degraded {
			fmt.Fprintf(&b, "# degraded: %s\n", lost)
		}
	}
	return b.String()
}

// replies is what the caller gets, plain and streamed. Both must mean the same.
func (p *journey) replies(t *testing.T, dir, format string, reads dialect.Codec) string {
	t.Helper()
	var b strings.Builder
	var whole *conversation.Reply
	if body, err := os.ReadFile(filepath.Join(dir, "reply."+format+".json")); err == nil {
		p.call.Request.Stream = false
		codec := p.translator.Codec(&p.call, "acme/small", p.to)
		out, failure := codec.Whole(body)
		require.Nil(t, failure)
		var bad *upstream.Failure
		whole, bad = reads.DecodeReply(out)
		require.Nil(t, bad)
		require.Equal(t, "acme/small", whole.Model)
		fmt.Fprintf(&b, "# reply\n%s\n# %s\n", pretty(out), usageLine(codec))
	}
	name, frames := streamOf(t, dir, format)
	if name == "" {
		return b.String()
	}
	p.call.Request.Stream = true
	codec := p.translator.Codec(&p.call, "acme/small", p.to)
	out := drive(t, codec, frames)
	folded, failure := dialecttest.Fold(reads, strings.NewReader(out))
	require.Nil(t, failure, out)
	require.Equal(t, "acme/small", folded.Model)
	if whole != nil {
		equalReplies(t, whole, folded)
	}
	fmt.Fprintf(&b, "# stream\n%s# %s\n", out, usageLine(codec))
	return b.String()
}

// drive sends events through a codec as attempt does.
func drive(t *testing.T, codec upstream.Codec, frames []sse.Event) string {
	t.Helper()
	var out strings.Builder
	content, last := false, false
	for _, e := range frames {
		piece, failure := codec.Event(e)
		require.Nil(t, failure)
		out.Write(piece.Bytes)
		content, last = content || piece.Content, piece.Last
		if last {
			break
		}
	}
	if !last {
		missing, failure := codec.End()
		require.Nil(t, failure)
		out.Write(missing)
		content = content || len(missing) > 0
	}
	require.True(t, content, "something of it was content")
	return out.String()
}

func streamOf(t *testing.T, dir, format string) (string, []sse.Event) {
	t.Helper()
	file := "stream." + format + ".sse"
	if format == "converse" {
		file = "stream.converse.json"
	}
	stream, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return "", nil
	}
	return format, framesOf(t, string(stream))
}

// framesOf are the events of a stream: server-sent, or Bedrock's in a list.
func framesOf(t *testing.T, stream string) []sse.Event {
	t.Helper()
	var frames []sse.Event
	if json.Valid([]byte(stream)) {
		gjson.Parse(stream).ForEach(func(_, frame gjson.Result) bool {
			frames = append(frames, sse.Event{Name: []byte(frame.Get("event").String()), Data: []byte(frame.Get("data").Raw)})
			return true
		})
		return frames
	}
	reader := sse.NewReader(strings.NewReader(stream), sse.MaxEvent)
	for {
		e, err := reader.Next()
		if err != nil {
			return frames
		}
		e.Raw, e.Data, e.Name = bytes.Clone(e.Raw), bytes.Clone(e.Data), bytes.Clone(e.Name)
		frames = append(frames, e)
	}
}

// equalReplies compares what a caller gets plain with what it gets streamed.
func equalReplies(t *testing.T, whole, folded *conversation.Reply) {
	t.Helper()
	supports := &dialecttest.Supports{}
	a, b := dialecttest.NormalReply(whole, supports), dialecttest.NormalReply(folded, supports)
	for _, r := range []*conversation.Reply{a, b} {
		for _, c := range r.Choices {
			for i := range c.Parts {
				if call := c.Parts[i].Call; call != nil {
					call.Arguments = compacted(call.Arguments)
				}
			}
		}
	}
	a.Fingerprint, b.Fingerprint, a.ServiceTier, b.ServiceTier = "", "", "", ""
	require.Equal(t, text(t, a), text(t, b), "a stream says what the plain reply does")
}

// compacted leaves out what a format that has arguments as an object writes
// between their members.
func compacted(arguments string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(arguments)) != nil {
		return arguments
	}
	return b.String()
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(out)
}

func usageLine(m call.Meter) string {
	s := m.Seen()
	u, _ := json.Marshal(s.Usage) // numbers and a boolean always marshal
	return fmt.Sprintf("used %s served %s finished %v empty %v", u, s.ServedModel, s.Finished, s.ZeroOutput)
}

func pretty(body []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "", " ") != nil {
		return string(body)
	}
	return strings.TrimSpace(b.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
