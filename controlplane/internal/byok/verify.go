package byok

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Verification is what the last call that verified a credential said of it.
type Verification struct {
	Status     wire.CheckStatus
	HTTPStatus int // the provider's; 0 when it gave no answer
	Call       wire.CheckCall
	Model      string // that was asked; "" where the call needs none
	Latency    time.Duration
	CheckedAt  time.Time
}

// Checker has a gateway make the call. It fails with unavailable when none
// answers.
type Checker interface {
	Check(ctx context.Context, q wire.CheckRequest) (wire.CheckReply, error)
}

// Verifications keeps outcomes, inside a transaction of ws. They are no part of
// what is published, and do not raise versions.
type Verifications interface {
	// Claim returns the credential and notes when it was asked for, unless that
	// was after since; then it fails with rate_limit_exceeded. It fails with
	// not_found.
	Claim(ctx context.Context, ws id.Workspace, credential id.Credential, now, since time.Time) (Credential, error)
	// Note keeps c's verification where the key is still the one that c has.
	Note(ctx context.Context, ws id.Workspace, c Credential) error
	// Forget drops what was said of a key that is replaced.
	Forget(ctx context.Context, ws id.Workspace, credential id.Credential) error
}

// Auditor keeps audit events.
type Auditor interface {
	Append(ctx context.Context, ws id.Workspace, e audit.Event) error
}

// VerifyEvery is the least between two calls with one credential: a verification
// is a call for a person, and must not be a way to try keys at a provider.
const VerifyEvery = 10 * time.Second

// Verify has a gateway ask the provider whether it takes the credential, and
// keeps the answer. The key goes to it sealed, so that the one of a disabled
// credential can be verified, which gateways do not have. Besides not_found it
// fails with rate_limit_exceeded, conflict where there is nothing to ask, and
// unavailable. No transaction is open while the provider is asked.
func (s *Service) Verify(ctx context.Context, ws id.Workspace, credential id.Credential, by audit.By) (Credential, error) {
	var c Credential
	// Outside of an idempotency claim: what ends with a failure is not executed.
	err := s.d.Runner.InTx(idempotency.Without(ctx), ws, func(ctx context.Context) (err error) {
		now := s.now()
		c, err = s.d.Verifications.Claim(ctx, ws, credential, now, now.Add(-VerifyEvery))
		return err
	})
	if err != nil {
		return Credential{}, err
	}
	reply, err := s.d.Checker.Check(ctx, wire.CheckRequest{Workspace: ws, Provider: c.Provider, Models: c.Models, Sealed: c.Sealed})
	if err == nil {
		err = troubled(reply.Trouble)
	}
	if err != nil {
		return Credential{}, err
	}
	before := c
	c.Verification = &Verification{
		Status: reply.Status, HTTPStatus: reply.HTTPStatus, Call: reply.Call, Model: reply.Model,
		Latency: reply.Latency, CheckedAt: s.now(),
	}
	return c, s.d.Runner.InTx(ctx, ws, func(ctx context.Context) error {
		if err := s.d.Verifications.Note(ctx, ws, c); err != nil {
			return err
		}
		return s.d.Auditor.Append(ctx, ws, audit.Event{
			ID: id.New[id.AuditEventKind](s.d.IDs), Workspace: ws, At: c.Verification.CheckedAt, Actor: by.Actor, Action: "byok.verify",
			TargetType: "byok", TargetID: credential.String(), Diff: verified(before, c), RequestID: by.RequestID,
		})
	})
}

func verified(before, after Credential) []audit.Change {
	var d audit.Diff
	was := ""
	if before.Verification != nil {
		was = string(before.Verification.Status)
	}
	d.Text("verification.status", was, string(after.Verification.Status))
	return d
}

// troubled words why a gateway made no call. One that cannot is no news of the
// key, so nothing is kept.
func troubled(t wire.CheckTrouble) error {
	switch t {
	case "":
		return nil
	case wire.CheckNoProvider:
		return fault.New(fault.Conflict, "The provider is not offered any more, so its keys cannot be verified.")
	case wire.CheckNoModel:
		return fault.New(fault.Conflict, "The provider offers no model that the key is for and that a cheap call can be made to.")
	case wire.CheckNotOpened:
		return fault.New(fault.Unavailable, "The gateway that was asked cannot open the key: it does not have the platform's present keyring. Tell the operator if this stays.").After(VerifyEvery)
	default:
		return fault.New(fault.Unavailable, "The gateway that was asked cannot make the call at the moment. Try again shortly.").After(VerifyEvery)
	}
}
