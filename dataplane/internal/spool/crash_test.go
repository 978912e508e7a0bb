package spool

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// childEnv makes the test binary a gateway that records requests in its working
// directory and says on its output what was answered, until it is killed.
const childEnv = "SPOOL_CHILD"

func child() {
	// With room in the journal for most of a segment, for a few records, for less
	// than one, and without a journal.
	sizes := []int{8 << 10, 2 << 10, 100, -1}
	s, err := Open(".", Options{SegmentBytes: 16 << 10, JournalBytes: sizes[rand.IntN(len(sizes))]})
	if err != nil {
		fmt.Fprintln(os.Stdout, "failed", err)
		os.Exit(1)
	}
	var out sync.Mutex
	say := func(what string, req id.Request) {
		out.Lock()
		defer out.Unlock()
		fmt.Fprintln(os.Stdout, what, req) // one write(2): the pipe has it when the process dies
	}
	for range 4 {
		go func() {
			for {
				req := newRequest()
				if s.Intent(intentOf(req)) == nil {
					say("started", req)
				}
				if s.Complete(eventOf(req)) == nil {
					say("completed", req)
				}
			}
		}()
	}
	select {}
}

// TestKillLosesNothing kills a recording process again and again. Every request
// that was answered must be there once, every one that had started at least as
// unknown, and the sequence must have no gap.
func TestKillLosesNothing(t *testing.T) {
	dir := t.TempDir()
	started, completed := map[string]bool{}, map[string]bool{}
	for range 12 {
		runChild(t, dir, started, completed)
	}
	s := open(t, dir, Options{})
	require.Zero(t, s.counts.quarantined)
	outcomes := map[string]wire.Outcome{}
	got := stored(t, s)
	for i, ev := range got {
		require.EqualValues(t, i+1, ev.Sequence)
		require.NotContains(t, outcomes, ev.ID.String(), "recorded twice")
		outcomes[ev.ID.String()] = ev.Outcome
	}
	require.NotEmpty(t, completed)
	for req := range completed {
		require.Equal(t, wire.Success, outcomes[req], req)
	}
	for req := range started {
		require.Contains(t, outcomes, req)
	}
}

// runChild runs one child for a random number of answers and kills it.
func runChild(t *testing.T, dir string, started, completed map[string]bool) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childEnv+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	watchdog := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	answers, killAfter := 0, 50+rand.IntN(500)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		what, req, _ := strings.Cut(lines.Text(), " ")
		switch what {
		case "started":
			started[req] = true
		case "completed":
			completed[req] = true
			if answers++; answers == killAfter {
				require.NoError(t, cmd.Process.Kill())
			}
		default:
			t.Errorf("child: %s", lines.Text())
		}
	}
	_ = cmd.Wait() // "signal: killed"
	require.GreaterOrEqual(t, answers, killAfter)
}
