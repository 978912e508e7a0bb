package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Each code either counts as a failure or does not count.
func TestWhatARolloutIsJudgedBy(t *testing.T) {
	counts := map[fault.Code]bool{
		"upstream_rate_limited": true, "upstream_server_error": true, "upstream_unreachable": true, "upstream_timeout": true,
		"upstream_credential_rejected": true, "upstream_undetermined": true, "submission_unknown": true, "gateway_error": true,
		"unsupported_model_or_endpoint": true, "model_region_unavailable": true, "model_retired": true, "guardrail_blocked": true,
	}
	judge := func(outcome wire.Outcome, code fault.Code) [2]bool {
		failed, judged := (&wire.UsageRollout{Outcome: outcome, Code: string(code)}).Judge()
		return [2]bool{failed, judged}
	}
	for _, code := range fault.All() {
		for _, outcome := range []wire.Outcome{wire.Failed, wire.Refused} {
			require.Equal(t, [2]bool{counts[code], counts[code]}, judge(outcome, code), code)
		}
		require.Equal(t, [2]bool{}, judge(wire.Canceled, code), "the caller left")
		require.Equal(t, [2]bool{}, judge(wire.Unknown, code))
	}
	named := wire.UsageRollout{Outcome: wire.Refused, Code: "model_not_found", Named: true}
	failed, judged := named.Judge()
	require.True(t, failed && judged, "a name that is the version's own")
	require.Equal(t, [2]bool{false, true}, judge(wire.Success, ""))
	require.Equal(t, [2]bool{}, judge("other", ""), "of a later version")
}
