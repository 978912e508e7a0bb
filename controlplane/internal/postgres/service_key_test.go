package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func auditFilter(action string) audit.Filter { return audit.Filter{Action: action} }

func parse(t *testing.T, plain secret.String) secret.Token {
	t.Helper()
	token, err := secret.ParseToken(plain.Reveal())
	require.NoError(t, err)
	return token
}

func TestAPIKeyLife(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	expires := epoch.Add(time.Hour)

	k, plain, pub, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{
		Name: "ci", ExpiresAt: &expires, Models: []string{"openai/*"}, Surfaces: []catalog.Surface{catalog.Chat},
	})
	require.NoError(t, err)
	first := parse(t, plain)
	require.Equal(t, secret.Inference, first.Kind)
	require.Equal(t, k.KID, first.KID)
	require.True(t, first.Matches(k.SecretHash))
	require.Equal(t, first.Suffix(), k.Suffix)
	require.Equal(t, created.Owner.User, k.CreatedBy)
	require.Equal(t, []string{k.KID}, s.stored(t, pub).KIDs)
	require.Equal(t, pub.Revision, k.Revision)

	k, pub, err = s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Name: ptr("ci 2"), SetExpiry: true, Models: &[]string{}, IfMatch: ptr(int64(1))})
	require.NoError(t, err)
	require.Nil(t, k.ExpiresAt)
	require.Equal(t, []string{k.KID}, s.stored(t, pub).KIDs)
	_, _, err = s.keys.Pause(t.Context(), ws, k.ID, by, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	k, _, err = s.keys.Pause(t.Context(), ws, k.ID, by, nil)
	require.NoError(t, err)
	require.Equal(t, policy.KeyPaused, k.Status)
	k, _, err = s.keys.Resume(t.Context(), ws, k.ID, by, nil)
	require.NoError(t, err)
	require.Equal(t, policy.KeyActive, k.Status)

	k, plain, _, err = s.keys.Rotate(t.Context(), ws, k.ID, by, credential.Rotation{Grace: time.Hour})
	require.NoError(t, err)
	second := parse(t, plain)
	require.Equal(t, first.KID, second.KID)
	require.True(t, second.Matches(k.SecretHash))
	require.True(t, first.Matches(k.PreviousHash))
	require.Equal(t, s.clock.now().Add(time.Hour), *k.PreviousUntil)
	k, plain, _, err = s.keys.Rotate(t.Context(), ws, k.ID, by, credential.Rotation{})
	require.NoError(t, err)
	require.True(t, k.PreviousHash.IsZero())
	require.Nil(t, k.PreviousUntil)

	stored, err := s.keys.Get(t.Context(), ws, k.ID)
	require.NoError(t, err)
	k.Models, k.Surfaces = stored.Models, stored.Surfaces // empty and nil are alike
	require.Equal(t, stored, k)

	k, pub, err = s.keys.Revoke(t.Context(), ws, k.ID, by, nil)
	require.NoError(t, err)
	require.Equal(t, policy.KeyRevoked, k.Status)
	require.Equal(t, []string{k.KID}, s.stored(t, pub).KIDs)
	_, _, err = s.keys.Resume(t.Context(), ws, k.ID, by, nil)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	s.requireNoSecrets(t, parse(t, plain), first, second)
}

