package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/auth"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type keys map[string]policy.Key

func (k keys) Lookup(_ context.Context, kid string) (policy.Key, error) {
	if key, ok := k[kid]; ok {
		return key, nil
	}
	return policy.Key{}, keyring.ErrUnknown
}

func token(t *testing.T, kind secret.TokenKind) secret.Token {
	t.Helper()
	made, err := secret.NewToken(rand.Reader, kind)
	require.NoError(t, err)
	return made
}

func at(d time.Duration) *time.Time { v := now.Add(d); return &v }

func TestAuthenticate(t *testing.T) {
	right := token(t, secret.Inference)
	wrong, err := right.Renewed(rand.Reader)
	require.NoError(t, err)
	previous, err := right.Renewed(rand.Reader)
	require.NoError(t, err)
	management := token(t, secret.Management)

	good := policy.Key{Status: policy.KeyActive, SecretHash: right.Hash()}
	with := func(change func(*policy.Key)) policy.Key { k := good; change(&k); return k }
	cases := map[string]struct {
		key    policy.Key
		token  secret.Token
		reason fault.Reason // "" accepts
	}{
		"right":                  {good, right, ""},
		"wrong secret":           {good, wrong, fault.InvalidKey},
		"unknown kid":            {good, token(t, secret.Inference), fault.InvalidKey},
		"management":             {good, management, fault.ManagementKeyNotValidHere},
		"revoked":                {with(func(k *policy.Key) { k.Status = policy.KeyRevoked }), right, fault.KeyRevoked},
		"revoked, wrong secret":  {with(func(k *policy.Key) { k.Status = policy.KeyRevoked }), wrong, fault.InvalidKey},
		"paused":                 {with(func(k *policy.Key) { k.Status = policy.KeyPaused }), right, fault.KeyPaused},
		"paused, wrong secret":   {with(func(k *policy.Key) { k.Status = policy.KeyPaused }), wrong, fault.InvalidKey},
		"expired":                {with(func(k *policy.Key) { k.ExpiresAt = at(0) }), right, fault.KeyExpired},
		"expired, wrong secret":  {with(func(k *policy.Key) { k.ExpiresAt = at(0) }), wrong, fault.InvalidKey},
		"not yet expired":        {with(func(k *policy.Key) { k.ExpiresAt = at(time.Nanosecond) }), right, ""},
		"previous in grace":      {with(func(k *policy.Key) { k.PreviousHash, k.PreviousUntil = previous.Hash(), at(time.Second) }), previous, ""},
		"present in grace":       {with(func(k *policy.Key) { k.PreviousHash, k.PreviousUntil = previous.Hash(), at(time.Second) }), right, ""},
		"previous after grace":   {with(func(k *policy.Key) { k.PreviousHash, k.PreviousUntil = previous.Hash(), at(0) }), previous, fault.InvalidKey},
		"previous without grace": {with(func(k *policy.Key) { k.PreviousHash = previous.Hash() }), previous, fault.InvalidKey},
		"surface allowed":        {with(func(k *policy.Key) { k.Surfaces = []catalog.Surface{catalog.Embeddings, catalog.Chat} }), right, ""},
		"surface not allowed":    {with(func(k *policy.Key) { k.Surfaces = []catalog.Surface{catalog.Embeddings} }), right, fault.SurfaceNotAllowed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := auth.New(keys{right.KID: c.key}, func() time.Time { return now })
			got, err := a.Authenticate(t.Context(), &call.Call{Token: c.token, Surface: catalog.Chat})
			if c.reason == "" {
				require.NoError(t, err)
				require.Equal(t, c.key, got.Key)
				return
			}
			failure := fault.Of(err)
			require.Equal(t, c.reason, failure.Reason)
			require.Zero(t, got)
			if c.reason == fault.SurfaceNotAllowed {
				require.Equal(t, fault.Forbidden, failure.Code)
			} else {
				require.Equal(t, fault.Unauthorized, failure.Code)
			}
		})
	}
}

func TestUnknownAndWrongSayTheSame(t *testing.T) {
	right := token(t, secret.Inference)
	wrong, err := right.Renewed(rand.Reader)
	require.NoError(t, err)
	a := auth.New(keys{right.KID: {Status: policy.KeyActive, SecretHash: right.Hash()}}, time.Now)
	_, errWrong := a.Authenticate(t.Context(), &call.Call{Token: wrong})
	_, errUnknown := a.Authenticate(t.Context(), &call.Call{Token: token(t, secret.Inference)})
	f, g := fault.Of(errWrong), fault.Of(errUnknown)
	require.Equal(t, []any{f.Code, f.Reason, f.Message, f.Fields}, []any{g.Code, g.Reason, g.Message, g.Fields})
	require.NotEqual(t, f.Unwrap(), g.Unwrap(), "the log tells them apart")
}

// A zero document must match nothing, not even a token whose hash were zero.
func TestKeyWithoutAHashMatchesNothing(t *testing.T) {
	right := token(t, secret.Inference)
	a := auth.New(keys{right.KID: {Status: policy.KeyActive, PreviousUntil: at(time.Hour)}}, func() time.Time { return now })
	_, err := a.Authenticate(t.Context(), &call.Call{Token: right})
	require.Equal(t, fault.InvalidKey, fault.Of(err).Reason)
}

type away struct{ err error }

func (a away) Lookup(context.Context, string) (policy.Key, error) { return policy.Key{}, a.err }

func TestUndeterminedIsNever401(t *testing.T) {
	for _, cause := range []error{keyring.ErrUndetermined, errors.New("anything else")} {
		_, err := auth.New(away{cause}, time.Now).Authenticate(t.Context(), &call.Call{Token: token(t, secret.Inference)})
		failure := fault.Of(err)
		require.Equal(t, fault.UpstreamUndetermined, failure.Code)
		require.True(t, failure.Retryable)
		require.Equal(t, time.Second, failure.RetryAfter)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	made, err := secret.NewToken(rand.Reader, secret.Inference)
	require.NoError(b, err)
	a := auth.New(keys{made.KID: {Status: policy.KeyActive, SecretHash: made.Hash()}}, time.Now)
	c := call.Call{Token: made}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Authenticate(b.Context(), &c); err != nil {
			b.Fatal(err)
		}
	}
}
