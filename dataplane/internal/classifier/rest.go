package classifier

import (
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// What a model that does not answer in time costs: every request of
// signalbox/auto waits for it. A limit of 800 ms says nothing of an endpoint that
// is good for longer answers, so its health does not tell, and it is counted here.
const (
	restAfter = 3 // answers too late, in a row
	restFirst = 30 * time.Second
	restMost  = 15 * time.Minute
)

// rests are the models that are left alone for a while. Few models are ever
// asked: one at a time, by the operator's word or the catalog.
type rests struct {
	mu    sync.Mutex
	known map[string]*rest
}

// rest is what is known of a model that was too slow.
type rest struct {
	late    int // answers too late, in a row, up to restAfter
	times   int // that it rested, in a row
	until   time.Time
	probing bool // one request finds out whether it is better
}

// may reports whether a model may be asked now. Of one whose rest is over the
// first that asks finds out, and the others wait for that.
func (r *rests) may(model string, now time.Time, within time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.known[model]
	if k == nil || k.late < restAfter {
		return true
	}
	if left := k.until.Sub(now); left > 0 && left <= restMost { // else the clock jumped back
		return false
	}
	k.until, k.probing = now.Add(2*within), true
	return true
}

// ended counts an answer that did not come in time, and forgets all of it after
// one that did, be it an error. Those that were under way when the rest began
// make it no longer.
func (r *rests) ended(c *decide.Classification, now time.Time) {
	if c.Request == "" {
		return // nobody was asked
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Why != decide.LocalTimeout {
		delete(r.known, c.Model)
		return
	}
	k := r.known[c.Model]
	if k == nil {
		k = &rest{}
		r.known[c.Model] = k
	}
	if k.late == restAfter && !k.probing {
		return
	}
	k.late = min(k.late+1, restAfter)
	if k.late == restAfter {
		k.until, k.probing = now.Add(min(restFirst<<min(k.times, 5), restMost)), false
		k.times++
	}
}
