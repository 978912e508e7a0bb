package simulator

import (
	"io"
	"net/http"
	"time"
)

// framing is how the events of a stream are spelled.
type framing interface {
	media() string
	spell(f Fault, fr frame) []byte
	end() []byte
}

// framed formats have a framing of their own; the others are server-sent
// events.
type framed interface {
	framing(x *exchange) framing
}

// stream writes a reply event by event.
func (x *exchange) stream(frames []frame) {
	var how framing = events{}
	if own, ok := x.format().(framed); ok {
		how = own.framing(x)
	}
	x.streamAs(how, frames)
}

func (x *exchange) streamAs(how framing, frames []frame) {
	x.head(how.media())
	x.w.Header().Set("Cache-Control", "no-cache")
	s := &eventWriter{exchange: x, out: x.w, how: how, began: time.Now()}
	if z := newCompressor(x.fault.Encoding, x.w); z != nil {
		s.zip, s.out = z, z
	}
	x.w.WriteHeader(http.StatusOK)
	x.flush()
	if x.fault.ErrorFirst {
		s.send(x.format().failureFrame(midStream))
		s.close()
		return
	}
	for _, fr := range frames {
		if x.fault.NoDone && fr.kind == frameTerminal {
			continue
		}
		if !s.step(fr) {
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
	how     framing
	out     io.Writer
	zip     compressor
	began   time.Time
	content int
}

// step writes one frame and what the fault puts behind it; false ends the
// stream.
func (s *eventWriter) step(fr frame) bool {
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
		s.send(s.format().failureFrame(midStream))
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
	if !s.put(s.out, s.how.spell(s.fault, fr)) {
		return false
	}
	s.flush()
	return s.r.Context().Err() == nil
}

func (s *eventWriter) close() {
	s.put(s.out, s.how.end())
	if s.zip != nil {
		_ = s.zip.Close()
	}
	s.tail()
}

// events are server-sent events.
type events struct{}

func (events) media() string { return "text/event-stream; charset=utf-8" }

func (events) spell(f Fault, fr frame) []byte { return []byte(f.spelled(fr)) }

func (events) end() []byte { return nil }
