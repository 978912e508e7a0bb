package facts

import (
	"net/http"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// The request headers, in canonical form.
const (
	headerTimeout   = "X-Signalbox-Timeout-Ms"
	headerMetadata  = "X-Signalbox-Metadata"
	headerSession   = "X-Signalbox-Session-Id"
	headerSessionID = "X-Session-Id"
	headerUser      = "X-Signalbox-User-Id"
	headerAgent     = "X-Signalbox-Agent-Id"
	headerRequestID = "X-Request-Id"
)

const minFirstByte = time.Second

func (r *reader) headers(h http.Header, o Options) {
	q := &r.request
	if v := first(h, headerTimeout); v != "" {
		q.FirstByte = firstByte(v, o.MaxFirstByte)
	}
	if v := first(h, headerMetadata); v != "" {
		r.metadataHeader(v)
	}
	if r.sessionHeader = r.idHeader(h, headerSession); r.sessionHeader == "" {
		r.sessionHeader = r.idHeader(h, headerSessionID)
	}
	r.userHeader = r.idHeader(h, headerUser)
	q.Agent = r.agentHeader(h)
	q.ClientRequestID = ClientRequestID(h)
}

// firstByte reads whole milliseconds, clamped to what the server allows;
// anything else counts as not given.
func firstByte(text string, most time.Duration) time.Duration {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0
		}
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms > int64(most/time.Millisecond) {
		return most // more digits than a number has is more than the most
	}
	return max(minFirstByte, time.Duration(ms)*time.Millisecond)
}

func (r *reader) metadataHeader(text string) {
	switch value := []byte(text); {
	case len(text) > MaxMetadataBytes:
		r.wrong(headerMetadataName, tooLong, "must have at most 4096 bytes")
	case !gjson.ValidBytes(value) || !gjson.ParseBytes(value).IsObject():
		r.wrong(headerMetadataName, wrongType, "must be a JSON object")
	default:
		var ok bool
		if r.request.Metadata, ok = primitives(value); !ok {
			r.wrong(headerMetadataName, wrongType, "must hold only strings, numbers, booleans and null")
		}
	}
}

const headerMetadataName = "x-signalbox-metadata"

// idHeader reads an identifier; one that is too long is wrong rather than cut,
// because cutting could make two of them one.
func (r *reader) idHeader(h http.Header, header string) string {
	v := first(h, header)
	if len(v) > MaxIDBytes {
		r.wrong(header, tooLong, "must have at most 512 bytes")
		return ""
	}
	return v
}

// agentHeader reads the name of the agent that a request counts toward. One that
// is no name is wrong rather than passed over: a budget would not be held against
// the request.
func (r *reader) agentHeader(h http.Header) string {
	v := first(h, headerAgent)
	switch {
	case v == "" && h[headerAgent] != nil:
		r.wrong(headerAgentName, outOfSet, "must not be empty")
	case len(h[headerAgent]) > 1:
		r.wrong(headerAgentName, duplicate, "must not stand twice")
	case len(v) > wire.MaxAgent:
		r.wrong(headerAgentName, tooLong, "must have at most "+strconv.Itoa(wire.MaxAgent)+" bytes")
	case !printable(v):
		r.wrong(headerAgentName, wrongType, "must be printable text")
	default:
		return v
	}
	return ""
}

const headerAgentName = "x-signalbox-agent-id"

// printable reports whether a text is UTF-8 without control characters.
func printable(text string) bool {
	for _, c := range text {
		if c == utf8.RuneError || unicode.IsControl(c) {
			return false
		}
	}
	return true
}

// ClientRequestID is the caller's own id of the request, when it is 1 to 128
// printable ASCII characters.
func ClientRequestID(h http.Header) string {
	v := first(h, headerRequestID)
	if len(v) > MaxRequestID {
		return ""
	}
	for _, c := range []byte(v) {
		if c < ' ' || c > '~' {
			return ""
		}
	}
	return v
}

// first is Header.Get for a name that is canonical already.
func first(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
