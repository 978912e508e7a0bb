package simulator

import (
	"compress/gzip"
	"io"
	"net/http"
	"time"
)

// stream writes a reply event by event.
func (x *exchange) stream(d dialect, frames []frame) {
	if _, ok := d.(geminiFormat); ok && x.r.URL.Query().Get("alt") != "sse" {
		x.array(frames)
		return
	}
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache")
	s := &eventWriter{exchange: x, out: x.w, began: time.Now()}
	if x.fault.Gzip {
		x.w.Header().Set("Content-Encoding", "gzip")
		s.zip = gzip.NewWriter(x.w)
		s.out = s.zip
	}
	x.w.WriteHeader(http.StatusOK)
	x.flush()
	if x.fault.ErrorFirst {
		s.send(d.failureFrame(midStream))
		s.close()
		return
	}
	for _, fr := range frames {
		if x.fault.NoDone && fr.kind == frameTerminal {
			continue
		}
		if !s.step(d, fr) {
			return
		}
	}
	s.close()
}

// midStream is the error of error-first and error-mid.
var midStream = refusal{status: http.StatusServiceUnavailable, message: "The simulated provider is overloaded on request."}

// errorMidAfter is how many content events come before the error of error-mid.
const errorMidAfter = 2

// eventWriter counts the content events, which faults go by.
type eventWriter struct {
	*exchange
	out     io.Writer
	zip     *gzip.Writer
	began   time.Time
	content int
}

// step writes one frame and what the fault puts behind it; false ends the
// stream.
func (s *eventWriter) step(d dialect, fr frame) bool {
	f := s.fault
	if fr.kind == frameContent && !s.pace() {
		return false
	}
	if !s.send(fr) {
		return false
	}
	if fr.kind != frameContent {
		return true
	}
	s.content++
	switch {
	case s.content == f.CutAfter:
		panic(http.ErrAbortHandler)
	case s.content == f.HangAfter:
		<-s.r.Context().Done()
		return false
	case s.content == f.Malformed:
		return s.send(frame{data: `{"id": "unfinished`})
	case f.ErrorMid && s.content == errorMidAfter:
		s.send(d.failureFrame(midStream))
		s.close()
		return false
	}
	return true
}

// pace waits until the next content event is due.
func (s *eventWriter) pace() bool {
	if s.fault.TPS <= 0 {
		return true
	}
	due := time.Duration(float64(s.content) / s.fault.TPS * float64(time.Second))
	return s.sleep(due - time.Since(s.began))
}

func (s *eventWriter) send(fr frame) bool {
	raw := s.fault.spelled(fr)
	if s.fault.Trickle {
		s.trickle(s.out, []byte(raw))
		return s.r.Context().Err() == nil
	}
	if _, err := io.WriteString(s.out, raw); err != nil {
		return false
	}
	if s.zip != nil {
		_ = s.zip.Flush()
	}
	s.flush()
	return s.r.Context().Err() == nil
}

func (s *eventWriter) close() {
	if s.zip != nil {
		_ = s.zip.Close()
	}
}

// array is Gemini's stream without alt=sse: one JSON array.
func (x *exchange) array(frames []frame) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(http.StatusOK)
	sep := "["
	for _, fr := range frames {
		if _, err := io.WriteString(x.w, sep+fr.data); err != nil {
			return
		}
		x.flush()
		sep = ",\n"
	}
	_, _ = io.WriteString(x.w, "]") // the caller may have gone
}
