package surface

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/jsonarray"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// The response headers that the edge writes, in canonical form.
const (
	headerRequestID       = "X-Signalbox-Request-Id"
	headerClientRequestID = "X-Request-Id"
	headerAnthropicID     = "Request-Id"
	headerRetryAfter      = "Retry-After"
	headerShouldRetry     = "X-Should-Retry"
	headerType            = "Content-Type"
	headerLength          = "Content-Length"
)

const (
	typeJSON = "application/json"
	typeSSE  = "text/event-stream"
)

// longestPause is the most that an SDK is left to wait by itself: some wait as
// long as Retry-After says, which is until tomorrow where a day's limit is
// reached, and say nothing to the application meanwhile.
const longestPause = 2 * time.Minute

// mostWritten is how much is written under one deadline: a caller who takes a
// large answer slowly is slow, not gone.
const mostWritten = 256 << 10

// sink writes one response over HTTP. It implements call.Sink.
type sink struct {
	w       http.ResponseWriter
	control *http.ResponseController
	form    envelope.Format
	call    *call.Call
	stall   time.Duration

	status  int
	started bool
	stream  bool              // flushed at every write
	array   *jsonarray.Framer // set where a stream goes out as a JSON array
	framing bool              // it does
	framed  []byte
	ending  []byte        // the failure in which the array ends
	request *http.Request // set where the sink may be upgraded
	talk    *told         // the two-way conversation, once it is one
	cut     bool          // the response is incomplete and cannot say so itself
	armed   time.Time     // when the write deadline was set last
	next    int64         // number of the next event, where events have one
}

// unwrapper is gin's writer: flushing past it is the only way to see whether
// the flush failed.
type unwrapper interface{ Unwrap() http.ResponseWriter }

func newSink(w http.ResponseWriter, form envelope.Format, c *call.Call, stall time.Duration) *sink {
	s := &sink{w: w, form: form, call: c, stall: stall}
	inner := w
	if u, ok := w.(unwrapper); ok {
		inner = u.Unwrap()
	}
	s.control = http.NewResponseController(inner)
	return s
}

// Start implements call.Sink.
func (s *sink) Start(head call.Head) error {
	if s.array != nil && strings.HasPrefix(head.Header.Get(headerType), typeSSE) {
		s.framing = true
	}
	s.begin(head.Status, head.Header)
	if s.framing {
		s.w.Header()[headerType] = []string{typeJSON}
	}
	kind := s.w.Header().Get(headerType)
	// What has no declared length may take long to come and is wanted early.
	s.stream = s.framing || strings.HasPrefix(kind, typeSSE) || !strings.HasPrefix(kind, typeJSON)
	s.w.WriteHeader(head.Status)
	return nil
}

// Write implements call.Sink.
func (s *sink) Write(p []byte) error {
	if err := s.WriteLast(p); err != nil || !s.stream {
		return err
	}
	return s.flush()
}

// WriteLast writes bytes that leave with the end of the response, which net/http
// sends when the handler returns.
func (s *sink) WriteLast(p []byte) error {
	if s.framing {
		s.framed = s.array.Append(s.framed[:0], p)
		p = s.framed
	}
	return s.write(p)
}

func (s *sink) flush() error {
	if err := s.control.Flush(); err != nil {
		return gone(err)
	}
	return nil
}

func (s *sink) write(p []byte) error {
	if s.stream && s.form == envelope.Responses {
		s.count(p)
	}
	for first := true; first || len(p) > 0; first = false {
		part := p[:min(len(p), mostWritten)]
		p = p[len(part):]
		s.arm()
		if _, err := s.w.Write(part); err != nil {
			return gone(err)
		}
	}
	return nil
}

