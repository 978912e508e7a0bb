package credential_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func TestEffective(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later := now.Add(time.Nanosecond)
	require.Equal(t, policy.KeyActive, credential.Effective(policy.KeyActive, nil, now))
	require.Equal(t, policy.KeyActive, credential.Effective(policy.KeyActive, &later, now))
	require.Equal(t, credential.Expired, credential.Effective(policy.KeyActive, &now, now), "the moment itself is over")
	require.Equal(t, credential.Expired, credential.Effective(policy.KeyPaused, &now, now))
	require.Equal(t, policy.KeyRevoked, credential.Effective(policy.KeyRevoked, &now, now), "revoked is final")
}

func TestRotation(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	present := secret.Hash{1}
	previous, until := credential.Rotation{Grace: time.Hour}.Retire(present, now)
	require.Equal(t, present, previous)
	require.Equal(t, now.Add(time.Hour), *until)
	previous, until = credential.Rotation{}.Retire(present, now)
	require.Zero(t, previous)
	require.Nil(t, until)

	require.NoError(t, credential.Rotation{Grace: credential.MaxGrace}.Validate())
	for _, grace := range []time.Duration{-time.Second, credential.MaxGrace + time.Second} {
		err := credential.Rotation{Grace: grace}.Validate()
		require.True(t, fault.Is(err, fault.ValidationError))
		require.Equal(t, "grace_seconds", fault.Of(err).Violations[0].Path)
	}
}
