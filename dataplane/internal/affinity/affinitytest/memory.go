// Package affinitytest has a store of pins in memory, with a clock that tests
// own, and the suite that holds every store to the same behavior.
package affinitytest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
)

// ErrDown is what Memory answers while it is down.
var ErrDown = errors.New("store is down")

// Memory is a store for the gateways of one test.
type Memory struct {
	mu       sync.Mutex
	now      time.Time
	docs     map[affinity.Name]doc
	watchers map[int]watcher
	next     int
	down     bool
	hang     chan struct{} // not nil: Get waits for it

	gets, writes int
}

type doc struct {
	data  []byte
	until time.Time
}

type watcher struct {
	heard  func(n affinity.Name, doc []byte)
	missed func()
}

// NewMemory returns an empty store whose clock stands at now.
func NewMemory(now time.Time) *Memory {
	return &Memory{now: now, docs: map[affinity.Name]doc{}, watchers: map[int]watcher{}}
}

// Now is the store's clock.
func (m *Memory) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Pass moves the clock.
func (m *Memory) Pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Stop makes everything fail, and what is written meanwhile unheard.
func (m *Memory) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = true
}

// Hang makes Get wait until its caller gives up, or release is called.
func (m *Memory) Hang() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hang := make(chan struct{})
	m.hang = hang
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		close(hang)
		m.hang = nil
	}
}

// Start ends Stop. With wipe everything is lost, as a server's memory is.
func (m *Memory) Start(wipe bool) {
	m.mu.Lock()
	m.down = false
	if wipe {
		clear(m.docs)
	}
	watchers := m.listening()
	m.mu.Unlock()
	for _, w := range watchers {
		w.missed()
	}
}

// Count is how often documents were read and written.
func (m *Memory) Count() (gets, writes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gets, m.writes
}

func (m *Memory) listening() (all []watcher) {
	for _, w := range m.watchers {
		all = append(all, w)
	}
	return all
}

// Get implements affinity.Store.
func (m *Memory) Get(ctx context.Context, n affinity.Name) ([]byte, error) {
	m.mu.Lock()
	hang := m.hang
	m.gets++
	m.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.docs[n]
	switch {
	case m.down:
		return nil, ErrDown
	case !ok || !m.now.Before(d.until):
		return nil, affinity.ErrAbsent
	}
	return d.data, nil
}

// Change implements affinity.Store.
func (m *Memory) Change(_ context.Context, n affinity.Name, change func([]byte) ([]byte, time.Duration)) ([]byte, error) {
	m.mu.Lock()
	if m.down {
		m.mu.Unlock()
		return nil, ErrDown
	}
	var old []byte
	if d, ok := m.docs[n]; ok && m.now.Before(d.until) {
		old = d.data
	}
	data, life := change(old)
	if data == nil {
		m.mu.Unlock()
		return old, nil
	}
	m.writes++
	m.docs[n] = doc{data: data, until: m.now.Add(life)}
	watchers := m.listening()
	m.mu.Unlock()
	for _, w := range watchers {
		w.heard(n, data)
	}
	return data, nil
}

// Watch implements affinity.Store.
func (m *Memory) Watch(ctx context.Context, heard func(affinity.Name, []byte), missed func()) error {
	m.mu.Lock()
	key := m.next
	m.next++
	m.watchers[key] = watcher{heard: heard, missed: missed}
	missed() // who sees the watcher knows that it has begun
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.watchers, key)
	return nil
}

// Watchers is how many listen.
func (m *Memory) Watchers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.watchers)
}
