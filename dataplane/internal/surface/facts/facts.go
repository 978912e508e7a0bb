// Package facts owns what the gateway must know of a request: it reads the
// members of the body and the headers that routing, limits and recording look
// at, and leaves every byte as it is. It knows nothing of policy, the catalog
// or upstreams.
package facts

import (
	"net/http"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Bounds of what a request may say about itself.
const (
	MaxModels        = 25  // entries of "models"
	MaxNameBytes     = 256 // of a model name
	MaxIDBytes       = 512 // of a session id, an end user's id
	MaxMetadata      = 32  // entries, header and body together
	MaxMetadataBytes = 4 << 10
	MaxRequestID     = 128

	// maxViolations bounds what a caller is told of one body: members may stand
	// in it any number of times.
	maxViolations = 64
)

// Options are what is known of a request beside its body and headers.
type Options struct {
	MaxFirstByte time.Duration // the most that x-signalbox-timeout-ms may ask for
	Model        string        // from the path; "" when the body names it
	Stream       bool          // the path asks for a stream
}

// Format is one body format: what of it is read, and what must be there. The
// gateway looks no deeper than it needs; the rest is the upstream's to judge.
type Format struct {
	member   func(r *reader, key string, value []byte) // of a JSON body
	field    func(r *reader, f *field)                 // of a form; nil: the format has none
	required []required
}

// required is a member without which a request means nothing.
type required struct {
	names    []string // any of them
	accepted string   // "must be an array of messages"
}

// Read returns the facts of a JSON body in a format. The fault lists every
// wrong member at once.
func Read(format Format, body []byte, h http.Header, o Options) (call.Request, *fault.Error) {
	var r reader
	r.begin(h, o)
	there := 0
	members := rawjson.NewObject(body)
	for members.Next() {
		key, value := nameOf(&members), members.Value()
		if !rawjson.IsNull(value) {
			there |= format.marks(key)
		}
		format.member(&r, key, value)
	}
	if syntax := members.Err(); syntax != nil {
		return r.request, fault.Newf(fault.InvalidJSON, "The body is not valid JSON: %s.", syntax)
	}
	r.missing(format, there)
	return r.finish()
}

// usual are names that most bodies have. Reading one of these makes no text.
var usual = map[string]string{
	"model": "model", "messages": "messages", "input": "input", "contents": "contents", "prompt": "prompt", "system": "system",
	"instructions": "instructions", "systemInstruction": "systemInstruction", "tools": "tools", "tool_choice": "tool_choice",
	"stream": "stream", "stream_options": "stream_options", "temperature": "temperature", "top_p": "top_p",
	"max_tokens": "max_tokens", "max_completion_tokens": "max_completion_tokens", "max_output_tokens": "max_output_tokens",
	"generationConfig": "generationConfig", "response_format": "response_format", "metadata": "metadata", "user": "user",
	"provider": "provider", "session_id": "session_id", "thinking": "thinking", "reasoning": "reasoning", "reasoning_effort": "reasoning_effort",
}

func nameOf(member *rawjson.Object) string {
	if name, ok := usual[string(member.Key())]; ok {
		return name
	}
	return member.Name()
}

// ReadHead returns the facts of a request that has no body.
func ReadHead(h http.Header, o Options) (call.Request, *fault.Error) {
	var r reader
	r.begin(h, o)
	return r.finish()
}

// marks has the bits of what is required and given by a member of this name.
func (f *Format) marks(name string) (bits int) {
	for i := range f.required {
		if slices.Contains(f.required[i].names, name) {
			bits |= 1 << i
		}
	}
	return bits
}

// reader gathers the facts of one request. Members that come twice overwrite:
// the last one wins, as with every JSON parser that upstreams use.
type reader struct {
	request    call.Request
	violations []fault.Violation

	sessionHeader string
	userHeader    string
	session       string // the client's own, found inside something else
	identifier    string // safety_identifier, which "user" wins over
	textBytes     int64
	tokens        int64          // of media, and of text that came as tokens
	stored        bool           // the conversation is kept by the provider
	newCap        bool           // max_completion_tokens was there
	metadata      map[string]any // the body's
	purpose       string         // of an uploaded file
	batchModel    string         // which the first request of an uploaded file names
	once          []string       // the fields of a form that may stand once, and did
}

func (r *reader) begin(h http.Header, o Options) {
	r.headers(h, o)
	r.request.Stream = o.Stream
	if len(o.Model) > MaxNameBytes {
		r.wrong("model", tooLong, "must have at most 256 bytes")
		return
	}
	r.request.Model = o.Model
}

// missing lists what is required and not there.
func (r *reader) missing(format Format, there int) {
	for i, q := range format.required {
		if there&(1<<i) == 0 {
			r.wrong(q.names[0], "required", "is required and "+q.accepted)
		}
	}
}

func (r *reader) finish() (call.Request, *fault.Error) {
	q := &r.request
	if q.Model == "" && r.isBatch() {
		q.Model = r.batchModel
	}
	q.SessionID = firstOf(q.SessionID, r.sessionHeader, r.session)
	q.EndUser = firstOf(q.EndUser, r.identifier, r.userHeader)
	for key, value := range r.metadata {
		if q.Metadata == nil {
			q.Metadata = make(map[string]any, len(r.metadata))
		}
		q.Metadata[key] = value
	}
	if len(q.Metadata) > MaxMetadata {
		r.wrong("metadata", "too_many", "must have at most 32 entries, those of x-signalbox-metadata included")
	}
	slices.Sort(q.Parameters)
	q.Parameters = slices.Compact(q.Parameters)
	slices.Sort(q.Needs)
	// Four bytes a token is what English text takes, and an underestimate for
	// most else: an overestimate would drop endpoints that could serve.
	q.InputTokens = max(r.textBytes, 0)/4 + r.tokens
	if len(r.violations) > 0 {
		return r.request, fault.Invalid(r.violations...)
	}
	return r.request, nil
}

// firstOf is the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (r *reader) need(m catalog.Modality) {
	if !slices.Contains(r.request.Needs, m) {
		r.request.Needs = append(r.request.Needs, m)
	}
}

func (r *reader) wrong(path, code, message string) {
	r.add(fault.Violation{Path: path, Code: code, Message: message})
}

func (r *reader) add(violations ...fault.Violation) {
	room := maxViolations - len(r.violations)
	r.violations = append(r.violations, violations[:min(len(violations), room)]...)
}
