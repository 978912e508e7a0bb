package ledger

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// replica is a store that answers reads from before for a while, as a server does
// that is behind.
type replica struct {
	Store
	left  atomic.Int64
	got   map[totalRef]wire.Spend
	state uint64
}

func (r *replica) Read(ctx context.Context, epoch string, totals []totalRef) (map[totalRef]wire.Spend, uint64, error) {
	if r.left.Add(-1) >= 0 {
		return r.got, r.state, ctx.Err()
	}
	return r.Store.Read(ctx, epoch, totals)
}

// TestExactIsNotAnsweredFromBefore by a server that is behind.
func TestExactIsNotAnsweredFromBefore(t *testing.T) {
	b := newBench(t)
	b.fill(nil, nil)
	n := b.node(newClock(monday).now)
	ws, key := newKey()
	points := make(chan Progress, 100)
	n.ledger.OnProgress(func(p Progress) { points <- p })
	n.finish(t, ws, key)
	var p Progress
	for p.Sequence < 1 {
		p = <-points
	}
	behind := &replica{Store: n.store, state: p.Stream - 1}
	l := &Ledger{opts: Options{Store: behind}, epoch: p.Epoch}
	behind.left.Store(5)
	got, at, err := l.Exact(t.Context(), ws, wire.KeyAccount(key), monday, p.Point)
	require.NoError(t, err)
	require.Equal(t, one, got.Daily)
	require.GreaterOrEqual(t, at.Stream, p.Stream)
	require.Negative(t, behind.left.Load(), "it was asked until it knew")

	behind.left.Store(1 << 40)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, _, err = l.Exact(ctx, ws, wire.KeyAccount(key), monday, p.Point)
	require.ErrorIs(t, err, ErrUnavailable)
	got, at, err = l.Exact(t.Context(), ws, wire.KeyAccount(key), monday, Point{p.Epoch, p.Stream - 1})
	require.NoError(t, err, "who asks for no more gets it")
	require.Zero(t, got.Daily)
	require.Equal(t, Point{p.Epoch, p.Stream - 1}, at)
}

// TestAReadIsOfOneState, with commits under way: it has all or nothing of each,
// and its state says which.
func TestAReadIsOfOneState(t *testing.T) {
	b := newBench(t)
	epoch := b.fill(nil, nil)
	ws, _ := newKey()
	refs := []totalRef{{accountRef{ws, wire.AccountWorkspace}, ever}}
	spend := amounts{{ws, wire.AccountWorkspace}: {{dayOf(monday), one}}}
	for range 30 {
		ref := accountRef{ws, wire.KeyAccount(id.New[id.KeyKind](ids))}
		spend[ref] = []amount{{dayOf(monday), one}}
		refs = append(refs, totalRef{ref, dayOf(monday)})
	}
	var states sync.Map // commits by the state that has them
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := NewNATS(b.server.Connect(), id.New[id.GatewayKind](ids), ids)
		for n := range uint64(300) {
			state, err := s.Commit(context.WithoutCancel(t.Context()), epoch, n, n+1, spend)
			if err != nil {
				t.Error(err)
				return
			}
			states.Store(state, int64(n+1))
		}
	}()
	reader := NewNATS(b.conn, id.New[id.GatewayKind](ids), ids)
	read := make(map[uint64]int64)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got, state, err := reader.Read(t.Context(), epoch, refs)
		require.NoError(t, err)
		for _, ref := range refs {
			require.Equal(t, got[refs[0]], got[ref])
		}
		read[state] = got[refs[0]].Requests
	}
	for state, requests := range read {
		if requests == 0 {
			continue
		}
		committed, ok := states.Load(state)
		require.True(t, ok, "a state between two commits")
		require.Equal(t, committed, requests)
	}
}

// TestExactAfterAWipe is unavailable until the ledger found its place again.
func TestExactAfterAWipe(t *testing.T) {
	b := newBench(t)
	b.fill(nil, nil)
	n := b.node(newClock(monday).now)
	ws, key := newKey()
	n.finish(t, ws, key)
	var before Point
	require.Eventually(t, func() bool {
		got, at, err := n.ledger.Exact(t.Context(), ws, wire.KeyAccount(key), monday, Point{})
		before = at
		return err == nil && got.Daily == one
	}, soon, often)
	points := make(chan Progress, 100)
	n.ledger.OnProgress(func(p Progress) { points <- p })
	b.server.Wipe()
	b.server.Ensure(b.conn)
	_, _, err := n.ledger.Exact(t.Context(), ws, wire.KeyAccount(key), monday, Point{})
	require.ErrorIs(t, err, ErrUnavailable)
	b.fill(nil, nil)
	var p Progress
	for p.Epoch == "" || p.Epoch == before.Epoch || p.Sequence < 1 {
		p = <-points
	}
	_, _, err = n.ledger.Exact(t.Context(), ws, wire.KeyAccount(key), monday, before)
	require.ErrorIs(t, err, ErrUnavailable, "that state is gone")
	got, _, err := n.ledger.Exact(t.Context(), ws, wire.KeyAccount(key), monday, p.Point)
	require.NoError(t, err)
	require.Equal(t, one, got.Daily)
}

// TestTheLargestEventsAreCounted, though each needs most of a commit.
func TestTheLargestEventsAreCounted(t *testing.T) {
	b := newBench(t)
	epoch := b.fill(nil, nil)
	n := b.node(newClock(monday).now)
	ws, key := newKey()
	e := eventOf(ws, key, monday, one)
	for range 2 * wire.MaxAttributed {
		e.Departments = append(e.Departments, id.New[id.DepartmentKind](ids))
		e.Guardrails = append(e.Guardrails, id.New[id.GuardrailKind](ids))
	}
	e.Agent, e.Free, e.Charge, e.CredentialSource = "a", true, 5, "byok"
	for range 3 {
		require.NoError(t, n.spool.Complete(e))
	}
	require.Eventually(t, func() bool { return b.ever(epoch, ws).Requests == 3 }, soon, often)
	for i, want := range map[int]int64{0: 3, wire.MaxAttributed - 1: 3, wire.MaxAttributed: 0} {
		require.Equal(t, want, b.stored(wire.SpendOn(epoch, monday, ws, wire.DepartmentAccount(e.Departments[i]))).Requests)
		require.Equal(t, want, b.stored(wire.SpendEver(epoch, ws, wire.GuardrailAccount(e.Guardrails[i]))).Requests)
	}
}
