package process_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/test/harness/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProcessIsKilledAndStartedAgain(t *testing.T) {
	p, err := process.Start(process.Spec{Name: "sh", Path: "/bin/sh", Args: []string{"-c", "echo run; exec sleep 60"}})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return strings.Count(p.Log(), "run") == 1 }, 5*time.Second, time.Millisecond)
	first := p.PID()
	require.NoError(t, p.Kill())
	<-p.Ended()

	require.NoError(t, p.Restart())
	require.NotEqual(t, first, p.PID())
	require.Eventually(t, func() bool { return strings.Count(p.Log(), "run") == 2 }, 5*time.Second, time.Millisecond)
	require.NoError(t, p.Stop(5*time.Second))
}

func TestStopSaysThatItHadToKill(t *testing.T) {
	p, err := process.Start(process.Spec{Name: "stubborn", Path: "/bin/sh", Args: []string{"-c", "trap '' TERM; echo run; while :; do sleep 0.01; done"}})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return strings.Contains(p.Log(), "run") }, 5*time.Second, time.Millisecond)
	require.ErrorContains(t, p.Stop(50*time.Millisecond), "stubborn did not end")
}
