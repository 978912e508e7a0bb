package spool

import (
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Options are a Spool's surroundings and bounds. Zero bounds mean the defaults.
type Options struct {
	// NATS is where Run ships to. Nil means that records stay on disk.
	NATS *nats.Conn
	Log  *slog.Logger
	Now  func() time.Time
	IDs  *id.Source

	MaxBytes     int64         // of all segments; default 1 GiB
	JournalBytes int           // of records that are not in a segment yet; default 256 KiB, negative: no journal
	SegmentBytes int64         // a segment of this size is closed; default 8 MiB
	SegmentAge   time.Duration // and one of this age that holds records; default 10 min
	Window       int           // unacknowledged messages; default 16, some 400 KiB on a slow line
	// Bounds of a message with several records, before they are compressed. A
	// record that is larger travels alone, and so does what is more than the
	// server's max_payload allows.
	MessageBytes   int // default 384 KiB, at most wire.MaxUsageBatchBytes
	MessageRecords int // default 128, at most wire.MaxUsageBatch

	AckTimeout time.Duration // of one publish; default 5 s
	MarkEvery  time.Duration // between questions for the committed mark; default 2 s
	StallAfter time.Duration // without an advance of the mark before a partial loss is suspected; default 2 min
}

func (o Options) withDefaults() Options {
	o.MaxBytes = or(o.MaxBytes, 1<<30)
	if o.JournalBytes == 0 {
		o.JournalBytes = 256 << 10
	}
	o.SegmentBytes = or(o.SegmentBytes, 8<<20)
	o.SegmentAge = or(o.SegmentAge, 10*time.Minute)
	o.Window = or(o.Window, 16)
	o.MessageBytes = min(or(o.MessageBytes, 384<<10), wire.MaxUsageBatchBytes)
	o.MessageRecords = min(or(o.MessageRecords, 128), wire.MaxUsageBatch)
	o.AckTimeout = or(o.AckTimeout, 5*time.Second)
	o.MarkEvery = or(o.MarkEvery, 2*time.Second)
	o.StallAfter = or(o.StallAfter, 2*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.IDs == nil {
		o.IDs = id.SystemSource()
	}
	return o
}

func or[T int | int64 | time.Duration](v, fallback T) T {
	if v > 0 {
		return v
	}
	return fallback
}
