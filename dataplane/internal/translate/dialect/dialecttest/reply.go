package dialecttest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// ReplyCodec is the half of a codec that RunReplies tests.
type ReplyCodec interface {
	DecodeReply(body []byte) (*conversation.Reply, *upstream.Failure)
	EncodeReply(r *conversation.Reply, as dialect.Told) []byte
}

// Told is what the suite's callers hear.
var Told = dialect.Told{Model: "acme/small", ID: "req_01", Created: time.Unix(1_700_000_000, 0).UTC(), Usage: true}

// RunReplies tests that replies come back as they went in, and that no body
// makes the decoder panic.
func RunReplies(t *testing.T, codec ReplyCodec, s Supports) {
	t.Run("identity", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r := Reply(t, &s)
			body := codec.EncodeReply(r, Told)
			require.True(t, json.Valid(body), "%s", body)
			back, failure := codec.DecodeReply(body)
			require.Nil(t, failure, "%s", body)
			require.Equal(t, Told.Model, back.Model, "%s", body)
			require.Equal(t, NormalReply(r, &s), NormalReply(back, &s), "%s", body)
		})
	})
	t.Run("garbage", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			body := codec.EncodeReply(Reply(t, &s), Told)
			for _, garbage := range [][]byte{spoiled(t, body), body[:rapid.IntRange(0, len(body)-1).Draw(t, "cut")], rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")} {
				back, failure := codec.DecodeReply(garbage)
				require.NotEqual(t, back == nil, failure == nil, "%s", garbage)
				if back != nil {
					require.True(t, json.Valid(codec.EncodeReply(back, Told)), "%s", garbage)
				}
			}
		})
	})
}

// Reply draws a reply that the format can express.
func Reply(t *rapid.T, s *Supports) *conversation.Reply {
	d := &drawer{T: t, s: s}
	r := &conversation.Reply{Model: Told.Model, ID: "upstream-1"}
	most := 1
	if s.Reply.Choices {
		most = 3
	}
	for i := range rapid.IntRange(1, most).Draw(t, "choices") {
		r.Choices = append(r.Choices, d.answer(i))
	}
	if s.Reply.Tier {
		r.ServiceTier = pick(d, "tier", []string{"default", "priority"})
	}
	if s.Reply.Fingerprint {
		r.Fingerprint = pick(d, "fingerprint", []string{"fp_1"})
	}
	if d.yes("usage") {
		r.Usage = d.usage()
	}
	return r
}

func (d *drawer) usage() conversation.Usage {
	u := conversation.Usage{Known: true}
	for _, name := range d.s.Reply.Meters {
		n := rapid.Int64Range(0, 1_000_000).Draw(d.T, name)
		switch name {
		case "input":
			u.Input = max(n, 1)
		case "output":
			u.Output = max(n, 1)
		case "cached_read":
			u.CachedRead = n
		case "cache_write_5m":
			u.CacheWrite5m = n
		case "cache_write_1h":
			u.CacheWrite1h = n
		case "reasoning":
			u.Reasoning = n
		case "image":
			u.Image = n
		case "audio_input":
			u.AudioInput = n
		case "audio_output":
			u.AudioOutput = n
		}
	}
	return u
}

func (d *drawer) answer(index int) conversation.Choice {
	rs := &d.s.Reply
	c := conversation.Choice{Index: index}
	c.Finish = rapid.SampledFrom(rs.Finishes).Draw(d.T, "finish")
	if rs.StopSequence && c.Finish == conversation.Stop {
		c.Stop = pick(d, "stop", []string{"END", "\n"})
	}
	if rs.Logprobs && d.yes("logprobs") {
		c.Logprobs = json.RawMessage(`{"content":[{"token":"北\n","logprob":-0.10,"bytes":null,"top_logprobs":[]},{"token":"b","logprob":-1e400,"bytes":[98],"top_logprobs":[]}]}`)
	}
	c.Parts = d.thinking(d.said(rs))
	return c
}

// said draws what an answer consists of besides thoughts. A part fits the
// finish reason, since formats derive the one from the other.
func (d *drawer) said(rs *ReplySupports) []conversation.Part {
	var parts []conversation.Part
	if rs.Refusals && d.yes("refuses") {
		return []conversation.Part{{Kind: conversation.Refusal, Text: d.text()}}
	}
	if rs.Audio && d.yes("speaks") {
		parts = append(parts, conversation.Part{Kind: conversation.Audio, Text: d.text(), Media: &conversation.Media{
			MIME: "", ID: d.unique("audio"), Data: anyBase64.Draw(d.T, "sound"),
		}})
	}
	if rs.Images && d.yes("draws") {
		parts = append(parts, conversation.Part{Kind: conversation.Image, Media: &conversation.Media{MIME: "image/png", Data: anyBase64.Draw(d.T, "image")}})
	}
	return d.called(parts, rs)
}

func (d *drawer) called(parts []conversation.Part, rs *ReplySupports) []conversation.Part {
	for range rapid.IntRange(0, 3).Draw(d.T, "calls") {
		parts = append(parts, conversation.Part{Kind: conversation.Call, Call: d.call(rs.Custom)})
	}
	if len(parts) == 0 || d.yes("says") {
		text := conversation.Part{Kind: conversation.Text, Text: d.text()}
		if rs.Citation != nil {
			for range rapid.IntRange(0, 2).Draw(d.T, "citations") {
				text.Citations = append(text.Citations, rs.Citation(d.T))
			}
		}
		parts = slices.Insert(parts, 0, text)
	}
	if !d.s.Ordered {
		parts = rapid.Permutation(parts).Draw(d.T, "order")
	}
	return parts
}
