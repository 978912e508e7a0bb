package provider

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

const (
	maxResponseHeader = 256 << 10
	keepAlive         = 30 * time.Second
	pingAfter         = 15 * time.Second // of silence on an HTTP/2 connection
)

func (o Options) withDefaults() Options {
	if o.Connect <= 0 {
		o.Connect = 10 * time.Second
	}
	if o.ErrorBody <= 0 {
		o.ErrorBody = 5 * time.Second
	}
	if o.IdlePerHost <= 0 {
		o.IdlePerHost = 512
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 90 * time.Second
	}
	if o.UserAgent == "" {
		o.UserAgent = "signalbox"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// newTransport has no limit on connections: the gates before it decide how
// much runs. It never follows redirects, since it is used without a client,
// and leaves compression to us, because a transport that inflates hides what
// the provider sent.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: o.Connect, KeepAlive: keepAlive}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &line{Conn: conn}, nil
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dial,
		TLSHandshakeTimeout:    o.Connect,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
		MaxIdleConnsPerHost:    o.IdlePerHost,
		IdleConnTimeout:        o.IdleTimeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

var errStrange = errors.New("what came on the connection was there before the request")

// sighting is what was seen of the connection of one call. The transport's
// goroutines write it.
type sighting struct {
	trace    httptrace.ClientTrace
	reused   atomic.Bool
	answered atomic.Bool
	strange  atomic.Bool          // what came was there before the request
	line     atomic.Pointer[line] // nil when it cannot be told
}

// trace watches the connection that a call gets.
func trace(ctx context.Context) (context.Context, *sighting) {
	s := &sighting{}
	s.trace = httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			l := lineOf(info.Conn)
			if l != nil {
				l.take()
			}
			s.line.Store(l)
			s.reused.Store(info.Reused)
			s.answered.Store(false)
			s.strange.Store(false)
		},
		GotFirstResponseByte: func() {
			if l := s.line.Load(); l != nil && !l.answered() {
				s.strange.Store(true)
				return
			}
			s.answered.Store(true)
		},
	}
	return httptrace.WithClientTrace(ctx, &s.trace), s
}

// stale reports that err came on a kept connection before any byte that can be
// an answer.
func (s *sighting) stale(err error) bool {
	if s.strange.Load() {
		return true
	}
	return s.reused.Load() && !s.answered.Load() && isClosed(err)
}
