package translate

import (
	"net/url"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// realtimeRequest opens a two-way conversation
// (https://platform.openai.com/docs/guides/realtime-websocket).
func realtimeRequest(c *call.Call, to decide.Candidate) (upstream.Request, *upstream.Failure) {
	if !speaksOpenAI(to.Provider.Type) {
		return upstream.Request{}, upstream.Fail(upstream.CannotCarry, nil)
	}
	at := openAIPlace(to, "/realtime")
	return upstream.Request{
		Provider: to.Provider, Region: to.Endpoint.Region, Method: "GET", Path: at.path,
		Query:  joined(at.query, url.Values{"model": {to.Endpoint.UpstreamModel}}.Encode()),
		Header: c.Header, Upgrade: true,
	}, nil
}

// realtime reads what a provider says in a two-way conversation: each frame is
// one JSON event. It implements upstream.Speaker.
type realtime struct {
	model         []byte // the canonical id, as JSON
	upstreamModel []byte // as JSON
	usage         meter.Usage
	served        string
	answered      bool
	malformed     int
	out           []byte
}

func newRealtime(model string, to decide.Candidate) *realtime {
	return &realtime{model: rawjson.Quote(model), upstreamModel: rawjson.Quote(to.Endpoint.UpstreamModel)}
}

// Event implements upstream.Codec. An error event is the provider's answer to a
// frame of the caller, not the end of the conversation: it is passed on.
func (r *realtime) Event(e sse.Event) (upstream.Piece, *upstream.Failure) {
	var s splices
	o := rawjson.NewObject(e.Data)
	for o.Next() {
		if !o.Is("session") && !o.Is("response") {
			continue
		}
		at, _ := o.ValueSpan()
		inner := rawjson.NewObject(o.Value())
		for inner.Next() {
			switch {
			case inner.Is("model") && rawjson.IsString(inner.Value()):
				if r.served == "" {
					r.served = dialect.Served(rawjson.String(inner.Value()))
				}
				from, to := inner.ValueSpan()
				s.Replace(at+from, at+to, r.model)
			case o.Is("response") && inner.Is("usage"):
				r.count(inner.Value())
			case o.Is("response") && inner.Is("output") && !isBlank(inner.Value()):
				r.answered = true
			}
		}
	}
	switch {
	case !o.Whole():
		r.malformed++
		return upstream.Piece{}, nil
	case s.None():
		return upstream.Piece{Bytes: e.Raw, Content: true}, nil
	}
	r.out = s.Apply(e.Data, nil, 0)
	return upstream.Piece{Bytes: r.out, Content: true}, nil
}

// count adds the usage of one response of the conversation.
func (r *realtime) count(value []byte) {
	u, ok := realtimeUsage(value)
	if !ok {
		return
	}
	r.usage.Input += u.Input
	r.usage.CachedRead += u.CachedRead
	r.usage.AudioInput += u.AudioInput
	r.usage.Image += u.Image
	r.usage.Output += u.Output
	r.usage.AudioOutput += u.AudioOutput
}

// Said implements upstream.Speaker. The model that was decided on stays the
// conversation's, whatever name the caller configures it by: another one would
// be neither what the key may use nor what it pays for.
func (r *realtime) Said(frame []byte) []byte {
	var s splices
	o := rawjson.NewObject(frame)
	for o.Next() {
		if !o.Is("session") && !o.Is("response") {
			continue
		}
		at, _ := o.ValueSpan()
		inner := rawjson.NewObject(o.Value())
		for inner.Next() {
			if inner.Is("model") {
				from, to := inner.ValueSpan()
				s.Replace(at+from, at+to, r.upstreamModel)
			}
		}
	}
	if !o.Whole() || s.None() {
		return frame // what is no JSON the provider refuses in its own words
	}
	return s.Apply(frame, nil, 0)
}

// Whole implements upstream.Codec. There is none of a conversation.
func (r *realtime) Whole([]byte) ([]byte, *upstream.Failure) {
	return nil, upstream.Fail(upstream.WrongType, nil)
}

// End implements upstream.Codec.
func (r *realtime) End() ([]byte, *upstream.Failure) { return nil, nil }

// Seen implements call.Meter. A conversation in which nothing was answered has
// used nothing.
func (r *realtime) Seen() call.Seen {
	return call.Seen{
		Usage: r.usage, ServedModel: r.served, Finished: true,
		ZeroOutput: !r.answered && r.usage.IsZero(), Malformed: r.malformed,
	}
}

// realtimeUsage reads the usage of a response.done event
// (https://platform.openai.com/docs/api-reference/realtime-server-events/response/done):
// cached tokens are part of the input, and partly sound themselves.
func realtimeUsage(value []byte) (meter.Usage, bool) {
	var in, out, cached, audioIn, cachedAudio, image, audioOut int64
	o := rawjson.NewObject(value)
	for o.Next() {
		switch {
		case o.Is("input_tokens"):
			in = rawjson.Int(o.Value())
		case o.Is("output_tokens"):
			out = rawjson.Int(o.Value())
		case o.Is("input_token_details"):
			d := rawjson.NewObject(o.Value())
			for d.Next() {
				switch {
				case d.Is("cached_tokens"):
					cached = rawjson.Int(d.Value())
				case d.Is("audio_tokens"):
					audioIn = rawjson.Int(d.Value())
				case d.Is("image_tokens"):
					image = rawjson.Int(d.Value())
				case d.Is("cached_tokens_details"):
					cachedAudio = memberInt(d.Value(), "audio_tokens")
				}
			}
		case o.Is("output_token_details"):
			audioOut = memberInt(o.Value(), "audio_tokens")
		}
	}
	if !o.OK() || max(in, out, cached, audioIn, image, audioOut) > dialect.MostTokens {
		return meter.Usage{}, false
	}
	left := in
	var u meter.Usage
	u.CachedRead = dialect.Take(&left, cached)
	u.AudioInput = dialect.Take(&left, max(0, audioIn-cachedAudio))
	u.Image = dialect.Take(&left, image)
	u.Input = left
	left = out
	u.AudioOutput = dialect.Take(&left, audioOut)
	u.Output = left
	return u, true
}

func memberInt(object []byte, name string) int64 {
	o := rawjson.NewObject(object)
	var n int64
	for o.Next() {
		if o.Is(name) {
			n = rawjson.Int(o.Value())
		}
	}
	return n
}
