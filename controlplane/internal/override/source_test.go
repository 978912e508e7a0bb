package override

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// direct runs work without a database.
type direct struct{}

func (direct) InTx(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }
func (direct) Read(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }

// kept are versions, the last one present. meet, when set, is called by each
// look, as the wait for the database.
type kept struct {
	mu     sync.Mutex
	states []string
	meet   func(context.Context) error
	away   error
	reads  atomic.Int32
}

func (k *kept) put(document string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.states = append(k.states, document)
}

func (k *kept) Version(ctx context.Context) (int64, error) {
	if k.meet != nil {
		if err := k.meet(ctx); err != nil {
			return 0, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return int64(len(k.states)), k.away
}

func (k *kept) Latest(context.Context) (State, error) {
	k.reads.Add(1)
	k.mu.Lock()
	defer k.mu.Unlock()
	s := State{Version: int64(len(k.states))}
	return s, json.Unmarshal([]byte(k.states[len(k.states)-1]), &s.Document)
}

func (*kept) Published(context.Context, int64, int64, time.Time) error { return nil }

const context7, context8 = `{"models":[{"id":"acme/small","context":7}]}`, `{"models":[{"id":"acme/small","context":8}]}`

func sourceOver(t *testing.T, k *kept) *Source {
	t.Helper()
	s, err := NewSource(direct{}, k, catalog.Catalog{Schema: catalog.Schema})
	require.NoError(t, err)
	return s
}

func contextOf(t *testing.T, v *catalog.View) int64 {
	t.Helper()
	m, ok := v.Model("acme/small")
	require.True(t, ok)
	return m.Context
}

func TestAVersionIsCompiledOnce(t *testing.T) {
	k := &kept{states: []string{context7}}
	s := sourceOver(t, k)
	first, err := s.View(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 7, contextOf(t, first))
	again, err := s.View(t.Context())
	require.NoError(t, err)
	require.Same(t, first, again)
	require.EqualValues(t, 1, k.reads.Load())
	k.put(context8)
	next, err := s.View(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 8, contextOf(t, next))
	require.EqualValues(t, 7, contextOf(t, first), "who has the former keeps it")
}

// TestLooksDoNotWaitForEachOther: all look at the database at once, which none
// could if one held a lock meanwhile; and still they compile the version once.
func TestLooksDoNotWaitForEachOther(t *testing.T) {
	const callers = 8
	var there sync.WaitGroup
	there.Add(callers)
	k := &kept{states: []string{context7}, meet: func(ctx context.Context) error {
		there.Done()
		all := make(chan struct{})
		go func() { there.Wait(); close(all) }()
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	s := sourceOver(t, k)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	views := make([]*catalog.View, callers)
	errs := make([]error, callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { views[i], errs[i] = s.View(ctx) })
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
	for _, v := range views {
		require.Same(t, views[0], v)
	}
}

func TestWhatDoesNotFitIsNotOffered(t *testing.T) {
	k := &kept{states: []string{context7}}
	s := sourceOver(t, k)
	_, err := s.View(t.Context())
	require.NoError(t, err)
	k.put(`{"models":[{"id":"acme/small","endpoints":[{"provider":"vanished","upstream_model":"x"}]}]}`)
	stays, err := s.View(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 7, contextOf(t, stays), "what was offered before")
	_, version, err := s.Catalog(t.Context())
	require.EqualValues(t, 2, version)
	problems, ok := errors.AsType[catalog.Problems](err)
	require.True(t, ok)
	require.NotEmpty(t, problems)
	k.put(context8)
	c, version, err := s.Catalog(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, version)
	require.EqualValues(t, 8, c.Models[0].Context)

	k.away = errors.New("the database is away")
	_, err = s.View(t.Context())
	require.ErrorIs(t, err, k.away)
}

func TestASourceOverAWrongCatalogIsNone(t *testing.T) {
	_, err := NewSource(direct{}, &kept{}, catalog.Catalog{})
	require.Error(t, err)
}
