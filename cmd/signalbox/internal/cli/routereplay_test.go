package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// The summary, the nodes and what is not known are apart, and what stands for
// the most of it has a hint.
func TestReplayTable(t *testing.T) {
	node := "plan"
	report := client.DynamicRouteReplayReport{
		Version: 2, Requests: 4, UnknownTotal: 3, ByNode: []client.DynamicRouteReplayNode{{Node: node, Type: "condition", Requests: 4, Unknown: 3}},
		Unknown: []client.DynamicRouteReplayUnknown{
			{Node: &node, Reason: client.DynamicRouteReplayUnknownReasonHidden, Requests: 2}, {Reason: client.DynamicRouteReplayUnknownReasonPreset, Requests: 1},
		},
	}
	told := func() string {
		var out bytes.Buffer
		table := newTable(&out)
		replayTable(table, report)
		require.NoError(t, table.flush())
		return out.String()
	}
	require.Contains(t, told(), "\n\nNODE")
	require.Contains(t, told(), "settings set replay_values=yes")
	require.NotContains(t, told(), "decided with a preset")
	report.Unknown[1].Requests = 3
	require.Contains(t, told(), "decided with a preset")
	report.UnknownTotal = 2
	require.NotContains(t, told(), "HINT")
}
