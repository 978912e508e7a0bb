package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/fault"
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
	require.Equal(t, byok.VerifyEvery, fault.Of(err).RetryAfter)
	require.Equal(t, 1, asked)
	s.clock.advance(byok.VerifyEvery)
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

// What was said of a key that was replaced meanwhile is not kept as if it were
// said of the new one.
func TestAVerificationOfAReplacedKeyIsNotKept(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	c := s.bring(t, created, byok.NewCredential{})
	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
		_, _, err := s.byok.Update(t.Context(), ws, c.ID, by, byok.Patch{Key: ptr(secret.NewString("sk-other-9876543210fedcba"))})
		require.NoError(t, err)
		return wire.CheckReply{Status: wire.CheckValid, HTTPStatus: 200, Call: wire.CheckListModels}, nil
	}
	_, err := s.byok.Verify(t.Context(), ws, c.ID, by)
	require.NoError(t, err)
	stored, err := s.byok.Get(t.Context(), ws, c.ID)
	require.NoError(t, err)
	require.Nil(t, stored.Verification)
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
		s.clock.advance(byok.VerifyEvery)
		s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) { return wire.CheckReply{Trouble: trouble}, nil }
		_, err := s.byok.Verify(t.Context(), ws, c.ID, by)
		require.True(t, fault.Is(err, want), "%s: %v", trouble, err)
	}
	s.clock.advance(byok.VerifyEvery)
	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
		return wire.CheckReply{}, fault.New(fault.Unavailable, "no gateway")
	}
	_, err := s.byok.Verify(t.Context(), ws, c.ID, by)
	require.True(t, fault.Is(err, fault.Unavailable))
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
