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
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Client calls providers. It is safe for concurrent use.
type Client struct {
	pooled *http.Transport // keeps connections
	fresh  *http.Transport // one connection for each call
	aside  *http.Transport // to the metadata server, through no proxy
	creds  *credentials
	tasks  *tasks
	places places
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
	Adjust      func(*http.Transport) // changes the transports to providers before their first use; may be nil
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
	aside := newTransport(opts)
	aside.Proxy = nil // another machine's metadata server would hand out another's account
	c := &Client{pooled: pooled, fresh: fresh, aside: aside, tasks: newTasks(), places: newPlaces(), agent: []string{opts.UserAgent}, opts: opts}
	c.creds = &credentials{
		opener: opener, now: opts.Now, tasks: c.tasks, opened: make(map[string]opened), own: newOwnKeys(),
		exchange: pooled, metadata: aside,
	}
	return c
}

// Close ends the fetching of tokens and closes the connections that are not in
// use.
func (c *Client) Close() {
	c.tasks.close()
	c.pooled.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
	c.aside.CloseIdleConnections()
}

// Retain forgets the opened credentials of a workspace that its policy, which
// replaces an earlier one, has no more.
func (c *Client) Retain(v *policy.View) { c.creds.own.retain(v) }

// Forget forgets the opened credentials of a workspace that is not served any
// more.
func (c *Client) Forget(ws id.Workspace) { c.creds.own.forget(ws) }

// Call sends r and returns the answer as soon as its head has arrived. The
// context ends the call, the body included. Every answer that is not a 2xx
// with a body is a failure.
//
// A kept connection that the provider had closed in the meantime, or on which
// there was something left from before, is replaced by a fresh one, once and
// without a trace, when not a byte came back to this request.
func (c *Client) Call(ctx context.Context, r upstream.Request) (upstream.Response, *upstream.Failure) {
	return c.call(ctx, r, c.creds.of)
}

// Try is Call with a workspace's credential that no policy may have, and that
// is forgotten after it.
func (c *Client) Try(ctx context.Context, r upstream.Request) (upstream.Response, *upstream.Failure) {
	return c.call(ctx, r, c.creds.once)
}

// opener finds what authorizes requests to a provider with a credential.
type opener func(use decide.CredentialUse, p *catalog.Provider) (opened, error)

func (c *Client) call(ctx context.Context, r upstream.Request, open opener) (upstream.Response, *upstream.Failure) {
	traced, seen := ctx, (*sighting)(nil)
	if !r.Once && !r.Upgrade {
		traced, seen = trace(ctx)
	}
	request, with, failure := c.request(traced, &r, open)
	if failure != nil {
		return upstream.Response{}, failure
	}
	if r.Upgrade {
		return c.dial(ctx, request, with)
	}
	response, err := c.send(ctx, &r, request, seen)
	if err != nil {
		return upstream.Response{}, failed(err)
	}
	if response.StatusCode == http.StatusUnauthorized {
		with.refused(request)
	}
	return c.answer(&r, response)
}

// send makes the round trip, which seen watches. What must not be sent twice
// goes on a fresh connection: on a kept one that was closed meanwhile nobody
// can tell whether it arrived, and net/http itself may send it again.
func (c *Client) send(ctx context.Context, r *upstream.Request, request *http.Request, seen *sighting) (*http.Response, error) {
	if r.Once {
		return c.fresh.RoundTrip(request)
	}
	response, err := c.pooled.RoundTrip(request)
	if err == nil && seen.strange.Load() {
		_ = response.Body.Close() // it answers nothing, or what another asked
		response, err = nil, errStrange
	}
	if err == nil || ctx.Err() != nil || !seen.stale(err) {
		return response, err
	}
	again := request.WithContext(ctx)
	if request.ContentLength > 0 {
		again.Body = r.Body.Open()
	}
	return c.fresh.RoundTrip(again)
}

// blank is never written to: the copy that WithContext makes of it is the only
// way to a request with a context that does not parse its URL.
var blank http.Request

func (c *Client) request(ctx context.Context, r *upstream.Request, open opener) (*http.Request, authorizer, *upstream.Failure) {
	key, err := open(r.Credential, r.Provider)
	if err != nil {
		return nil, nil, upstream.Fail(upstream.CredentialFault, err)
	}
	at := r.Provider
	if key.project != "" && key.project != at.Project {
		own := *at // shared by all calls to it
		own.Project = key.project
		at = &own
	}
	target, err := c.places.target(r, at)
	if err != nil {
		return nil, nil, upstream.Fail(upstream.Internal, err)
	}
	with := key.with
	request := blank.WithContext(ctx)
	request.Method, request.URL, request.Host, request.Header = r.Method, target, target.Host, outbound(r)
	request.Proto, request.ProtoMajor, request.ProtoMinor = "HTTP/1.1", 1, 1
	request.ContentLength = r.Body.Len()
	if request.Method == "" {
		request.Method = http.MethodPost
	}
	request.Header["User-Agent"] = c.agent
	if err := with.authorize(request, r.Body, r.Region); err != nil {
		if ctx.Err() != nil {
			return nil, nil, upstream.Fail(upstream.CallerGone, err)
		}
		return nil, nil, upstream.Fail(upstream.CredentialFault, err)
	}
	if request.ContentLength > 0 {
		body := r.Body
		request.Body = body.Open()
		request.GetBody = func() (io.ReadCloser, error) { return body.Open(), nil }
	}
	return request, with, nil
}

// answer reads a head.
func (c *Client) answer(r *upstream.Request, response *http.Response) (upstream.Response, *upstream.Failure) {
	media := mediaType(response.Header)
	body, failure := inflated(response)
	switch status := response.StatusCode; {
	case failure != nil && status < 400:
	case status == http.StatusSwitchingProtocols:
		failure = upstream.Fail(upstream.BadHead, nil)
	case status < 200 || status >= 300:
		failure = c.refused(response, body)
	case isBlank(response) && !r.Blank && !r.File:
		failure = upstream.Fail(upstream.EmptyReply, nil)
	case isMarkup(media) && !isFile(r, response):
		failure = upstream.Fail(upstream.WrongType, nil)
	}
	if failure != nil {
		_ = response.Body.Close() // nothing more is wanted of it
		failure.Status = response.StatusCode
		return upstream.Response{}, failure
	}
	return upstream.Response{
		Status: response.StatusCode, Header: inbound(response.Header, c.opts.Now()), MediaType: media,
		Length: response.ContentLength, Body: body,
	}, nil
}

func isBlank(response *http.Response) bool {
	switch response.StatusCode {
	case http.StatusNoContent, http.StatusResetContent:
		return true
	}
	return response.ContentLength == 0
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
	return upstream.RefusedAs(response.Header.Get("X-Amzn-Errortype"), response.StatusCode, wait, text)
}
