package usage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestTrialsAreSummedByCell(t *testing.T) {
	ws, rollout := id.New[id.WorkspaceKind](ids), id.New[id.RolloutKind](ids)
	entry := func(candidate bool, outcome wire.Outcome, code fault.Code, took time.Duration, cost money.Nanos) Entry {
		return Entry{Workspace: ws, Cost: meter.Cost{Total: cost}, Rollout: &wire.UsageRollout{
			ID: rollout, Candidate: candidate, Outcome: outcome, Code: string(code), Took: took,
		}}
	}
	got := Trials([]Entry{
		entry(true, wire.Success, "", time.Second, 7), entry(false, wire.Success, "", time.Second, 1),
		entry(true, wire.Failed, fault.UpstreamServerError, time.Second, 0), entry(true, wire.Success, "", time.Second, 8),
		entry(true, wire.Failed, fault.UpstreamTimeout, time.Minute, 0), {Workspace: ws},
		entry(true, wire.Refused, fault.RouteRejected, 0, 0), {Workspace: ws, Rollout: &wire.UsageRollout{Outcome: wire.Success}},
	})
	cell := func(candidate bool, bucket int, n int64, cost money.Nanos) Trial {
		return Trial{Workspace: ws, Rollout: rollout, Cell: tally.Cell{Candidate: candidate, Bucket: bucket, Requests: n, Cost: cost}}
	}
	second := tally.Bucket(time.Second)
	require.Equal(t, []Trial{cell(false, second, 1, 1), cell(true, tally.Failed, 2, 0), cell(true, second, 2, 15)}, got)
}

// Each code of the inference API either counts as a failure or does not count.
func TestWhatARolloutIsJudgedBy(t *testing.T) {
	counts := map[fault.Code]bool{
		"upstream_rate_limited": true, "upstream_server_error": true, "upstream_unreachable": true, "upstream_timeout": true,
		"upstream_credential_rejected": true, "upstream_undetermined": true, "submission_unknown": true, "gateway_error": true,
		"unsupported_model_or_endpoint": true, "model_region_unavailable": true, "model_retired": true, "guardrail_blocked": true,
	}
	for _, code := range fault.All() {
		for _, outcome := range []wire.Outcome{wire.Failed, wire.Refused} {
			bucket, ok := bucketOf(&wire.UsageRollout{Outcome: outcome, Code: string(code), Took: time.Hour})
			require.Equal(t, counts[code], ok, code)
			require.Equal(t, tally.Failed, bucket)
		}
		_, ok := bucketOf(&wire.UsageRollout{Outcome: wire.Canceled, Code: string(code)})
		require.False(t, ok, "the caller left")
	}
	_, ok := bucketOf(&wire.UsageRollout{Outcome: wire.Unknown})
	require.False(t, ok)
}
