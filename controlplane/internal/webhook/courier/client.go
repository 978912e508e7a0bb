package courier

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
)

// The bounds of an attempt.
const (
	within        = 10 * time.Second // all of it
	connectWithin = 4 * time.Second  // to one address
	maxHeader     = 16 << 10
	maxBody       = 4 << 10 // of the answer, which nobody sees
)

// ClientOptions are what a Client works with.
type ClientOptions struct {
	Resolver webhook.Resolver
	Now      func() time.Time
	Agent    string         // the User-Agent header
	Open     bool           // any address may be reached: for development and tests alone
	Roots    *x509.CertPool // nil: those of the machine
}

// Client makes attempts. It connects to addresses of the public internet alone,
// which it checks on the very address that it connects to, takes no proxy from
// the environment, keeps no connection and follows no redirect.
type Client struct {
	o         ClientOptions
	dialer    net.Dialer
	transport *http.Transport
}

// NewClient returns a Client.
func NewClient(o ClientOptions) *Client {
	c := &Client{o: o}
	c.dialer = net.Dialer{Timeout: connectWithin, KeepAlive: -1, ControlContext: c.control}
	c.transport = &http.Transport{
		DialContext: c.dial, DisableKeepAlives: true, DisableCompression: true, TLSHandshakeTimeout: within,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
		MaxResponseHeaderBytes: maxHeader,
	}
	return c
}

var errForbidden = errors.New("the address may not be reached")

// Send implements webhook.Sender.
func (c *Client) Send(ctx context.Context, s webhook.Shipment) webhook.Attempt {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a := webhook.Attempt{At: txn.Moment(c.o.Now())}
	began := time.Now() // a duration, which an injected clock does not have
	var err error
	a.Status, err = c.send(ctx, s, a.At)
	a.Duration = time.Since(began).Round(time.Millisecond)
	a.Trouble = troubleOf(a.Status, err)
	return a
}

func (c *Client) send(ctx context.Context, s webhook.Shipment, at time.Time) (status int, err error) {
	if _, err := webhook.ParseTarget(s.URL, c.o.Open); err != nil {
		return 0, errForbidden // it was admitted under other rules
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(s.Body))
	if err != nil {
		return 0, err
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {c.o.Agent},
		webhook.HeaderSignature: {webhook.Sign(s.Body, at, s.Secrets...)},
		webhook.HeaderEventID:   {s.Event.String()}, webhook.HeaderEventType: {string(s.Type)},
	}
	transport := c.transport.Clone()
	// With the attempt's own context: the transport's lets it go on when the attempt
	// is over, to one after the other of as many addresses as a name has.
	transport.DialContext = func(_ context.Context, network, hostPort string) (net.Conn, error) {
		return c.dial(ctx, network, hostPort)
	}
	response, err := transport.RoundTrip(request) // no client, which would follow redirects
	if err != nil {
		return 0, err
	}
	// Read for the receiver's sake, which may mind to be cut off. What it says
	// does not matter, nor whether it says it to the end.
	_, _ = io.CopyN(io.Discard, response.Body, maxBody)
	_ = response.Body.Close()
	return response.StatusCode, nil
}

// dial looks the host up and connects to one of its addresses. A host of which
// one address may not be reached is not reached at all: who answers with such a
// mix is trying. The connection is of use until ctx ends: of one whose protocol the
// receiver switches the transport lets go, and nothing else would end a read.
func (c *Client) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	addresses, err := c.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var last error
	for _, a := range addresses {
		conn, err := c.dialer.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
			return conn, nil
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

func (c *Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	list, err := c.o.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no addresses", IsNotFound: true}
	}
	for i, a := range list {
		list[i] = a.Unmap()
		if !c.o.Open && !webhook.Reachable(a) {
			return nil, errForbidden
		}
	}
	return list, nil
}

// control runs between the making of the socket and the connecting, with the
// address that the kernel is given: nothing comes in between.
func (c *Client) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	if c.o.Open {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !webhook.Reachable(at.Addr()) {
		return errForbidden
	}
	return nil
}

// troubleOf sorts failures; none of their text leaves here.
func troubleOf(status int, err error) webhook.Trouble {
	var (
		dns    *net.DNSError
		refuse *net.OpError
		wrap   net.Error
	)
	switch {
	case err == nil && status >= 200 && status <= 299:
		return ""
	case err == nil:
		return webhook.BadStatus
	case errors.Is(err, errForbidden):
		return webhook.Forbidden
	case errors.As(err, &dns):
		return webhook.Unresolved
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &wrap) && wrap.Timeout():
		return webhook.TimedOut
	case secured(err):
		return webhook.NoTLS
	case errors.As(err, &refuse) && refuse.Op == "dial":
		return webhook.NoConnect
	}
	return webhook.Broken
}

// secured reports a failure to agree on TLS.
func secured(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert)
}

var _ webhook.Sender = (*Client)(nil)
