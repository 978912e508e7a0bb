package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestOwnParams(t *testing.T) {
	for _, own := range []string{"model", "Stream", "prompt_cache_key", "promptCacheKey", "metadata", "systemInstruction", "ROUTING_MODE"} {
		require.True(t, policy.OwnParam(own), own)
	}
	for _, free := range []string{"temperature", "background", "generationConfig", "user", ""} {
		require.False(t, policy.OwnParam(free), free)
	}
}
