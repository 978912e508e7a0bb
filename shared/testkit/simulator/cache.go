package simulator

import (
	"sync"
	"time"
)

// cacheMark says that a prompt is to be cached up to a point.
type cacheMark struct {
	prefix string // hash of everything before the mark
	tokens int    // of the prompt up to the mark
	life   time.Duration
}

// prefixes are the prompts that are cached, by owner and hash.
type prefixes struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// maxPrefixes bounds what is remembered; then all of it is forgotten.
const maxPrefixes = 4096

// account counts what is read from the cache and what is written to it. Marks
// are in the order of the prompt: the longest known prefix is read, and every
// mark after it is written.
func (c *prefixes) account(owner string, now time.Time, marks []cacheMark, u *usage) {
	if len(marks) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil || len(c.until) > maxPrefixes {
		c.until = map[string]time.Time{}
	}
	known := -1
	for i, m := range marks {
		if now.Before(c.until[owner+m.prefix]) {
			known = i
		}
	}
	before := 0
	for i, m := range marks {
		switch {
		case i <= known:
			u.cached = m.tokens
		case m.life > 5*time.Minute:
			u.write1h += m.tokens - before
		default:
			u.write5m += m.tokens - before
		}
		before = m.tokens
		c.until[owner+m.prefix] = now.Add(m.life) // a read prolongs
	}
}
