// Package translate owns the difference between the caller's format and a
// provider's. Same format in and out is an edit of the bytes: what the gateway
// must change is changed where it stands, and all else passes as it was
// written. Different formats meet in the neutral conversation. It does no I/O
// and knows nothing of routing or retries.
package translate

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// Translator writes upstream requests and makes the codecs that read the
// answers. It has no state.
type Translator struct {
	codecs    map[format]dialect.Codec
	upstreams map[format]dialect.Upstream
	namer     Namer
}

// New returns a Translator of all formats. namer names jobs and files.
func New(namer Namer) *Translator {
	return &Translator{codecs: codecs(), upstreams: upstreams(), namer: namer}
}

// Request writes the request for one candidate. A failure means that the
// candidate cannot carry it, or that nobody can.
func (t *Translator) Request(c *call.Call, to decide.Candidate) (upstream.Request, *upstream.Failure) {
	own, speaks := callerFormats[c.Surface]
	switch {
	case c.Owned.ID != "" && c.Action != call.Generate:
		return aboutKept(c, to)
	case c.Surface == catalog.Realtime:
		return realtimeRequest(c, to)
	case !speaks:
		return plainRequest(c, to)
	}
	spoken := spokenTo(c.Surface, to)
	switch {
	case spoken == noFormat:
		return upstream.Request{}, upstream.Fail(upstream.CannotCarry, nil)
	case c.Action == call.Count:
		return t.countRequest(c, to, own, spoken)
	case own == spoken:
		return passRequest(c, to, own)
	}
	return t.translated(c, to, own, spoken)
}

// Codec returns a reader for the answer to a request made for to. model is the
// canonical id that the caller is told.
func (t *Translator) Codec(c *call.Call, model string, to decide.Candidate) upstream.Codec {
	own, speaks := callerFormats[c.Surface]
	if kept[c.Surface] != "" {
		return &keeper{call: c, to: to, model: rawjson.Quote(model), namer: t.namer}
	}
	if c.Surface == catalog.Realtime {
		return newRealtime(model, to)
	}
	if !speaks {
		return plainCodec(c, model)
	}
	spoken := spokenTo(c.Surface, to)
	switch {
	case c.Action == call.Count:
		return &counted{own: own, spoken: spoken}
	case own == spoken:
		return newPass(t.observer(own, c), c, model)
	}
	told := dialect.Told{Model: model, ID: bare(c.ID.String()), Created: c.Received, Usage: c.Request.StreamUsage}
	if own == responsesFormat {
		told.Format = formatIn(c.Body)
	}
	answer := newPair(t.upstreams[spoken], t.codecs[own], told, inputOf(c))
	answer.names = &names{most: longestName(spoken), request: func() *conversation.Request {
		request, _ := t.codecs[own].DecodeRequest(c.Body)
		return request
	}}
	return answer
}

// formatIn is the form of the answer that a body for Responses asks for, in one
// line.
func formatIn(body []byte) json.RawMessage {
	var line bytes.Buffer
	if raw := gjson.GetBytes(body, "text.format").Raw; raw == "" || json.Compact(&line, []byte(raw)) != nil {
		return nil
	}
	return line.Bytes()
}

func (t *Translator) observer(own format, c *call.Call) dialect.Observer {
	if own == chatFormat {
		return chat.NewObserver(c.Request.StreamUsage)
	}
	return t.codecs[own].Observe()
}

// passRequest edits a body for an upstream of the same format.
func passRequest(c *call.Call, to decide.Candidate, own format) (upstream.Request, *upstream.Failure) {
	want := passEdits(c, to, own)
	if want.add == "" {
		want.add = keyed(keyMember(c, to, own))
	}
	body, err := edit(c.Body, want)
	if err != nil {
		return upstream.Request{}, notAnObject(err)
	}
	slices.Sort(want.lost)
	if failure := required(c, want.lost); failure != nil {
		return upstream.Request{}, failure
	}
	at := placeOf(to, own, c.Request.Stream)
	return upstream.Request{
		Provider: to.Provider, Region: to.Endpoint.Region, Path: at.path, Query: at.query,
		Header: carried(to, c.Header), Set: hinted(demanded(own, to, c.Header), c, to),
		Body: upstream.Bytes(body), Stream: c.Request.Stream, Degraded: want.lost,
	}, nil
}

// translated decodes a body and writes it in the upstream's format.
func (t *Translator) translated(c *call.Call, to decide.Candidate, own, spoken format) (upstream.Request, *upstream.Failure) {
	encoded, failure := t.encode(c, to, own, spoken)
	if failure != nil {
		return upstream.Request{}, failure
	}
	at := placeOf(to, spoken, c.Request.Stream)
	request := upstream.Request{
		Provider: to.Provider, Region: to.Endpoint.Region, Path: at.path, Query: at.query,
		Set: hinted(demanded(spoken, to, nil), c, to), Body: upstream.Bytes(encoded.Body), Stream: c.Request.Stream,
		Degraded: encoded.Degraded,
	}
	if spoken == converseFormat {
		request.Framing = upstream.EventStream
	}
	return request, nil
}

func (t *Translator) encode(c *call.Call, to decide.Candidate, own, spoken format) (dialect.Encoded, *upstream.Failure) {
	request, wrong := t.codecs[own].DecodeRequest(c.Body)
	if len(wrong) > 0 {
		f := upstream.Fail(upstream.Rejected, nil)
		f.Fault = fault.Invalid(wrong...)
		return dialect.Encoded{}, f
	}
	if what := request.Unable(); what != "" {
		return dialect.Encoded{}, cannotCarry(what)
	}
	request.Stream = c.Request.Stream
	if key := keyMember(c, to, spoken); key != "" {
		request.CacheKey = key
	}
	fitNames(request, longestName(spoken), nil)
	encoded, err := t.upstreams[spoken].EncodeRequest(request, targetOf(to))
	if err != nil {
		return dialect.Encoded{}, cannotCarry(err.Error())
	}
	if failure := required(c, encoded.Degraded); failure != nil {
		return dialect.Encoded{}, failure
	}
	if isVertexClaude(to) {
		if encoded.Body, err = edit(encoded.Body, &edits{drop: []string{"model"}, add: vertexVersion}); err != nil {
			return dialect.Encoded{}, upstream.Fail(upstream.Internal, err)
		}
	}
	return encoded, nil
}

// required is the failure of a request of which nothing may be left out.
func required(c *call.Call, degraded []string) *upstream.Failure {
	if len(degraded) == 0 || !c.Request.Provider.RequireParameters {
		return nil
	}
	return cannotCarry("the format of the remaining providers has no place for " + strings.Join(degraded, ", "))
}

// cannotCarry says what keeps a candidate from being asked.
func cannotCarry(what string) *upstream.Failure {
	f := upstream.Fail(upstream.CannotCarry, nil)
	f.Fault.Message = "No endpoint of the model can carry this request: " + what + "."
	f.Fault.Origin = fault.Client // nothing was sent
	return f
}

func notAnObject(err error) *upstream.Failure {
	f := upstream.Fail(upstream.Rejected, err)
	f.Fault.Message = "The body cannot be sent on: it is not what its content type says."
	f.Fault.Status = http.StatusBadRequest
	return f
}

// bare is a request's id without its kind's prefix.
func bare(id string) string {
	_, rest, _ := strings.Cut(id, "_")
	return rest
}

// inputOf is the estimate of a request's tokens.
func inputOf(c *call.Call) int64 {
	if c.Request.InputTokens > 0 {
		return c.Request.InputTokens
	}
	return int64(len(c.Body)) / meter.BytesPerToken
}
