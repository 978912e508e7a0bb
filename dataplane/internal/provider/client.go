// Package provider owns outbound HTTP: connections to providers, the
// credential of each, what of the caller's headers may pass, and the reading
// of transport failures and error statuses into failure classes. It knows
// nothing of routing, retries or the format of a reply.
package provider

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Client calls providers. It is safe for concurrent use.
type Client struct {
	pooled *http.Transport // keeps connections
	fresh  *http.Transport // one connection for each call
	creds  *credentials
	bases  bases
	agent  []string // the User-Agent header
	opts   Options
}

// Options are the limits of a Client. Zero members take the defaults.
type Options struct {
	Connect     time.Duration // to resolve and connect, and again for the TLS handshake; default 10 s
	ErrorBody   time.Duration // to read an error's body; default 5 s
	IdlePerHost int           // connections kept for each host; default 512
	IdleTimeout time.Duration // of a kept connection; default 90 s
	UserAgent   string        // default "signalbox"
	Now         func() time.Time
	Adjust      func(*http.Transport) // changes both transports before their first use; may be nil
}

// New returns a Client that opens sealed credentials with opener.
func New(opener Opener, opts Options) *Client {
	opts = opts.withDefaults()
	pooled, fresh := newTransport(opts), newTransport(opts)
	fresh.DisableKeepAlives = true
	if opts.Adjust != nil {
		opts.Adjust(pooled)
		opts.Adjust(fresh)
	}
	return &Client{pooled: pooled, fresh: fresh, creds: newCredentials(opener), agent: []string{opts.UserAgent}, opts: opts}
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	c.pooled.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
}

// Call sends r and returns the answer as soon as its head has arrived. The
// context ends the call, the body included. Every answer that is not a 2xx
// with a body is a failure.
//
// A kept connection that the provider had closed in the meantime is replaced
// by a fresh one, once and without a trace, when not a byte came back on it.
func (c *Client) Call(ctx context.Context, r upstream.Request) (upstream.Response, *upstream.Failure) {
	request, failure := c.request(&r) // a value, so that WithContext makes the only copy
	if failure != nil {
		return upstream.Response{}, failure
	}
	traced, seen := trace(ctx)
	response, err := c.pooled.RoundTrip(request.WithContext(traced)) //nolint:bodyclose // closed by answer or by the caller
	if err != nil && ctx.Err() == nil && seen.stale(err) {
		again := request.WithContext(ctx)
		again.Body = r.Body.Open()
		response, err = c.fresh.RoundTrip(again) //nolint:bodyclose // as above
	}
	if err != nil {
		return upstream.Response{}, upstream.Fail(classify(err), err)
	}
	return c.answer(response)
}

func (c *Client) request(r *upstream.Request) (http.Request, *upstream.Failure) {
	target, err := c.bases.target(r.Provider.BaseURL, r.Path)
	if err != nil {
		return http.Request{}, upstream.Fail(upstream.Internal, err)
	}
	key, err := c.creds.of(r.Provider)
	if err != nil {
		return http.Request{}, upstream.Fail(upstream.CredentialFault, err)
	}
	header := outbound(r.Header, r.Stream)
	header["User-Agent"] = c.agent
	if !key.IsZero() {
		header["Authorization"] = []string{"Bearer " + key.Reveal()}
	}
	body := r.Body
	return http.Request{
		Method: http.MethodPost, URL: target, Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: body.Len(),
		Body:          body.Open(),
		GetBody:       func() (io.ReadCloser, error) { return body.Open(), nil },
	}, nil
}

// answer reads a head.
func (c *Client) answer(response *http.Response) (upstream.Response, *upstream.Failure) {
	media := mediaType(response.Header)
	body, failure := inflated(response)
	switch status := response.StatusCode; {
	case failure != nil && status < 400:
	case status == http.StatusSwitchingProtocols:
		failure = upstream.Fail(upstream.BadHead, nil)
	case status < 200 || status >= 300:
		failure = c.refused(response, body)
	case status == http.StatusNoContent, status == http.StatusResetContent, response.ContentLength == 0:
		failure = upstream.Fail(upstream.EmptyReply, nil)
	case isMarkup(media):
		failure = upstream.Fail(upstream.WrongType, nil)
	}
	if failure != nil {
		_ = response.Body.Close() // nothing more is wanted of it
		failure.Status = response.StatusCode
		return upstream.Response{}, failure
	}
	return upstream.Response{
		Status: response.StatusCode, Header: inbound(response.Header), MediaType: media,
		Length: response.ContentLength, Body: body,
	}, nil
}

// refused reads an error's body, bounded in size and time. What arrived in
// time is enough.
func (c *Client) refused(response *http.Response, body io.Reader) *upstream.Failure {
	wait := retryAfter(response.Header.Get("Retry-After"), c.opts.Now())
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return upstream.Refused(response.StatusCode, wait, nil)
	}
	overdue := time.AfterFunc(c.opts.ErrorBody, func() { _ = response.Body.Close() })
	defer overdue.Stop()
	var text []byte
	if body != nil {
		text, _ = io.ReadAll(io.LimitReader(body, upstream.MaxErrorBody)) // a broken error body still has its status
	}
	return upstream.Refused(response.StatusCode, wait, text)
}
