package byok

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
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
// answers, and with ErrNotAsked beneath that where none has the question.
type Checker interface {
	Check(ctx context.Context, q wire.CheckRequest) (wire.CheckReply, error)
}

// ErrNotAsked is the cause of a Checker's failure where it is certain that no
// call is made.
var ErrNotAsked = errors.New("no gateway was asked")

// Verifications keeps outcomes, inside a transaction of ws. They are no part of
// what is published, and do not raise versions.
type Verifications interface {
	// Claim returns the credential and takes a turn at verifying it, or fails with
	// rate_limit_exceeded, which tells when there is one, or not_found. The clock is
	// the store's, which is one for all control planes.
	Claim(ctx context.Context, ws id.Workspace, credential id.Credential, p Pace) (Credential, Turn, error)
	// Release gives a turn back, of which no call came.
	Release(ctx context.Context, ws id.Workspace, credential id.Credential, t Turn) error
	// Note keeps c's verification and returns the credential as it is then. It fails
	// with conflict when the key is not the one any more that c has, and with
	// not_found. That the key was sealed anew makes no other of it.
	Note(ctx context.Context, ws id.Workspace, c Credential) (Credential, error)
	// Forget drops what was said of a key that is replaced. It fails with not_found.
	Forget(ctx context.Context, ws id.Workspace, credential id.Credential) error
}

// Pace is how often may be verified: a credential once in Every, and credentials
// of one workspace Most times in Window, however many there are.
type Pace struct {
	Every  time.Duration
	Most   int
	Window time.Duration
}

// Turn is a turn that was taken, by the store's clock.
type Turn struct {
	Credential time.Time // when the credential's was
	Window     time.Time // when the workspace's window began
}

// Auditor keeps audit events.
type Auditor interface {
	Append(ctx context.Context, ws id.Workspace, e audit.Event) error
}

// VerifyPace is the pace of all workspaces: a verification is a call for a
// person, and must not be a way to try keys at a provider, neither many through
// one credential nor each through one of its own.
var VerifyPace = Pace{Every: 10 * time.Second, Most: 10, Window: time.Minute}

// Verify has a gateway ask the provider whether it takes the credential, keeps
// the answer and returns the credential with it. The key goes to the gateway
// sealed, so that the one of a disabled credential can be verified, which
// gateways do not have. Besides not_found it fails with rate_limit_exceeded,
// conflict where there is nothing to ask or the key was replaced meanwhile, and
// unavailable. No transaction is open while the provider is asked.
func (s *Service) Verify(ctx context.Context, ws id.Workspace, credential id.Credential, by audit.By) (Credential, error) {
	var c Credential
	var turn Turn
	began := s.now()
	// Outside of an idempotency claim: what ends with a failure is not executed.
	err := s.d.Runner.InTx(idempotency.Without(ctx), ws, func(ctx context.Context) (err error) {
		c, turn, err = s.d.Verifications.Claim(ctx, ws, credential, VerifyPace)
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
		if reply.Trouble != "" || errors.Is(err, ErrNotAsked) {
			s.release(ctx, ws, credential, turn)
		} else if fault.Is(err, fault.Unavailable) { // a call may be made, so the next turn is after the pace
			err = fault.Of(err).After(max(time.Second, VerifyPace.Every-s.now().Sub(began)))
		}
		return Credential{}, err
	}
	return s.note(ctx, ws, c, by, Verification{
		Status: reply.Status, HTTPStatus: reply.HTTPStatus, Call: reply.Call, Model: reply.Model,
		Latency: reply.Latency, CheckedAt: s.now(),
	})
}

// release gives a turn back. Where that fails it ends by itself, soon.
func (s *Service) release(ctx context.Context, ws id.Workspace, credential id.Credential, t Turn) {
	ctx, cancel := txn.Afterwards(ctx)
	defer cancel()
	_ = s.d.Runner.InTx(idempotency.Without(ctx), ws, func(ctx context.Context) error {
		return s.d.Verifications.Release(ctx, ws, credential, t)
	})
}

// note keeps and audits what was said of the key that c has.
func (s *Service) note(ctx context.Context, ws id.Workspace, c Credential, by audit.By, v Verification) (Credential, error) {
	after := c
	after.Verification = &v
	var stored Credential
	err := s.d.Runner.InTx(ctx, ws, func(ctx context.Context) (err error) {
		if stored, err = s.d.Verifications.Note(ctx, ws, after); err != nil {
			return err
		}
		return s.d.Auditor.Append(ctx, ws, audit.Event{
			ID: id.New[id.AuditEventKind](s.d.IDs), Workspace: ws, At: v.CheckedAt, Actor: by.Actor, Action: "byok.verify",
			TargetType: "byok", TargetID: c.ID.String(), Diff: verified(c, after), RequestID: by.RequestID,
		})
	})
	if err != nil {
		return Credential{}, err
	}
	return stored, nil
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
		return fault.New(fault.Unavailable, "The gateway that was asked cannot open the key: it does not have the platform's present keyring. Tell the operator if this stays.").After(VerifyPace.Every)
	default:
		return fault.New(fault.Unavailable, "The gateway that was asked cannot make the call at the moment. Try again shortly.").After(VerifyPace.Every)
	}
}
