// Package check owns the one cheap call that tells whether a provider takes a
// workspace's credential: which call that is for each kind of provider, and
// what its outcome means. It keeps no credential, and knows nothing of NATS or
// of requests.
package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Caller makes a call with a credential that is not kept.
type Caller interface {
	Try(ctx context.Context, r upstream.Request) (upstream.Response, *upstream.Failure)
}

// Catalogs have what is offered now; nil while there is none.
type Catalogs interface {
	Catalog() *catalog.View
}

// Checker makes checks. It is safe for concurrent use.
type Checker struct {
	caller   Caller
	catalogs Catalogs
	now      func() time.Time
}

// New returns a Checker.
func New(caller Caller, catalogs Catalogs, now func() time.Time) *Checker {
	return &Checker{caller: caller, catalogs: catalogs, now: now}
}

// maxReply bounds what is read of a provider's answer. A list of all models is
// the largest.
const maxReply = 8 << 20

// Check makes the call. The context bounds it.
func (c *Checker) Check(ctx context.Context, q wire.CheckRequest) wire.CheckReply {
	view := c.catalogs.Catalog()
	if view == nil {
		return wire.CheckReply{Trouble: wire.CheckNotReady}
	}
	p, ok := view.Provider(q.Provider)
	if !ok || p.Slug != q.Provider || p.Disabled || p.Keyless {
		return wire.CheckReply{Trouble: wire.CheckNoProvider}
	}
	asked, ok := cheapest(view, p, q.Models)
	if !ok {
		return wire.CheckReply{Trouble: wire.CheckNoModel}
	}
	request := asked.request(p)
	request.Credential = decide.CredentialUse{Source: decide.CredentialBYOK, Own: &policy.OwnCredential{
		Credential: policy.Credential{Provider: p.Slug, Sealed: q.Sealed}, Workspace: q.Workspace,
	}}
	reply := wire.CheckReply{Call: asked.way.call, Model: asked.model()}
	began := c.now()
	status, failure := c.call(ctx, request)
	reply.Latency = max(0, c.now().Sub(began)) // the clock may be set meanwhile
	if failure == nil {
		reply.Status, reply.HTTPStatus = wire.CheckValid, status
		return reply
	}
	if errors.Is(failure, seal.ErrOpen) {
		return wire.CheckReply{Trouble: wire.CheckNotOpened}
	}
	reply.Status, reply.HTTPStatus = meaning(failure), failure.Status
	return reply
}

// call is without a failure when the answer is what the call should have.
func (c *Checker) call(ctx context.Context, r upstream.Request) (status int, failure *upstream.Failure) {
	response, failure := c.caller.Try(ctx, r)
	if failure != nil {
		return 0, failure
	}
	defer func() { _ = response.Body.Close() }() // nothing more is wanted of it
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case ctx.Err() != nil:
		return 0, upstream.Fail(upstream.CallerGone, ctx.Err())
	case err != nil:
		failure = upstream.Fail(upstream.TruncatedReply, err)
	case len(body) > maxReply:
		failure = upstream.Fail(upstream.ReplyTooLarge, nil)
	default:
		failure = wrong(response.Status, body)
	}
	if failure != nil {
		failure.Status = response.Status
	}
	return response.Status, failure
}

// wrong finds an error in a body that came with a good status, and bodies that
// no provider's API sends.
func wrong(status int, body []byte) *upstream.Failure {
	trimmed := bytes.TrimSpace(body)
	if !json.Valid(trimmed) {
		return upstream.Fail(upstream.MalformedReply, nil)
	}
	if trimmed[0] == '[' {
		return nil
	}
	var object struct {
		Error json.RawMessage `json:"error"`
	}
	if trimmed[0] != '{' || json.Unmarshal(trimmed, &object) != nil {
		return upstream.Fail(upstream.MalformedReply, nil)
	}
	if len(object.Error) > 0 && string(object.Error) != "null" {
		return upstream.InBand(upstream.ErrorInReply, status, object.Error)
	}
	return nil
}

// meaning is what a failed call says of the credential.
func meaning(f *upstream.Failure) wire.CheckStatus {
	switch f.Class {
	case upstream.CredentialRejected:
		if f.Denied {
			return wire.CheckForbidden
		}
		return wire.CheckInvalid
	case upstream.GeoBlocked:
		return wire.CheckForbidden
	case upstream.PaymentRequired:
		return wire.CheckNoCredit
	case upstream.RateLimited:
		return wire.CheckRateLimited
	case upstream.CredentialFault: // no token could be had for it
		if errors.Is(f, upstream.ErrRefusedCredential) {
			return wire.CheckInvalid
		}
		return wire.CheckUnreachable
	case upstream.DNSFailed, upstream.ConnectFailed, upstream.ConnectTimeout, upstream.TLSFailed, upstream.Reset, upstream.CallerGone:
		return wire.CheckUnreachable
	default:
		return wire.CheckInconclusive
	}
}