// requireNoSecrets looks for plaintexts in everything that the database holds.
func (s *services) requireNoSecrets(t *testing.T, tokens ...secret.Token) {
	t.Helper()
	owned := s.db.DirectSQL()
	defer owned.Close()
	rows, err := owned.QueryContext(t.Context(), `SELECT table_name FROM information_schema.tables
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var tables []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	require.NoError(t, rows.Err())
	require.Contains(t, tables, "audit_events")
	for _, table := range tables {
		var text *string
		require.NoError(t, owned.QueryRowContext(t.Context(), "SELECT string_agg(x::text, '') FROM "+table+" x").Scan(&text))
		for _, token := range tokens {
			plain := token.Plaintext().Reveal()
			if text != nil {
				require.NotContains(t, *text, plain[len(plain)-43:], table)
			}
		}
	}
}

func TestAPIKeyRefusals(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	past := epoch.Add(-time.Second)
	_, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{
		Name: " ", ExpiresAt: &past, Models: []string{"a b"}, Surfaces: []catalog.Surface{"canary"},
	})
	require.Len(t, fault.Of(err).Violations, 4)
	require.NotContains(t, fmt.Sprint(fault.Of(err).Violations), "canary")
	_, _, _, err = s.keys.Rotate(t.Context(), ws, filledKey(t, created.Owner, 1).ID, by, credential.Rotation{Grace: 8 * 24 * time.Hour})
	require.True(t, fault.Is(err, fault.ValidationError))
	_, _, err = s.keys.Pause(t.Context(), ws, filledKey(t, created.Owner, 1).ID, by, nil)
	require.True(t, fault.Is(err, fault.NotFound))
}

// Changes of one workspace that race end up one after the other, each with a
// revision of its own, and none is lost.
func TestConcurrentChangesAreSerial(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	k, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "k"})
	require.NoError(t, err)
	const n = 8
	revisions := make(chan int64, n)
	errs := make(chan error, n)
	for i := range n {
		go func() {
			_, pub, err := s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Name: ptr(fmt.Sprintf("k%d", i))})
			revisions <- pub.Revision
			errs <- err
		}()
	}
	seen := map[int64]bool{}
	for range n {
		require.NoError(t, <-errs)
		seen[<-revisions] = true
	}
	require.Len(t, seen, n)
	got, err := s.keys.Get(t.Context(), ws, k.ID)
	require.NoError(t, err)
	require.Equal(t, int64(n+1), got.Version)
}

func TestManagementKeysGrantNoMoreThanTheirCreatorHas(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	_, _, _, err := s.management.Create(t.Context(), ws, by,
		managementkey.NewKey{Name: "m", Scopes: []string{"keys:read", "keys:write", "audit:read"}}, []string{"keys:read"})
	require.True(t, fault.Is(err, fault.InsufficientScope), "%v", err)
	require.Equal(t, []string{"audit:read", "keys:write"}, fault.Of(err).Fields["missing_scopes"])
	_, _, _, err = s.management.Create(t.Context(), ws, by, managementkey.NewKey{Name: "m", Template: managementkey.FullControl}, managementkey.ReadWrite.Scopes())
	require.True(t, fault.Is(err, fault.InsufficientScope))
	k, _, _, err := s.management.Create(t.Context(), ws, by, managementkey.NewKey{Name: "m", Template: managementkey.ReadOnly}, managementkey.Scopes())
	require.NoError(t, err)
	require.Equal(t, managementkey.ReadOnly.Scopes(), k.Scopes)
	_, _, _, err = s.management.Create(t.Context(), ws, operator, managementkey.NewKey{Name: "m", Template: managementkey.ReadOnly}, managementkey.Scopes())
	require.Equal(t, "owner", fault.Of(err).Violations[0].Path, "an operator names whose role the key acts with")
}

func TestAuthenticate(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	expires := epoch.Add(time.Hour)
	k, plain, _, err := s.management.Create(t.Context(), ws, by,
		managementkey.NewKey{Name: "m", Template: managementkey.ReadOnly, ExpiresAt: &expires}, managementkey.Scopes())
	require.NoError(t, err)
	token := parse(t, plain)
	refused := func(token secret.Token) fault.Reason {
		t.Helper()
		_, _, err := s.management.Authenticate(t.Context(), token)
		require.True(t, fault.Is(err, fault.Unauthorized), "%v", err)
		return fault.Of(err).Reason
	}

	got, member, err := s.management.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, k.ID, got.ID)
	require.Equal(t, created.Owner, member)
	require.Equal(t, epoch, *got.LastUsedAt)
	s.clock.advance(managementkey.TouchEvery / 2)
	got, _, err = s.management.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, epoch, *got.LastUsedAt, "written once in a while")

	unknown := newToken(t, secret.Management)
	wrong := newToken(t, secret.Management)
	wrong.KID = token.KID
	require.Equal(t, fault.InvalidKey, refused(unknown))
	require.Equal(t, fault.InvalidKey, refused(wrong))
	_, _, errUnknown := s.management.Authenticate(t.Context(), unknown)
	_, _, errWrong := s.management.Authenticate(t.Context(), wrong)
	require.Equal(t, fault.Of(errUnknown).Message, fault.Of(errWrong).Message)
	require.Equal(t, fault.InferenceKeyNotValidHere, refused(newToken(t, secret.Inference)))

	k, plain, _, err = s.management.Rotate(t.Context(), ws, k.ID, by, credential.Rotation{Grace: time.Minute}, managementkey.Scopes())
	require.NoError(t, err)
	_, _, err = s.management.Authenticate(t.Context(), token)
	require.NoError(t, err, "in its grace")
	s.clock.advance(2 * time.Minute)
	require.Equal(t, fault.InvalidKey, refused(token), "after its grace")
	token = parse(t, plain)
	_, _, err = s.management.Authenticate(t.Context(), token)
	require.NoError(t, err)

	s.clock.advance(time.Hour)
	require.Equal(t, fault.KeyExpired, refused(token))
	require.Equal(t, fault.InvalidKey, refused(wrong), "told only when the secret matched")
	_, _, err = s.management.Revoke(t.Context(), ws, k.ID, by, nil)
	require.NoError(t, err)
	require.Equal(t, fault.KeyRevoked, refused(token))
	require.Equal(t, fault.InvalidKey, refused(wrong))
	s.requireNoSecrets(t, token)
}

func TestAKeyDiesWithItsMember(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	_, plain, _, err := s.management.Create(t.Context(), ws, byMember(created.Owner),
		managementkey.NewKey{Name: "m", Template: managementkey.ReadOnly}, managementkey.Scopes())
	require.NoError(t, err)
	in(t, s.db, ws, func(ctx context.Context) error {
		return scoped(ctx, ws).Where("user_id = ?", created.Owner.User.UUID()).Delete(&memberRow{}).Error
	})
	_, _, err = s.management.Authenticate(t.Context(), parse(t, plain))
	require.Equal(t, fault.KeyRevoked, fault.Of(err).Reason)
	list, err := s.management.List(t.Context(), ws, page.Query{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
}
