package spool

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// restoring collects what the segments of a directory hold.
type restoring struct {
	first   uint64 // sequences below were committed before their segment was deleted
	next    uint64
	seen    spans
	open    map[id.Request][]byte
	order   []id.Request // of open, oldest first; may hold closed ones
	salvage []event      // events of corrupt segments
	damaged []*segment
}

// restore reads the directory, starts a fresh active segment and writes into it
// what must not be lost: events saved from corrupt segments, the sequences that
// are gone, and an unknown event for every intent without a completion.
func (s *Spool) restore() error {
	old, err := listSegments(s.dir)
	if err != nil {
		return err
	}
	r := restoring{first: 1, next: 1, open: make(map[id.Request][]byte)}
	number := uint64(1)
	for i, seg := range old {
		if i == 0 {
			r.first, r.next = seg.last+1, seg.last+1
		}
		if err := r.read(seg, s.opts.Log); err != nil {
			return err
		}
		s.bytes += seg.size
		number = seg.number + 1
	}
	s.next, s.committed, s.acked = r.next, r.first-1, r.first-1
	if s.next > r.first && len(old) > 0 {
		s.ages = []age{{seq: s.next - 1, at: old[0].created}}
	}
	active, err := createSegment(s.dir, number, s.next, s.opts.Now())
	if err != nil {
		return err
	}
	s.segments = append(old, active)
	if err := s.rewrite(&r); err != nil {
		for _, seg := range s.segments {
			if seg.file != nil {
				_ = seg.file.Close()
			}
		}
		return err
	}
	return s.quarantine(r.damaged)
}

// read takes in one segment.
func (r *restoring) read(seg *segment, log *slog.Logger) error {
	data, err := os.ReadFile(seg.path)
	if err != nil {
		return fmt.Errorf("read spool segment: %w", err)
	}
	r.next = max(r.next, seg.last+1)
	var events []event
	state := scan(data, func(f frame) {
		if req, body, ok := parseIntent(f); ok {
			if _, ok := r.open[req]; !ok {
				r.order = append(r.order, req)
			}
			r.open[req] = append([]byte(nil), body...)
			return
		}
		e, ok := parseEvent(f)
		if !ok {
			return
		}
		delete(r.open, e.id)
		r.seen.add(span{e.seq, e.last})
		seg.last = max(seg.last, e.last)
		r.next = max(r.next, e.last+1)
		events = append(events, e)
	})
	switch state {
	case torn:
		log.Warn("spool segment ends in an incomplete record, which was never acknowledged", slog.String("segment", filepath.Base(seg.path)))
	case corrupt:
		log.Error("spool segment is corrupt; it is moved aside and what is readable is kept",
			slog.String("segment", filepath.Base(seg.path)), slog.Int("readable_events", len(events)))
		r.damaged = append(r.damaged, seg)
		r.salvage = append(r.salvage, events...)
	case intact:
	}
	return nil
}

// lostReason is what the usage consumer is told of a destroyed sequence.
const lostReason = "spool segment corrupt"

// rewrite fills the fresh segment.
func (s *Spool) rewrite(r *restoring) error {
	for _, e := range r.salvage {
		record := appendFrame(nil, kindEvent, appendEventHead(nil, e.seq, e.id, e.unknown), e.body)
		if e.lost {
			record = appendLost(nil, span{e.seq, e.last}, e.body)
		}
		if err := s.write(record); err != nil {
			return err
		}
		s.active().last = max(s.active().last, e.last)
	}
	for _, gap := range r.seen.gaps(r.first, r.next) {
		s.opts.Log.Error("usage records are lost", slog.Uint64("first_sequence", gap.first), slog.Uint64("last_sequence", gap.last))
		s.counts.lost += gap.last - gap.first + 1
		if err := s.write(appendLost(nil, gap, []byte(lostReason))); err != nil {
			return err
		}
		s.active().last = max(s.active().last, gap.last)
	}
	for _, req := range r.order {
		body, ok := r.open[req]
		if !ok {
			continue
		}
		delete(r.open, req)
		var ev wire.UsageEvent
		if err := json.Unmarshal(body, &ev); err != nil {
			return fmt.Errorf("decode usage intent: %w", err)
		}
		e, err := encode(&ev, ev.Gateway)
		if err != nil {
			return err
		}
		if err := s.writeEvents([]encoded{e}); err != nil {
			return err
		}
		s.counts.recovered++
	}
	return nil
}

// quarantine moves corrupt segments out of the way, for a person to look at.
// What was readable of them is in the active segment by now.
func (s *Spool) quarantine(damaged []*segment) error {
	if len(damaged) == 0 {
		return nil
	}
	if err := s.active().file.Sync(); err != nil {
		return fmt.Errorf("sync spool segment: %w", err)
	}
	dir := filepath.Join(s.dir, "quarantine")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create quarantine: %w", err)
	}
	for _, seg := range damaged {
		if err := os.Rename(seg.path, filepath.Join(dir, filepath.Base(seg.path))); err != nil {
			return fmt.Errorf("quarantine spool segment: %w", err)
		}
		s.counts.quarantined++
		s.bytes -= seg.size
		for i, other := range s.segments {
			if other == seg {
				s.segments = append(s.segments[:i:i], s.segments[i+1:]...)
				break
			}
		}
	}
	return nil
}
