package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Run ships records to the usage stream, asks for the committed mark and tends
// the directory until ctx ends. It survives every outage of NATS and of the
// control plane, and returns an error only when it could not begin.
func (s *Spool) Run(ctx context.Context) error {
	var js jetstream.JetStream
	if s.opts.NATS != nil {
		var err error
		js, err = jetstream.New(s.opts.NATS,
			jetstream.WithPublishAsyncMaxPending(4*s.opts.Window),
			jetstream.WithPublishAsyncTimeout(s.opts.AckTimeout))
		if err != nil {
			return fmt.Errorf("prepare to ship usage: %w", err)
		}
		defer js.CleanupPublisher()
	}
	var wg sync.WaitGroup
	if js != nil {
		wg.Go(func() { s.ship(ctx, js) })
	}
	wg.Go(func() { s.watch(ctx, js) })
	wg.Wait()
	return nil
}

// Flush waits until the stream has everything that was completed before, or ctx
// ends. Run must be running.
func (s *Spool) Flush(ctx context.Context) error {
	for {
		s.mu.Lock()
		left := s.next - 1 - s.acked + uint64(len(s.held))
		progress := s.progress
		s.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d usage records stay in the spool: %w", left, ctx.Err())
		case <-progress:
		}
	}
}

// flight is a publish without an answer yet.
type flight struct {
	future jetstream.PubAckFuture
	n      uint64   // records
	last   uint64   // sequence
	after  position // where to go on when it is stored
}

// shipper is the state of one ship loop.
type shipper struct {
	s       *Spool
	js      jetstream.JetStream
	cursor  cursor
	stored  position // everything before is stored
	flying  []flight // oldest first
	reading bool     // there may be more to read
	most    int      // bytes of a message with several records
	packing
}

// Bounds of the pause after a failed publish.
const (
	minPause = 100 * time.Millisecond
	maxPause = 5 * time.Second
)

func (s *Spool) ship(ctx context.Context, js jetstream.JetStream) {
	sh := &shipper{s: s, js: js, cursor: cursor{s: s}, reading: true, most: s.opts.MessageBytes}
	defer sh.cursor.close()
	pause := minPause
	for ctx.Err() == nil {
		progressed, err := sh.step(ctx)
		if progressed {
			pause = minPause
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		s.failed(err)
		sh.back(sh.stored)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// back forgets what is in flight and reads again from at.
func (sh *shipper) back(at position) {
	sh.flying, sh.stored, sh.reading = nil, at, true
	sh.isAhead = false
	sh.cursor.seek(at)
}

// step publishes while the window has room, then waits for one thing to happen.
// It reports whether the stream stored something.
func (sh *shipper) step(ctx context.Context) (bool, error) {
	if !sh.s.opts.NATS.IsConnected() {
		return false, errNotConnected
	}
	sh.most = min(sh.s.opts.MessageBytes, int(sh.s.opts.NATS.MaxPayload())-headerRoom)
	for sh.reading && len(sh.flying) < sh.s.opts.Window {
		after, ok, err := sh.pack()
		if err != nil {
			return false, err
		}
		if !ok {
			sh.reading = false
			break
		}
		future, err := sh.js.PublishMsgAsync(sh.message(sh.s.gateway))
		if err != nil {
			return false, fmt.Errorf("publish usage: %w", err)
		}
		n := len(sh.events)
		sh.flying = append(sh.flying, flight{future: future, n: uint64(n), last: sh.events[n-1].last, after: after})
	}
	return sh.wait(ctx)
}

// headerRoom is what a message's headers may take of the server's max_payload.
const headerRoom = 1 << 10

var errNotConnected = errors.New("NATS is not connected")

func (sh *shipper) wait(ctx context.Context) (bool, error) {
	var ok <-chan *jetstream.PubAck
	var failed <-chan error
	wake := sh.s.wake
	if len(sh.flying) > 0 {
		ok, failed = sh.flying[0].future.Ok(), sh.flying[0].future.Err()
	}
	if len(sh.flying) >= sh.s.opts.Window {
		wake = nil // more to read does not help
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-sh.s.rewind:
		sh.back(position{})
		return false, nil
	case <-wake:
		err := gather(ctx)
		sh.s.flush()
		sh.reading = true
		return false, err
	case ack := <-ok:
		sh.acked(ack)
		return true, nil
	case err := <-failed:
		return false, fmt.Errorf("publish usage: %w", err)
	}
}

// acked takes the answer to the oldest publish, and those behind it that came
// with it.
func (sh *shipper) acked(ack *jetstream.PubAck) {
	var got answers
	for {
		oldest := sh.flying[0]
		got.add(ack, oldest)
		sh.flying = sh.flying[1:]
		if len(sh.flying) > 0 {
			select {
			case ack = <-sh.flying[0].future.Ok():
				continue
			default:
			}
		}
		sh.stored = oldest.after
		sh.s.storedAt(oldest.last, got)
		return
	}
}

// answers are the stream's to publishes that follow each other. low and last
// are its own numbers of the messages; those of repeats, which it had before,
// are left out.
type answers struct {
	n, low, last uint64   // n counts records
	ends         []uint64 // the last sequence of each message
}

func (a *answers) add(ack *jetstream.PubAck, f flight) {
	a.n += f.n
	a.ends = append(a.ends, f.last)
	if ack.Duplicate {
		return
	}
	if a.last = ack.Sequence; a.low == 0 || a.last < a.low {
		a.low = a.last
	}
}

// gatherFor is how long a record waits for others. Publishing one at a time
// wakes this process and NATS several times for each request, which a lone
// caller sees as 100 µs of latency.
const gatherFor = 20 * time.Millisecond

func gather(ctx context.Context) error {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (s *Spool) mark() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.committed
}

// storedAt notes that the stream stored everything up to a sequence. A stream
// whose numbers fell has lost what came between: it was made anew or restored,
// perhaps between two looks of the watcher, which would see nothing of it once
// the numbers have caught up.
func (s *Spool) storedAt(seq uint64, got answers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked = max(s.acked, seq)
	if got.low > 0 {
		s.wentBack = s.wentBack || got.low <= s.streamSeq
		s.streamSeq = got.last
	}
	s.noteTaken(got.ends)
	s.failing = false
	s.counts.published += got.n
	s.signal()
}

// failed counts a failed publish and logs the first of a row.
func (s *Spool) failed(err error) {
	s.mu.Lock()
	first := !s.failing
	s.failing = true
	s.counts.publishErrors++
	s.mu.Unlock()
	if first {
		s.opts.Log.Warn("usage is not shipped and waits on disk", slog.Any("error", err))
	}
}
