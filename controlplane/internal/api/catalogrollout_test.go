package api

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// script answers each look with the next of its lines, and the last one again.
type script struct {
	revisions []int64 // below 0: the look fails
	behind    []int
	asked     int
	beheld    []int64
}

func (s *script) Covering(context.Context, int64) (int64, error) {
	at := s.revisions[min(s.asked, len(s.revisions)-1)]
	s.asked++
	if at < 0 {
		return 0, errors.New("the database is away")
	}
	return at, nil
}

func (s *script) Behind(revision int64) int {
	n := s.behind[min(len(s.beheld), len(s.behind)-1)]
	s.beheld = append(s.beheld, revision)
	return n
}

func TestARolloutIsAwaited(t *testing.T) {
	const unknown = int64(math.MaxInt64)
	cases := map[string]struct {
		script   script
		version  int64
		limit    time.Duration
		revision int64
		pending  int
		asked    int     // times that the publication was looked up
		beheld   []int64 // revisions that gateways were held against
	}{
		"nothing was ever set":          {script{revisions: []int64{7}, behind: []int{3}}, 0, time.Hour, 0, 0, 0, nil},
		"served at once":                {script{revisions: []int64{7}, behind: []int{0}}, 4, time.Hour, 7, 0, 1, []int64{7}},
		"one look without time":         {script{revisions: []int64{0}, behind: []int{2}}, 4, 0, 0, 2, 1, []int64{unknown}},
		"unpublished, without gateways": {script{revisions: []int64{0}, behind: []int{0}}, 4, 0, 0, 1, 1, []int64{unknown}},
		"looked up while unknown alone": {script{revisions: []int64{0, -1, 7}, behind: []int{2, 2, 2, 1, 0}}, 4, time.Hour, 7, 0, 3, []int64{unknown, unknown, 7, 7, 7}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := catalogRollout{&c.script, &c.script, slog.New(slog.DiscardHandler)}
			revision, pending := r.await(t.Context(), c.version, c.limit)
			require.Equal(t, c.revision, revision)
			require.Equal(t, c.pending, pending)
			require.Equal(t, c.asked, c.script.asked)
			require.Equal(t, c.beheld, c.script.beheld)
		})
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	revision, pending := catalogRollout{&script{revisions: []int64{7}}, &script{behind: []int{2}}, slog.New(slog.DiscardHandler)}.await(ctx, 4, time.Hour)
	require.EqualValues(t, 7, revision)
	require.Equal(t, 2, pending, "the caller has gone")
}
