package dialecttest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// RequestEncoder writes requests for upstreams.
type RequestEncoder interface {
	EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error)
}

// RequestCodec is the half of a codec that RunRequests tests.
type RequestCodec interface {
	RequestEncoder
	DecodeRequest(body []byte) (*conversation.Request, []fault.Violation)
}

// RunRequests tests that requests which the format can express come back as
// they went in, that of the others nothing is lost in silence, and that no
// body makes the decoder panic.
func RunRequests(t *testing.T, codec RequestCodec, s Supports) {
	t.Run("identity", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r := Request(t, &s)
			encoded, err := codec.EncodeRequest(r, s.Target)
			require.NoError(t, err)
			require.Empty(t, encoded.Degraded, "%s", encoded.Body)
			require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
			back, violations := codec.DecodeRequest(encoded.Body)
			require.Empty(t, violations, "%s", encoded.Body)
			require.Equal(t, NormalRequest(r, &s), NormalRequest(back, &s), "%s", encoded.Body)
		})
	})
	RunUnsupported(t, codec, s)
	t.Run("garbage", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			encoded, err := codec.EncodeRequest(Request(t, &s), s.Target)
			require.NoError(t, err)
			back, violations := codec.DecodeRequest(spoiled(t, encoded.Body))
			if len(violations) == 0 {
				_, _ = codec.EncodeRequest(back, s.Target)
			}
			_, _ = codec.DecodeRequest(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		})
	})
}

// RunUnsupported tests the encoder alone: what the format cannot express is an
// *dialect.Unable when it is content, and listed as degraded when it is a
// parameter.
func RunUnsupported(t *testing.T, codec RequestEncoder, s Supports) {
	all := everything(s)
	for _, name := range Params() {
		if s.has(name) {
			continue
		}
		t.Run("degrades "+name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := &drawer{T: t, s: &all}
				degrades(t, codec, s.Target, d.only(name), name)
			})
		})
	}
	t.Run("degrades other members", func(t *testing.T) {
		d := basic(s.Target)
		d.Other = []string{"logit_bias", "store"}
		degrades(t, codec, s.Target, d, "logit_bias", "store")
	})
	if s.MaxStops > 0 && s.has("stop") {
		t.Run("degrades stops beyond the most", func(t *testing.T) {
			r := basic(s.Target)
			for range s.MaxStops + 1 {
				r.Stop = append(r.Stop, strings.Repeat("x", len(r.Stop)+1))
			}
			degrades(t, codec, s.Target, r, "stop")
		})
	}
	t.Run("loses no content", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { keepsContent(t, codec, &all, &s) })
	})
}

// degrades demands the names in Degraded, sorted, and sound JSON; or that the
// request cannot be carried.
func degrades(t require.TestingT, codec RequestEncoder, to dialect.Target, r *conversation.Request, names ...string) {
	encoded, err := codec.EncodeRequest(r, to)
	if err != nil {
		_, ok := errors.AsType[*dialect.Unable](err)
		require.True(t, ok, "%v", err)
		return
	}
	require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
	require.Subset(t, encoded.Degraded, names, "%s", encoded.Body)
	require.True(t, slices.IsSorted(encoded.Degraded))
}

func basic(to dialect.Target) *conversation.Request {
	return &conversation.Request{
		Model: to.Model, MaxTokens: 100_000, Messages: []conversation.Message{
			{Role: conversation.User, Parts: []conversation.Part{{Kind: conversation.Text, Text: "hi"}}},
		},
	}
}

// only draws a request that says nothing but the one parameter.
func (d *drawer) only(name string) *conversation.Request {
	r := basic(d.s.Target)
	switch name {
	case "cache_control":
		r.Messages[0].Parts[0].Cache = conversation.Cache5m
	case "tools.0.strict", "tool_choice", "tool_choice.allowed", "parallel_tool_calls":
		r.Tools = []conversation.Tool{{Name: "get", Parameters: json.RawMessage(`{"type":"object"}`)}}
		switch name {
		case "tools.0.strict":
			r.Tools[0].Strict = ptr(true)
		case "parallel_tool_calls":
			r.ParallelTools = ptr(false)
		default:
			d.param(r, name)
		}
	default:
		d.param(r, name)
	}
	return r
}

// keepsContent draws what no format can express whole, with words of its own
// in every place, and demands that an encoder which does not refuse has them all.
func keepsContent(t *rapid.T, codec RequestEncoder, all, s *Supports) {
	r := Request(t, all)
	words := wordsOf(r)
	encoded, err := codec.EncodeRequest(r, s.Target)
	if err != nil {
		_, ok := errors.AsType[*dialect.Unable](err)
		require.True(t, ok, "%v", err)
		return
	}
	require.True(t, json.Valid(encoded.Body))
	require.True(t, slices.IsSorted(encoded.Degraded))
	for _, word := range words {
		require.Contains(t, string(encoded.Body), word)
	}
	for i, tool := range r.Tools {
		if !strings.Contains(string(encoded.Body), tool.Name) {
			require.True(t, slices.ContainsFunc(encoded.Degraded, func(path string) bool {
				return strings.HasPrefix(path, "tools."+string(rune('0'+i)))
			}), "tool %d", i)
		}
	}
}

// wordsOf puts a word of its own into every text of r and returns the words.
func wordsOf(r *conversation.Request) []string {
	var words []string
	word := func() string {
		words = append(words, "word"+strings.Repeat("z", len(words)+1)+"end")
		return words[len(words)-1]
	}
	var visit func(parts []conversation.Part)
	visit = func(parts []conversation.Part) {
		for i := range parts {
			p := &parts[i]
			switch {
			case p.Result != nil:
				visit(p.Result.Parts)
			case p.Call != nil && p.Call.Custom:
				p.Call.Arguments = word()
			case p.Call != nil:
				p.Call.Arguments = `{"a":"` + word() + `"}`
			case p.Media == nil:
				p.Text = word()
			case p.Media.URL != "":
				p.Media.URL = "https://img.example/" + word() + ".png"
			case p.Media.Text != "":
				p.Media.Text = word()
			case p.Media.FileID != "":
				p.Media.FileID = word()
			case p.Media.ID != "":
				p.Media.ID = word()
			}
		}
	}
	for _, m := range r.Messages {
		visit(m.Parts)
	}
	return words
}