// Fail implements call.Sink.
func (s *sink) Fail(failure *fault.Error, header http.Header) {
	id := s.call.ID.String()
	if s.talk != nil {
		s.talk.fail(s.request.Context(), s.form.Event(failure, id))
		return
	}
	if s.framing {
		s.ending = s.form.Body(failure, id) // the array's last element
		return
	}
	if s.started {
		if !s.stream || !strings.HasPrefix(s.w.Header().Get(headerType), typeSSE) {
			s.cut = true
			return
		}
		_ = s.Write(s.form.Frame(failure, id, s.next)) // nobody is left to tell when it fails
		return
	}
	body := s.form.Body(failure, id)
	s.begin(envelope.Status(failure), header)
	h := s.w.Header()
	h[headerType] = []string{typeJSON}
	h[headerLength] = []string{strconv.Itoa(len(body))}
	if failure.RetryAfter > 0 {
		seconds := int64((failure.RetryAfter + time.Second - 1) / time.Second)
		h[headerRetryAfter] = []string{strconv.FormatInt(seconds, 10)}
	}
	if !worthRepeating(failure, s.status) {
		h[headerShouldRetry] = []string{"false"}
	}
	if failure.Code == fault.PayloadTooLarge || failure.Code == fault.Unavailable || failure.Reason == fault.BodyTimeout {
		h["Connection"] = []string{"close"} // the rest of the body is not read
	}
	s.w.WriteHeader(s.status)
	_, _ = s.w.Write(body) // nobody is left to tell when it fails
}

// worthRepeating says whether SDKs do well to repeat the request by themselves,
// of the statuses at which they would.
func worthRepeating(failure *fault.Error, status int) bool {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		return failure.Retryable && failure.RetryAfter <= longestPause
	}
	return true
}

var sequence = []byte(`"sequence_number":`)

// count notes the number of the last event that was sent. Its own member is the
// outermost and, in what OpenAI sends, also the last or first; one in the text
// of a message is escaped.
func (s *sink) count(p []byte) {
	i := bytes.LastIndex(p, sequence)
	if i < 0 {
		return
	}
	digits := bytes.TrimLeft(p[i+len(sequence):], " ")
	end := 0
	for end < len(digits) && '0' <= digits[end] && digits[end] <= '9' {
		end++
	}
	if n, err := strconv.ParseInt(string(digits[:end]), 10, 64); err == nil {
		s.next = n + 1
	}
}

// Started implements call.Sink.
func (s *sink) Started() bool { return s.started }

// Status implements call.Sink.
func (s *sink) Status() int { return s.status }

// end is called when nothing more is written. A response that is incomplete
// without saying so ends the connection: to the caller it must not look whole.
// That goes for one that never began too, which net/http would make an empty
// 200 of: a caller who only closed the sending half would believe it. What
// net/http still holds of a response goes out under the deadline, which it
// lifts then.
func (s *sink) end() {
	if s.talk != nil {
		return
	}
	if s.framing && !s.cut {
		s.framed = s.array.End(s.framed[:0], s.ending)
		_ = s.write(s.framed) // nobody is left to tell when it fails
	}
	if s.cut || !s.started {
		panic(http.ErrAbortHandler)
	}
	s.arm()
}

// begin writes the header that every response has.
func (s *sink) begin(status int, header http.Header) {
	s.started, s.status = true, status
	s.arm() // the smallest answer waits when earlier ones, which nobody took, fill the buffers
	h := s.w.Header()
	for name, values := range header {
		h[name] = values
	}
	own := []string{s.call.ID.String()}
	h[headerRequestID] = own
	// SDKs show x-request-id in their exceptions, Anthropic's request-id: the
	// caller's own, or ours.
	if client := s.call.Request.ClientRequestID; client != "" {
		own = []string{client}
	}
	h[headerClientRequestID] = own
	if s.form == envelope.Anthropic {
		h[headerAnthropicID] = own
	}
}

// arm sets the deadline for the caller to take something, again at most once
// in a quarter of its length: setting one for every event would cost more than
// the write.
func (s *sink) arm() {
	now := time.Now()
	if s.stall <= 0 || now.Sub(s.armed) < s.stall/4 {
		return
	}
	s.armed = now
	_ = s.control.SetWriteDeadline(now.Add(s.stall + s.stall/4)) // a recorder in tests has none
}

func gone(err error) error {
	return fault.Wrap(err, fault.ClientClosed, "The caller closed the connection.")
}
