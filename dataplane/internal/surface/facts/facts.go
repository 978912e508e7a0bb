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
)

// Options are the server's part in reading a request.
type Options struct {
	MaxFirstByte time.Duration // the most that x-signalbox-timeout-ms may ask for
}

// Format reads the members of one body format.
type Format func(r *reader, key string, value []byte)

// Read returns the facts of a JSON body in a format. The fault lists every
// wrong member at once.
func Read(format Format, body []byte, h http.Header, o Options) (call.Request, *fault.Error) {
	var r reader
	r.headers(h, o)
	members := rawjson.NewObject(body)
	for members.Next() {
		format(&r, members.Name(), members.Value())
	}
	if syntax := members.Err(); syntax != nil {
		return r.request, fault.Newf(fault.InvalidJSON, "The body is not valid JSON: %s.", syntax)
	}
	r.finish()
	if len(r.violations) > 0 {
		return r.request, fault.Invalid(r.violations...)
	}
	return r.request, nil
}

// reader gathers the facts of one request. Members that come twice overwrite:
// the last one wins, as with every JSON parser that upstreams use.
type reader struct {
	request    call.Request
	violations []fault.Violation

	sessionHeader string
	userHeader    string
	textBytes     int64
	mediaTokens   int64
	newCap        bool           // max_completion_tokens was there
	metadata      map[string]any // the body's
}

func (r *reader) finish() {
	q := &r.request
	if q.SessionID == "" {
		q.SessionID = r.sessionHeader
	}
	if q.EndUser == "" {
		q.EndUser = r.userHeader
	}
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
	q.InputTokens = r.textBytes/4 + r.mediaTokens
}

func (r *reader) need(m catalog.Modality) {
	if !slices.Contains(r.request.Needs, m) {
		r.request.Needs = append(r.request.Needs, m)
	}
}

func (r *reader) wrong(path, code, message string) {
	r.violations = append(r.violations, fault.Violation{Path: path, Code: code, Message: message})
}
