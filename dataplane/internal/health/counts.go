package health

import "github.com/signalbox-dev/signalbox/shared/wire"

// counts are outcomes, sizes and times of calls in some stretch of time.
type counts = wire.HealthCounts

// of is one call as counts. Its samples lie in room.
func (o *Observation) counts(room *[seriesKept]wire.HealthSample) counts {
	var c counts
	switch o.Verdict {
	case Failed, Unpaid:
		c.Failed = 1
	case RateLimited:
		c.Limited = 1
	case GeoBlocked:
		c.Geo = 1
	case Succeeded:
		c.Succeeded = 1
		if in, out := max(o.InputTokens, 0), max(o.OutputTokens, 0); in+out > 0 && in < mostTokens && out < mostTokens {
			c.Measured, c.Input, c.Output = 1, in, out
			c.CachedRead = min(max(o.CachedTokens, 0), in)
		}
		c.Samples = o.samples(room)
	case Neutral, Refused:
	}
	return c
}

// mostTokens is more than any one call has.
const mostTokens = 1 << 28

func (o *Observation) samples(room *[seriesKept]wire.HealthSample) []wire.HealthSample {
	n := 0
	if o.FirstByte > 0 {
		room[n] = wire.HealthSample{Class: sampleOf(firstByte, o.FirstByte.Microseconds()), Count: 1}
		n++
	}
	if o.Generation > 0 && o.OutputTokens > 0 {
		perSecond := float64(o.OutputTokens) / o.Generation.Seconds()
		room[n] = wire.HealthSample{Class: sampleOf(throughput, int64(min(perSecond, 1e12)*1000)), Count: 1}
		n++
	}
	return room[:n]
}

// add adds b to a, with its samples.
func add(a, b *counts) {
	addTotals(a, b)
	for _, s := range b.Samples {
		a.Samples = counted(a.Samples, s.Class, s.Count)
	}
}

// addTotals adds b to a without its samples.
func addTotals(a, b *counts) {
	a.Succeeded += b.Succeeded
	a.Failed += b.Failed
	a.Limited += b.Limited
	a.Geo += b.Geo
	a.Measured += b.Measured
	a.Input += b.Input
	a.CachedRead += b.CachedRead
	a.Output += b.Output
}

// minus is a without b's totals.
func minus(a, b *counts) counts {
	return counts{
		Succeeded: a.Succeeded - b.Succeeded, Failed: a.Failed - b.Failed, Limited: a.Limited - b.Limited, Geo: a.Geo - b.Geo,
		Measured: a.Measured - b.Measured, Input: a.Input - b.Input, CachedRead: a.CachedRead - b.CachedRead, Output: a.Output - b.Output,
	}
}

// grown is what a has beyond b, which was the same count earlier. It is not ok
// when something became less: then the two are not of one gateway.
func grown(a, b *counts) (more counts, ok bool) {
	more = minus(a, b)
	for _, n := range []int64{
		more.Succeeded, more.Failed, more.Limited, more.Geo, more.Measured, more.Input, more.CachedRead, more.Output,
	} {
		if n < 0 {
			return counts{}, false
		}
	}
	rest := b.Samples
	for _, s := range a.Samples {
		if len(rest) > 0 && rest[0].Class == s.Class {
			if rest[0].Count > s.Count {
				return counts{}, false
			}
			s.Count -= rest[0].Count
			rest = rest[1:]
		}
		if s.Count > 0 {
			more.Samples = append(more.Samples, s)
		}
	}
	return more, len(rest) == 0
}

// copyOf is c with samples of its own.
func copyOf(c *counts) counts {
	out := *c
	out.Samples = append([]wire.HealthSample(nil), c.Samples...)
	return out
}
