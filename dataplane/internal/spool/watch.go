package spool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// watch tends the directory and follows the committed mark.
func (s *Spool) watch(ctx context.Context, js jetstream.JetStream) {
	w := watcher{s: s, js: js, moved: s.opts.Now()}
	tick := time.NewTicker(s.opts.MarkEvery)
	defer tick.Stop()
	for {
		s.tend()
		if js != nil {
			w.follow(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// watcher compares what the stream acknowledged with what was committed.
type watcher struct {
	s       *Spool
	js      jetstream.JetStream
	created time.Time // of the stream, as last seen
	mark    uint64
	moved   time.Time // when mark last rose, or was given up on
}

// follow asks for the mark while something is pending, and has everything above
// it published again when the stream no longer holds what it acknowledged.
func (w *watcher) follow(ctx context.Context) {
	s := w.s
	s.mu.Lock()
	pending := s.next-1 > s.committed || s.follower != nil && len(s.segments) > 1
	acked, streamSeq, taken := s.acked, s.streamSeq, slices.Clone(s.taken)
	s.mu.Unlock()
	if !pending || !s.opts.NATS.IsConnected() {
		return
	}
	// The stream is looked at before the mark is asked for: the consumer
	// commits before it acknowledges, so that what the stream no longer has
	// must be within the mark.
	info, infoErr := w.inspect(ctx)
	mark, err := w.ask(ctx)
	if err != nil {
		s.opts.Log.Debug("the committed usage mark was not learnt", slog.Any("error", err))
		return
	}
	now := s.opts.Now()
	if mark > w.mark {
		w.mark, w.moved = mark, now
	}
	s.countedBy(ctx)
	s.commit(mark)
	s.mu.Lock()
	s.counts.marks++
	s.mu.Unlock()
	if infoErr != nil {
		s.opts.Log.Debug("the usage stream was not looked at", slog.Any("error", infoErr))
		return
	}
	anew := !w.created.IsZero() && !info.created.Equal(w.created)
	if s.regressed(mark, anew) || mark < acked && w.lost(info, above(taken, mark), streamSeq) {
		w.moved = now
		s.republish(mark)
	}
	w.created = info.created
}

// regressed says whether the stream is another or an older one than that which
// took what is above mark, or some of it. What was acknowledged since the
// stream was looked at counts: the old one may have done it.
func (s *Spool) regressed(mark uint64, anew bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wentBack = (s.wentBack || anew) && mark < s.acked
	return s.wentBack
}

// lost says whether some of the messages that the stream took, and that have
// records above the mark, are gone from it. A message leaves it once all its
// records are committed, so it must still have each of them.
func (w *watcher) lost(info streamInfo, missing, streamSeq uint64) bool {
	switch {
	case info.last < streamSeq: // restored from an older state
		return true
	case info.mine == 0:
		return true
	}
	stalled := w.s.opts.Now().Sub(w.moved) >= w.s.opts.StallAfter
	return stalled && info.mine < missing
}

type streamInfo struct {
	created time.Time
	last    uint64 // sequence
	mine    uint64 // messages of this gateway
}

const askTimeout = 2 * time.Second

func (w *watcher) inspect(ctx context.Context) (streamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	stream, err := w.js.Stream(ctx, wire.StreamUsage)
	if err != nil {
		return streamInfo{}, fmt.Errorf("look up the usage stream: %w", err)
	}
	subject := wire.SubjectUsage + "." + w.s.gateway.String()
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		return streamInfo{}, fmt.Errorf("look at the usage stream: %w", err)
	}
	return streamInfo{created: info.Created, last: info.State.LastSeq, mine: info.State.Subjects[subject]}, nil
}

// ask returns the gateway's committed mark.
func (w *watcher) ask(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	body, err := json.Marshal(wire.MarkRequest{Gateway: w.s.gateway})
	if err != nil {
		return 0, fmt.Errorf("encode mark request: %w", err)
	}
	msg, err := w.s.opts.NATS.RequestWithContext(ctx, wire.SubjectMarks, body)
	if err != nil {
		return 0, fmt.Errorf("ask for the usage mark: %w", err)
	}
	var reply wire.MarkReply
	if err := json.Unmarshal(msg.Data, &reply); err != nil {
		return 0, fmt.Errorf("decode the usage mark: %w", err)
	}
	if reply.Error != "" {
		return 0, errors.New("the control plane could not look up the usage mark")
	}
	return reply.Committed, nil
}

// republish has everything above mark published again.
func (s *Spool) republish(mark uint64) {
	s.mu.Lock()
	s.opts.Log.Warn("the usage stream lost records; they are published again",
		slog.Uint64("committed", mark), slog.Uint64("acknowledged", s.acked))
	s.acked, s.taken = mark, nil
	s.streamSeq, s.wentBack = 0, false
	s.counts.republishes++
	s.mu.Unlock()
	notify(s.rewind)
}
