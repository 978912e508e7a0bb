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
		entry(true, wire.Failed, fault.UpstreamTimeout, time.Minute, 0),
		{Workspace: ws},
		entry(true, wire.Refused, fault.RouteRejected, 0, 0),
		{Workspace: ws, Rollout: &wire.UsageRollout{Outcome: wire.Success}},
	})
	cell := func(candidate bool, bucket int, n int64, cost money.Nanos) Trial {
		return Trial{Workspace: ws, Rollout: rollout, Cell: tally.Cell{Candidate: candidate, Bucket: bucket, Requests: n, Cost: cost}}
	}
	second := tally.Bucket(time.Second)
	require.Equal(t, []Trial{cell(false, second, 1, 1), cell(true, tally.Failed, 2, 0), cell(true, second, 2, 15)}, got)
}
