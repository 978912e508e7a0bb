// Package bounded owns what keeps a cache within bounds: a concurrent map that
// never outgrows its capacity (when full it lets go of what was not used lately),
// and a budget for look-ups that may find nothing. It knows nothing of what it
// holds.
package bounded

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

const shards = 16 // a power of two; enough that readers rarely meet a writer

// Cache holds at most a fixed number of values. A look-up takes one shard's
// read lock for one map access and does not allocate. Eviction is second
// chance (CLOCK): an approximation of least recently used whose look-ups only
// set a flag.
type Cache[K comparable, V any] struct {
	seed  maphash.Seed
	parts [shards]shard[K, V]
}

type shard[K comparable, V any] struct {
	mu    sync.RWMutex
	slots map[K]*slot[K, V]
	ring  []*slot[K, V]
	hand  int
	limit int
}

type slot[K comparable, V any] struct {
	key   K
	value V
	place int // in ring
	used  atomic.Bool
}

// New returns a cache for about capacity values, at least one to a shard.
func New[K comparable, V any](capacity int) *Cache[K, V] {
	c := &Cache[K, V]{seed: maphash.MakeSeed()}
	for i := range c.parts {
		c.parts[i].limit = max(1, (capacity+shards-1)/shards)
		c.parts[i].slots = make(map[K]*slot[K, V])
	}
	return c
}

func (c *Cache[K, V]) part(k K) *shard[K, V] {
	return &c.parts[maphash.Comparable(c.seed, k)&(shards-1)]
}

// Get returns the value of k.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	p := c.part(k)
	p.mu.RLock()
	s, ok := p.slots[k]
	if ok {
		v = s.value
		if !s.used.Load() { // a write on every read would make readers fight over the line
			s.used.Store(true)
		}
	}
	p.mu.RUnlock()
	return v, ok
}

// Update replaces the value of k by what change makes of the present one;
// change runs under the shard's lock and must be quick. When change returns
// false nothing happens. It returns what had to go for a new value.
func (c *Cache[K, V]) Update(k K, change func(old V, ok bool) (V, bool)) (evicted K, wasEvicted bool) {
	p := c.part(k)
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.slots[k]
	if ok {
		if v, do := change(s.value, true); do {
			s.value = v
		}
		return evicted, false
	}
	var none V
	v, do := change(none, false)
	if !do {
		return evicted, false
	}
	if len(p.ring) >= p.limit {
		evicted, wasEvicted = p.evict(), true
	}
	s = &slot[K, V]{key: k, value: v, place: len(p.ring)}
	p.slots[k] = s
	p.ring = append(p.ring, s)
	return evicted, wasEvicted
}

// Put sets the value of k and returns what had to go.
func (c *Cache[K, V]) Put(k K, v V) (evicted K, wasEvicted bool) {
	return c.Update(k, func(V, bool) (V, bool) { return v, true })
}

// Remove forgets k and reports whether it was there.
func (c *Cache[K, V]) Remove(k K) bool {
	p := c.part(k)
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.slots[k]
	if ok {
		p.drop(s)
	}
	return ok
}

// Len is the number of values held.
func (c *Cache[K, V]) Len() int {
	n := 0
	for i := range c.parts {
		p := &c.parts[i]
		p.mu.RLock()
		n += len(p.ring)
		p.mu.RUnlock()
	}
	return n
}

// Each calls fn for a copy of what is held, without holding a lock.
func (c *Cache[K, V]) Each(fn func(K, V)) {
	type pair struct {
		k K
		v V
	}
	for i := range c.parts {
		p := &c.parts[i]
		p.mu.RLock()
		all := make([]pair, 0, len(p.ring))
		for _, s := range p.ring {
			all = append(all, pair{s.key, s.value})
		}
		p.mu.RUnlock()
		for _, e := range all {
			fn(e.k, e.v)
		}
	}
}

func (p *shard[K, V]) evict() K {
	for {
		p.hand %= len(p.ring)
		s := p.ring[p.hand]
		if !s.used.Swap(false) {
			p.drop(s)
			return s.key
		}
		p.hand++
	}
}

// drop moves the last slot into the freed place.
func (p *shard[K, V]) drop(s *slot[K, V]) {
	delete(p.slots, s.key)
	last := len(p.ring) - 1
	moved := p.ring[last]
	p.ring[s.place], moved.place = moved, s.place
	p.ring[last] = nil
	p.ring = p.ring[:last]
}
