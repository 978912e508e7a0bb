// Package calltest owns the conformance suite of call.Frames: what a two-way
// conversation is to those who carry it. It knows no transport.
package calltest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
)

// RunFrames tests one side of a conversation, of which connect makes a new one
// together with its other side. Texts are JSON, as some sides want them.
func RunFrames(t *testing.T, connect func(t *testing.T) (side, other call.Frames)) {
	for name, law := range map[string]func(*testing.T, call.Frames, call.Frames){
		"both ways at once":         bothWays,
		"many send":                 manySend,
		"the other side's end":      otherEnds,
		"the end ends Receive":      endEndsReceive,
		"an end is an end for good": endsForGood,
		"alive":                     alive,
		"silent":                    silent,
	} {
		t.Run(name, func(t *testing.T) {
			side, other := connect(t)
			law(t, side, other)
		})
	}
}

// limit is when a test that waits gives up.
const limit = 30 * time.Second

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// bothWays: what is sent arrives in order and unchanged, while as much goes the
// other way.
func bothWays(t *testing.T, side, other call.Frames) {
	ctx := bounded(t)
	var sent sync.WaitGroup
	var errs [2]error
	sent.Go(func() { errs[0] = say(ctx, side, frames("side")) })
	sent.Go(func() { errs[1] = say(ctx, other, frames("other")) })
	var atOther []call.Frame
	var errOther error
	sent.Go(func() { atOther, errOther = hear(ctx, other, len(frames("side"))) })
	atSide, err := hear(ctx, side, len(frames("other")))
	sent.Wait()
	require.NoError(t, err)
	require.NoError(t, errOther)
	require.Equal(t, [2]error{}, errs)
	require.Equal(t, frames("other"), atSide)
	require.Equal(t, frames("side"), atOther)
	closeBoth(side, other)
}

// manySend: frames of those who send at once stay whole, each sender's in order.
func manySend(t *testing.T, side, other call.Frames) {
	ctx := bounded(t)
	senders := []string{"a", "b", "c"}
	var sent sync.WaitGroup
	errs := make([]error, len(senders))
	for i, who := range senders {
		sent.Go(func() { errs[i] = say(ctx, side, frames(who)[3:]) })
	}
	all, err := hear(ctx, other, len(senders)*len(frames("a")[3:]))
	sent.Wait()
	require.NoError(t, err)
	require.Equal(t, make([]error, len(senders)), errs)
	for _, who := range senders {
		var of []call.Frame
		for _, f := range all {
			if strings.Contains(string(f.Data), fmt.Sprintf(`"from":%q`, who)) {
				of = append(of, f)
			}
		}
		require.Equal(t, frames(who)[3:], of)
	}
	closeBoth(side, other)
}

// otherEnds: what the other side said before its end arrives, and then io.EOF.
func otherEnds(t *testing.T, side, other call.Frames) {
	ctx := bounded(t)
	require.NoError(t, say(ctx, other, frames("other")[:3]))
	var ended sync.WaitGroup
	ended.Go(func() { other.End(call.Complete) })
	heard, err := hear(ctx, side, 4)
	ended.Wait()
	require.Equal(t, frames("other")[:3], heard)
	require.ErrorIs(t, err, io.EOF)
	_, err = side.Receive(ctx)
	require.Error(t, err, "there is nothing after the end")
	side.End(call.Complete)
}

func endEndsReceive(t *testing.T, side, other call.Frames) {
	ctx := bounded(t)
	var ended sync.WaitGroup
	var err, errOther error
	ended.Go(func() { _, err = side.Receive(ctx) })
	ended.Go(func() { _, errOther = other.Receive(ctx) })
	require.NoError(t, side.Alive(ctx), "both receive")
	side.End(call.Complete)
	ended.Wait()
	require.Error(t, err)
	require.ErrorIs(t, errOther, io.EOF)
	require.NoError(t, ctx.Err(), "nobody waited for the context")
	other.End(call.Complete)
}

func endsForGood(t *testing.T, side, other call.Frames) {
	ctx := bounded(t)
	closeBoth(side, other)
	var again sync.WaitGroup
	for range 2 {
		again.Go(func() { side.End(call.Broken) })
	}
	again.Wait()
	require.Error(t, side.Send(ctx, frames("side")[2]))
	require.Error(t, side.Alive(ctx))
	_, err := side.Receive(ctx)
	require.Error(t, err)
	require.NoError(t, ctx.Err())
}

// alive: a sign of life comes from a side that receives.
func alive(t *testing.T, side, other call.Frames) {
	ctx := bounded(t)
	var heard sync.WaitGroup
	heard.Go(func() { _, _ = side.Receive(ctx) })
	heard.Go(func() { _, _ = other.Receive(ctx) })
	first, second := side.Alive(ctx), side.Alive(ctx)
	side.End(call.Complete)
	heard.Wait()
	other.End(call.Complete)
	require.NoError(t, first)
	require.NoError(t, second)
	require.NoError(t, ctx.Err())
}

// silent: none comes from one that does not, however long it is waited for.
func silent(t *testing.T, side, other call.Frames) {
	ctx := bounded(t)
	var heard sync.WaitGroup
	heard.Go(func() { _, _ = side.Receive(ctx) })
	patience, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	err := side.Alive(patience)
	closeBoth(side, other)
	heard.Wait()
	require.Error(t, err)
}
