package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestVerifyingAProviderKey(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	c := s.bring(t, created, byok.NewCredential{Disabled: true, Models: []string{"openai/*"}})
	revision := s.revision(t, ws)
	asked := 0
	reply := wire.CheckReply{Status: wire.CheckInvalid, HTTPStatus: 401, Call: wire.CheckListModels, Latency: 1500 * time.Microsecond}
	s.gateway.answer = func(q wire.CheckRequest) (wire.CheckReply, error) {
		asked++
		plain, err := s.keyring.Open(q.Sealed, policy.CredentialBinding(q.Workspace, q.Provider)...)
		require.NoError(t, err, "the gateway gets it sealed, for what it is sealed")
		require.Equal(t, broughtKey, plain.Reveal())
		require.Equal(t, []string{"openai/*"}, q.Models)
		return reply, nil
	}
	verified, err := s.byok.Verify(t.Context(), ws, c.ID, by)
	require.NoError(t, err)
	want := byok.Verification{Status: wire.CheckInvalid, HTTPStatus: 401, Call: wire.CheckListModels, Latency: 1500 * time.Microsecond, CheckedAt: s.clock.now()}
	require.Equal(t, &want, verified.Verification)
	stored, err := s.byok.Get(t.Context(), ws, c.ID)
	require.NoError(t, err)
	require.Equal(t, verified, stored)
	listed, err := s.byok.List(t.Context(), ws, page.Query{Limit: 9}, byok.Filter{})
	require.NoError(t, err)
	require.Equal(t, &want, listed.Items[0].Verification)
	require.Equal(t, c.Version, stored.Version, "it is no change of the credential")
	require.Equal(t, revision, s.revision(t, ws), "and publishes nothing")
	event := s.lastEvent(t, ws)
	require.Equal(t, "byok.verify", event.Action)
	require.Equal(t, c.ID.String(), event.TargetID)
	require.Equal(t, []audit.Change{{Path: "verification.status", After: "invalid"}}, event.Diff)

	// Not again at once, whoever asks; of another credential at once.
	_, err = s.byok.Verify(t.Context(), ws, c.ID, by)
	require.True(t, fault.Is(err, fault.RateLimitExceeded), "%v", err)
	require.LessOrEqual(t, fault.Of(err).RetryAfter, byok.VerifyPace.Every)
	require.Equal(t, 1, asked)
	s.clock.advance(time.Hour)
	_, err = s.byok.Verify(t.Context(), ws, c.ID, by)
	require.True(t, fault.Is(err, fault.RateLimitExceeded), "the clock of a control plane is not what counts: %v", err)
	s.pass(t, ws, byok.VerifyPace.Every)
	s.clock.advance(-time.Hour)
	reply.Status, reply.HTTPStatus = wire.CheckValid, 200
	verified, err = s.byok.Verify(t.Context(), ws, c.ID, by)
	require.NoError(t, err)
	require.Equal(t, wire.CheckValid, verified.Verification.Status)
	require.Equal(t, []audit.Change{{Path: "verification.status", Before: "invalid", After: "valid"}}, s.lastEvent(t, ws).Diff)

	// It stays over other changes, and goes with the key.
	changed, _, err := s.byok.Enable(t.Context(), ws, c.ID, by, nil)
	require.NoError(t, err)
	require.Equal(t, verified.Verification, changed.Verification)
	changed, _, err = s.byok.Update(t.Context(), ws, c.ID, by, byok.Patch{Key: ptr(secret.NewString("sk-other-9876543210fedcba"))})
	require.NoError(t, err)
	require.Nil(t, changed.Verification)
	stored, err = s.byok.Get(t.Context(), ws, c.ID)
	require.NoError(t, err)
	require.Nil(t, stored.Verification)
}

