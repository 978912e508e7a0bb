package simulator

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// SetFault makes every request for model misbehave; "" is every model.
func (s *Server) SetFault(model string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[model] = f
}

// FailNext makes the next n requests, for whatever model, misbehave.
func (s *Server) FailNext(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.next = append(s.next, f)
	}
}

// HandleModel hands requests for model to h, for replies that must be exact to
// the byte. A nil h ends that.
func (s *Server) HandleModel(model string, h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h == nil {
		delete(s.handlers, model)
		return
	}
	s.handlers[model] = h
}

// Behave ends what SetFault, FailNext and HandleModel began, and forgets the
// counts of the times fault.
func (s *Server) Behave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
	clear(s.times)
	clear(s.handlers)
	s.next = nil
}

func (s *Server) handler(model string) http.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handlers[model]
}

// faultFor takes the nearest source: header, FailNext, SetFault, model name.
func (s *Server) faultFor(x *exchange) (Fault, error) {
	f, err := s.faultSource(x)
	if err != nil {
		return Fault{}, err
	}
	if rate, err := strconv.ParseFloat(x.r.Header.Get("X-Sim-Tps"), 64); err == nil && rate > 0 {
		f.TPS = rate
	}
	if f.TPS == 0 {
		f.TPS = s.options.TokensPerSecond
	}
	if f.Times == 0 {
		return f, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[x.model]++
	if s.times[x.model] > f.Times {
		return Fault{TPS: f.TPS}, nil
	}
	return f, nil
}

func (s *Server) faultSource(x *exchange) (Fault, error) {
	if terms := x.r.Header.Get("X-Sim-Fault"); terms != "" {
		return ParseFault(terms)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.next) > 0 {
		f := s.next[0]
		s.next = s.next[1:]
		return f, nil
	}
	for _, model := range []string{x.model, ""} {
		if f, ok := s.faults[model]; ok {
			return f, nil
		}
	}
	if x.r.Method != http.MethodPost && !x.upgrades() {
		return Fault{}, nil // what a name asks for came with the submission
	}
	f, _, err := FaultOf(x.model)
	return f, err
}

// before does what goes wrong before the head; true means that it answered.
func (x *exchange) before() bool {
	f := x.fault
	if f.Stale && x.reused {
		panic(http.ErrAbortHandler)
	}
	if f.Latency > 0 && !x.sleep(f.Latency) {
		return true
	}
	if f.Early {
		x.w.Header().Set("Link", "</style.css>; rel=preload")
		x.w.WriteHeader(http.StatusEarlyHints)
		x.w.Header().Del("Link")
	}
	if f.GoAway {
		x.w.Header().Set("Connection", "close")
	}
	switch {
	case f.Hang:
		<-x.r.Context().Done()
	case f.Reset:
		x.reset()
	case f.HTML:
		status := f.Status
		if status == 0 {
			status = http.StatusBadGateway
		}
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(status)
		_, _ = io.WriteString(x.w, "<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n")
	case f.Redirect:
		x.w.Header().Set("Location", "/moved"+x.r.URL.Path)
		x.w.WriteHeader(http.StatusFound)
	case f.Trouble != "":
		e := x.format().worded(trouble(f.Trouble))
		x.refuse(&e)
	case f.Status != 0 && f.Status != http.StatusOK:
		x.refuse(&refusal{status: f.Status, message: "The simulated provider fails with status " + strconv.Itoa(f.Status) + " on request."})
	case f.Garbage:
		x.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(x.w, "\x00\xff{\"id\": garbage, <<<")
	default:
		return false
	}
	return true
}

// reset ends the TCP connection with RST where the server allows it.
func (x *exchange) reset() {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a close without linger is a reset
	}
	_ = conn.Close()
}

// sleep reports whether the caller is still there.
func (x *exchange) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.r.Context().Done():
		return false
	}
}

// spelled is a frame on the wire.
func (f Fault) spelled(fr frame) string {
	space := " "
	if f.NoSpace {
		space = ""
	}
	var b strings.Builder
	if f.Comments {
		b.WriteString(": a comment\n")
	}
	if fr.event != "" {
		b.WriteString("event:" + space + fr.event + "\n")
	}
	b.WriteString("data:" + space + fr.data + "\n\n")
	if f.CRLF {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}
