package provider

import (
	"context"
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
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    o.Connect,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
		MaxIdleConnsPerHost:    o.IdlePerHost,
		IdleConnTimeout:        o.IdleTimeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

// sighting is what was seen of the connection of one call. The transport's
// goroutines write it.
type sighting struct {
	trace    httptrace.ClientTrace
	reused   atomic.Bool
	answered atomic.Bool
}

// trace watches the connection that a call gets.
func trace(ctx context.Context) (context.Context, *sighting) {
	s := &sighting{}
	s.trace = httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			s.reused.Store(info.Reused)
			s.answered.Store(false)
		},
		GotFirstResponseByte: func() { s.answered.Store(true) },
	}
	return httptrace.WithClientTrace(ctx, &s.trace), s
}

// stale reports that err came on a kept connection before any byte.
func (s *sighting) stale(err error) bool {
	return s.reused.Load() && !s.answered.Load() && isClosed(err)
}