// pass lets time pass for the turns of a workspace: they are told by the
// database's clock.
func (s *services) pass(t *testing.T, ws id.Workspace, d time.Duration) {
	t.Helper()
	in(t, s.db, ws, func(ctx context.Context) error {
		for _, statement := range []string{
			"UPDATE byok_credentials SET verify_asked_at = verify_asked_at - make_interval(secs => ?)",
			"UPDATE byok_verify_turns SET began_at = began_at - make_interval(secs => ?)",
		} {
			if err := tenant(ctx, ws).Exec(statement, d.Seconds()).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// What was said of a key that was replaced meanwhile is not kept as if it were
// said of the new one, and nobody is told that it was.
func TestWhatWasSaidOfAnotherKeyIsNotKept(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	c := s.bring(t, created, byok.NewCredential{})
	meanwhile := func(change func() error) {
		s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
			require.NoError(t, change())
			return wire.CheckReply{Status: wire.CheckValid, HTTPStatus: 200, Call: wire.CheckListModels}, nil
		}
	}
	meanwhile(func() error {
		_, _, err := s.byok.Update(t.Context(), ws, c.ID, by, byok.Patch{Key: ptr(secret.NewString("sk-other-9876543210fedcba"))})
		return err
	})
	_, err := s.byok.Verify(t.Context(), ws, c.ID, by)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Equal(t, "byok.update", s.lastEvent(t, ws).Action)
	stored, err := s.byok.Get(t.Context(), ws, c.ID)
	require.NoError(t, err)
	require.Nil(t, stored.Verification)

	s.pass(t, ws, byok.VerifyPace.Every)
	meanwhile(func() error {
		_, err := s.byok.Delete(t.Context(), ws, c.ID, by, nil)
		return err
	})
	_, err = s.byok.Verify(t.Context(), ws, c.ID, by)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	require.Equal(t, "byok.delete", s.lastEvent(t, ws).Action)
}

// A key that is sealed anew, or that is named otherwise, is the same key.
func TestWhatWasSaidOfTheSameKeyIsKept(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	c := s.bring(t, created, byok.NewCredential{})
	rotated, err := s.keyring.Rotate()
	require.NoError(t, err)
	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
		report, err := byok.NewResealer(byok.ResealerDeps{
			System: s.db.System(), Seals: NewBYOKSeals(), Runner: s.db.Runner(), Store: NewBYOKStore(), Directory: NewBYOKStore(), Mutator: s.mutator, Now: s.clock.now,
		}).Reseal(t.Context(), rotated)
		require.NoError(t, err)
		require.Equal(t, 1, report.Done)
		_, _, err = s.byok.Update(t.Context(), ws, c.ID, by, byok.Patch{Name: ptr("renamed")})
		require.NoError(t, err)
		return wire.CheckReply{Status: wire.CheckValid, HTTPStatus: 200, Call: wire.CheckListModels}, nil
	}
	verified, err := s.byok.Verify(t.Context(), ws, c.ID, by)
	require.NoError(t, err)
	require.Equal(t, "renamed", verified.Name, "as it is stored now")
	require.False(t, rotated.IsStale(verified.Sealed))
	require.Equal(t, wire.CheckValid, verified.Verification.Status)
	stored, err := s.byok.Get(t.Context(), ws, c.ID)
	require.NoError(t, err)
	require.Equal(t, verified, stored)
	require.Equal(t, "byok.verify", s.lastEvent(t, ws).Action)
}

// Making a credential for each key gives no more turns than a workspace has.
func TestVerifyingIsBoundedForAWorkspace(t *testing.T) {
	s := openServices(t)
	created, other := s.create(t, "acme"), s.create(t, "other")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	asked := 0
	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
		asked++
		return wire.CheckReply{Status: wire.CheckInvalid, HTTPStatus: 401, Call: wire.CheckListModels}, nil
	}
	once := func() error {
		t.Helper()
		c := s.bring(t, created, byok.NewCredential{})
		_, failed := s.byok.Verify(t.Context(), ws, c.ID, by)
		_, err := s.byok.Delete(t.Context(), ws, c.ID, by, nil)
		require.NoError(t, err)
		return failed
	}
	for range byok.VerifyPace.Most {
		require.NoError(t, once())
	}
	s.pass(t, ws, 30*time.Second)
	for range 3 {
		err := once()
		require.True(t, fault.Is(err, fault.RateLimitExceeded), "%v", err)
		require.LessOrEqual(t, fault.Of(err).RetryAfter, 30*time.Second, "what is left of the window")
	}
	require.Equal(t, byok.VerifyPace.Most, asked)
	theirs := s.bring(t, other, byok.NewCredential{})
	_, err := s.byok.Verify(t.Context(), other.Workspace.ID, theirs.ID, byMember(other.Owner))
	require.NoError(t, err, "another workspace has turns of its own")
	s.pass(t, ws, 30*time.Second)
	require.NoError(t, once(), "the next window")
}

func TestWhereAKeyCannotBeVerifiedNothingIsKept(t *testing.T) {
	s := openServices(t)
	created, theirs := s.create(t, "acme"), s.create(t, "other")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	c := s.bring(t, created, byok.NewCredential{})
	for trouble, want := range map[wire.CheckTrouble]fault.Code{
		wire.CheckNoProvider: fault.Conflict, wire.CheckNoModel: fault.Conflict, wire.CheckNotOpened: fault.Unavailable,
		wire.CheckNotReady: fault.Unavailable, wire.CheckNotReadable: fault.Unavailable, "newer": fault.Unavailable,
	} {
		s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) { return wire.CheckReply{Trouble: trouble}, nil }
		_, err := s.byok.Verify(t.Context(), ws, c.ID, by)
		require.True(t, fault.Is(err, want), "%s: %v", trouble, err)
	}
	failure := fault.Wrap(byok.ErrNotAsked, fault.Unavailable, "no gateway")
	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) { return wire.CheckReply{}, failure }
	for range byok.VerifyPace.Most + 1 { // of what made no call the turn is given back
		_, err := s.byok.Verify(t.Context(), ws, c.ID, by)
		require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	}
	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
		s.clock.advance(3 * time.Second)
		return wire.CheckReply{}, fault.New(fault.Unavailable, "no answer")
	}
	_, err := s.byok.Verify(t.Context(), ws, c.ID, by)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.Equal(t, byok.VerifyPace.Every-3*time.Second, fault.Of(err).RetryAfter, "not before the next turn")
	_, err = s.byok.Verify(t.Context(), ws, c.ID, by)
	require.True(t, fault.Is(err, fault.RateLimitExceeded), "a call may have been made: %v", err)
	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
		t.Error("another's key")
		return wire.CheckReply{}, nil
	}
	_, err = s.byok.Verify(t.Context(), theirs.Workspace.ID, c.ID, by)
	require.True(t, fault.Is(err, fault.NotFound))
	stored, err := s.byok.Get(t.Context(), ws, c.ID)
	require.NoError(t, err)
	require.Nil(t, stored.Verification)
	require.Equal(t, "byok.create", s.lastEvent(t, ws).Action)
}
