package cell

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTake is a strict take that is written, of a subject that nobody else
// uses at the time.
func BenchmarkTake(b *testing.B) {
	n := opened(b, nil).gateway(Options{})
	s := newSubject()
	for b.Loop() {
		took, err := n.Take(b.Context(), s, 1, Limit{Most: unlimited, Unavailable: strict})
		require.NoError(b, err)
		require.True(b, took.OK)
	}
}

// BenchmarkRefusal is a strict take of what is used up.
func BenchmarkRefusal(b *testing.B) {
	n := opened(b, nil).gateway(Options{fresh: time.Hour})
	s := newSubject()
	_, err := n.Take(b.Context(), s, 1, Limit{Most: 1, Unavailable: strict})
	require.NoError(b, err)
	for b.Loop() {
		took, err := n.Take(b.Context(), s, 1, Limit{Most: 1, Unavailable: strict})
		require.NoError(b, err)
		require.False(b, took.OK)
	}
}

// BenchmarkSlot is a slot that is taken and released.
func BenchmarkSlot(b *testing.B) {
	n := opened(b, nil).gateway(Options{})
	s := newSubject()
	for b.Loop() {
		slot, took, err := n.Acquire(b.Context(), s, Limit{Most: 100, Unavailable: strict})
		require.NoError(b, err)
		require.True(b, took.OK)
		slot.Release()
	}
}

// BenchmarkReservation is a reservation that is made and settled.
func BenchmarkReservation(b *testing.B) {
	n := opened(b, nil).gateway(Options{})
	s, account := newSubject(), newSpending(0)
	for b.Loop() {
		r, got, err := n.Reserve(b.Context(), s, 1, account.bound(1000))
		require.NoError(b, err)
		require.True(b, got.OK)
		r.Settle(0, 0)
	}
}
