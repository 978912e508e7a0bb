package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestWhichKeysAreRefused(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	later := now.Add(1)
	for name, c := range map[string]struct {
		key  policy.Key
		want fault.Reason
	}{
		"active":           {policy.Key{Status: policy.KeyActive}, ""},
		"for a while":      {policy.Key{Status: policy.KeyActive, ExpiresAt: &later}, ""},
		"expired":          {policy.Key{Status: policy.KeyActive, ExpiresAt: &now}, fault.KeyExpired},
		"paused":           {policy.Key{Status: policy.KeyPaused, ExpiresAt: &now}, fault.KeyPaused},
		"revoked":          {policy.Key{Status: policy.KeyRevoked, ExpiresAt: &now}, fault.KeyRevoked},
		"no key, as it is": {policy.Key{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := c.key.Refusal(now)
			if c.want == "" {
				require.Nil(t, refusal)
				return
			}
			require.Equal(t, c.want, refusal.Reason)
			require.Equal(t, fault.Unauthorized, refusal.Code)
		})
	}
}
