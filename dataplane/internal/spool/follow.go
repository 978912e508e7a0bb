package spool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Count is what a record adds to the accounts of its workspace.
type Count struct {
	Sequence  uint64
	Workspace id.Workspace
	At        time.Time           // its day is the one that it counts on
	Spends    []wire.AccountSpend // none: nothing is added
}

// usualAccounts is how many accounts most records are counted on at most.
const usualAccounts = 6

func countOf(e *wire.UsageEvent) Count {
	c := Count{Workspace: e.Workspace, At: e.ID.Time()}
	if e.Outcome != wire.Refused {
		c.Spends = e.Spends(make([]wire.AccountSpend, 0, usualAccounts))
	}
	return c
}

// Follower counts what comes into the spool.
type Follower interface {
	// Add takes the next record in the order of sequences. It is called while
	// the spool is locked: it must not wait nor call the spool.
	Add(Count)
	// Counted returns the sequence up to which nothing has to be read again,
	// whatever becomes of the counters' store after the call.
	Counted(ctx context.Context) (uint64, error)
}

// Follow has f told of every record from now on, and returns the last sequence
// before. Records that f has not counted keep their segments, as long as the
// spool is less than half full. There is one follower, and it comes before Run.
func (s *Spool) Follow(f Follower) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follower, s.counted = f, 0
	return s.next - 1
}

// Last is the last sequence of a record that was completed, also where the disk
// has yet to take it.
func (s *Spool) Last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next - 1 + uint64(len(s.held))
}

// told tells the follower of records that got the sequences from s.next on.
// s.mu is held.
func (s *Spool) told(list []encoded) {
	if s.follower == nil {
		return
	}
	for i := range list {
		c := list[i].count
		c.Sequence = s.next + uint64(i)
		s.follower.Add(c)
	}
}

// countedBy asks the follower how far it is. It is asked after the mark was
// learnt and before that counts: what is in Postgres by then is in whatever
// the counters' store is filled from after it was lost.
func (s *Spool) countedBy(ctx context.Context) {
	if s.follower == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	counted, err := s.follower.Counted(ctx)
	if err != nil {
		s.opts.Log.Debug("it was not learnt which usage is counted", slog.Any("error", err))
	}
	s.mu.Lock()
	s.counted = counted
	s.mu.Unlock()
}

// spent is the sequence up to which segments may go. s.mu is held.
func (s *Spool) spent() uint64 {
	if s.follower == nil || s.bytes > s.opts.MaxBytes/2 {
		return s.committed
	}
	return min(s.committed, s.counted)
}

var errNotWritten = errors.New("the newest records are not on the disk yet")

// Counts calls visit with the records above after and up to through, in the
// order of sequences, until it returns false. It returns how many sequences in
// between have no record: their segments are gone, or were lost.
func (s *Spool) Counts(ctx context.Context, after, through uint64, visit func(Count) bool) (missing uint64, err error) {
	if after >= through {
		return 0, nil
	}
	if !s.written() {
		return 0, errNotWritten
	}
	c := cursor{s: s}
	c.seek(position{segment: s.segmentOf(after + 1)})
	defer c.close()
	for reached := after; reached < through; {
		e, ok, err := c.next()
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return missing, err
		}
		if !ok || e.seq > through {
			return missing + through - reached, nil
		}
		if e.last <= reached {
			continue
		}
		missing += max(e.seq, reached+1) - reached - 1
		reached = e.last
		count, err := e.count()
		if err != nil {
			return missing, err
		}
		if e.lost {
			missing += e.last - e.seq + 1
		}
		if !visit(count) {
			return missing, nil
		}
	}
	return missing, nil
}

// written has the active segment hold every record, and says whether it does.
func (s *Spool) written() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flushTail() == nil
}

// count is what the event adds; nothing for a lost run.
func (e *event) count() (Count, error) {
	if e.lost {
		return Count{Sequence: e.last}, nil
	}
	var ev wire.UsageEvent
	if err := json.Unmarshal(e.body, &ev); err != nil {
		return Count{}, fmt.Errorf("decode usage event: %w", err)
	}
	c := countOf(&ev)
	c.Sequence = e.seq
	return c, nil
}

// segmentOf is the number of the segment to begin with for a sequence.
func (s *Spool) segmentOf(seq uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		if seg.last >= seq {
			return seg.number
		}
	}
	return s.active().number
}
