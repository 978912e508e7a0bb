package simulator

import (
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Request is what the provider received.
type Request struct {
	At      time.Time
	Method  string
	Path    string
	Query   url.Values
	Header  http.Header
	Body    []byte // at most Options.KeepBytes
	Model   string
	Done    bool // the answer ended
	Aborted bool // because the caller went away
}

// Stats counts since the start or the last Forget.
type Stats struct {
	Total   int64 // requests received
	Active  int64 // being answered now
	Aborted int64 // ended because the caller went away
	Open    int64 // connections now; needs Attach
}

// recorder keeps the newest requests.
type recorder struct {
	mu       sync.Mutex
	keep     int
	requests []*Request
	stats    Stats
}

func (c *recorder) begin(r *http.Request, model string, body []byte, now time.Time) *Request {
	entry := &Request{
		At: now, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body, Model: model,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Total++
	c.stats.Active++
	if c.keep < 0 {
		return entry
	}
	c.requests = append(c.requests, entry)
	if over := len(c.requests) - c.keep; over > 0 {
		c.requests = append(c.requests[:0], c.requests[over:]...)
	}
	return entry
}

func (c *recorder) end(entry *Request, aborted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry.Done, entry.Aborted = true, aborted
	c.stats.Active--
	if aborted {
		c.stats.Aborted++
	}
}

// Requests returns the newest requests, oldest first.
func (s *Server) Requests() []Request {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	out := make([]Request, 0, len(s.record.requests))
	for _, r := range s.record.requests {
		out = append(out, *r)
	}
	return out
}

// For returns the kept requests for one model, oldest first.
func (s *Server) For(model string) []Request {
	var out []Request
	for _, r := range s.Requests() {
		if r.Model == model {
			out = append(out, r)
		}
	}
	return out
}

// Stats returns the counts.
func (s *Server) Stats() Stats {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	stats := s.record.stats
	stats.Open = s.open.Load()
	return stats
}

// Forget empties the record and the counts of what has ended.
func (s *Server) Forget() {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	s.record.requests = nil
	s.record.stats = Stats{Active: s.record.stats.Active}
}
