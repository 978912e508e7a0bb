package affinitytest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Bench is a store with the world around it.
type Bench struct {
	Store affinity.Store
	Other affinity.Store      // another gateway's, of the same documents
	Pass  func(time.Duration) // lets time go by; nil: it does by itself
	Stop  func()              // takes the servers away
	Start func()              // brings them back, without what memory held
}

// patience is how long what happens by itself may take.
const patience = 20 * time.Second

// Stores holds a store to what affinity expects of one.
func Stores(t *testing.T, open func(t *testing.T) Bench) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, Bench){
		"what one writes the other reads":                     shared,
		"nothing leaves it":                                   left,
		"no change is lost":                                   counted,
		"it ends after its life, each write begins a new one": ends,
		"everybody hears":                                     heard,
		"away and back":                                       awayAndBack,
	} {
		t.Run(name, func(t *testing.T) { check(t, open(t)) })
	}
}

var (
	ws    = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001")
	other = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000002")
)

func name(ws id.Workspace, n byte) affinity.Name {
	return affinity.Name{Workspace: ws, Digest: [16]byte{n, 1, 2}}
}

func put(t *testing.T, s affinity.Store, n affinity.Name, text string, life time.Duration) []byte {
	t.Helper()
	got, err := s.Change(t.Context(), n, func([]byte) ([]byte, time.Duration) { return []byte(text), life })
	require.NoError(t, err)
	return got
}

func absent(t *testing.T, s affinity.Store, n affinity.Name) {
	t.Helper()
	_, err := s.Get(t.Context(), n)
	require.ErrorIs(t, err, affinity.ErrAbsent)
}

func holds(t *testing.T, s affinity.Store, n affinity.Name, text string) {
	t.Helper()
	got, err := s.Get(t.Context(), n)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}

func shared(t *testing.T, b Bench) {
	t.Helper()
	n := name(ws, 1)
	absent(t, b.Store, n)
	require.Equal(t, "a", string(put(t, b.Store, n, "a", time.Minute)))
	holds(t, b.Other, n, "a")
	absent(t, b.Other, name(other, 1))
	absent(t, b.Other, name(ws, 2))
	put(t, b.Other, n, "b", time.Minute)
	holds(t, b.Store, n, "b")
}

func left(t *testing.T, b Bench) {
	t.Helper()
	n := name(ws, 1)
	none := func([]byte) ([]byte, time.Duration) { return nil, 0 }
	got, err := b.Store.Change(t.Context(), n, none)
	require.NoError(t, err)
	require.Nil(t, got)
	absent(t, b.Store, n)
	put(t, b.Store, n, "a", time.Minute)
	got, err = b.Store.Change(t.Context(), n, none)
	require.NoError(t, err)
	require.Equal(t, "a", string(got))
}

func counted(t *testing.T, b Bench) {
	t.Helper()
	n := name(ws, 1)
	const each = 20
	var all sync.WaitGroup
	for _, s := range []affinity.Store{b.Store, b.Other} {
		all.Go(func() {
			for range each {
				_, err := s.Change(context.Background(), n, func(old []byte) ([]byte, time.Duration) {
					count, _ := strconv.Atoi(string(old))
					return strconv.AppendInt(nil, int64(count+1), 10), time.Minute
				})
				if err != nil {
					t.Errorf("change: %v", err)
					return
				}
			}
		})
	}
	all.Wait()
	holds(t, b.Store, n, strconv.Itoa(2*each))
}

func ends(t *testing.T, b Bench) {
	t.Helper()
	n := name(ws, 1)
	put(t, b.Store, n, "a", time.Second)
	put(t, b.Store, name(ws, 2), "a", time.Hour)
	put(t, b.Store, name(ws, 2), "a", time.Second)
	put(t, b.Store, name(ws, 3), "a", time.Second)
	put(t, b.Store, name(ws, 3), "a", time.Hour)
	if b.Pass != nil {
		b.Pass(time.Second)
	}
	for _, ends := range []affinity.Name{n, name(ws, 2)} {
		require.Eventually(t, func() bool {
			_, err := b.Store.Get(t.Context(), ends)
			return errors.Is(err, affinity.ErrAbsent)
		}, patience, 20*time.Millisecond)
	}
	holds(t, b.Store, name(ws, 3), "a")
	// What is over can be written again, and nothing of it is seen then.
	_, err := b.Store.Change(t.Context(), n, func(old []byte) ([]byte, time.Duration) {
		require.Empty(t, old)
		return []byte("c"), time.Minute
	})
	require.NoError(t, err)
	holds(t, b.Other, n, "c")
}

func heard(t *testing.T, b Bench) {
	t.Helper()
	var mu sync.Mutex
	heard := map[affinity.Name]string{}
	began := make(chan struct{}, 8)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- b.Other.Watch(ctx, func(n affinity.Name, doc []byte) {
			mu.Lock()
			defer mu.Unlock()
			heard[n] = string(doc)
		}, func() { began <- struct{}{} })
	}()
	<-began
	put(t, b.Store, name(ws, 1), "a", time.Minute)
	put(t, b.Other, name(other, 2), "b", time.Minute)
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return heard[name(ws, 1)] == "a" && heard[name(other, 2)] == "b"
	}, patience, time.Millisecond)
	end()
	require.NoError(t, <-done)
}

func awayAndBack(t *testing.T, b Bench) {
	t.Helper()
	n := name(ws, 1)
	put(t, b.Store, n, "a", time.Minute)
	missed := make(chan struct{}, 64)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- b.Store.Watch(ctx, func(affinity.Name, []byte) {}, func() { missed <- struct{}{} })
	}()
	<-missed
	b.Stop()
	require.Eventually(t, func() bool {
		_, err := b.Store.Get(t.Context(), n)
		return err != nil && !errors.Is(err, affinity.ErrAbsent)
	}, patience, time.Millisecond, "away is not absent")
	_, err := b.Store.Change(t.Context(), n, func([]byte) ([]byte, time.Duration) { return []byte("x"), time.Minute })
	require.Error(t, err)
	b.Start()
	<-missed // what was written meanwhile was not heard
	absent(t, b.Store, n)
	put(t, b.Store, n, "b", time.Minute)
	holds(t, b.Other, n, "b")
	end()
	require.NoError(t, <-done)
}
