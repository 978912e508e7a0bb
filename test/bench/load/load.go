// Package load sends the same request over a number of keep-alive connections
// and reports how fast the replies came. It knows nothing of what it measures.
package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Plan is one measurement.
type Plan struct {
	Addr    string // host:port
	Request Request
	Callers int
	For     time.Duration
	// Every starts a request of each caller on this schedule, late or not
	// (open loop); latency then counts from the due time. 0 sends the next
	// one when the last was answered.
	Every time.Duration
}

// Result is what one measurement saw.
type Result struct {
	Requests int
	Failures int // other statuses and broken connections
	Took     time.Duration
	P50, P99 time.Duration // of the whole reply
	Head50   time.Duration // to the head
	Bytes    int64
}

// PerSecond is the rate of good replies.
func (r Result) PerSecond() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Took.Seconds()
}

// Run measures. It fails when nothing could be sent, or nothing came back.
func Run(ctx context.Context, p Plan) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.For+replyWithin)
	defer cancel()
	until := time.Now().Add(p.For)
	began := time.Now()
	callers := make([]caller, p.Callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { callers[i].run(ctx, p, until) })
	}
	wg.Wait()
	return total(callers, time.Since(began))
}

// caller is one connection's share.
type caller struct {
	whole    []time.Duration
	heads    []time.Duration
	failures int
	bytes    int64
	err      error
}

// maxFailures ends a caller that only fails.
const maxFailures = 100

func (c *caller) run(ctx context.Context, p Plan, until time.Time) {
	request := p.Request.encode(p.Addr)
	var link *conn
	defer func() {
		if link != nil {
			_ = link.Close()
		}
	}()
	due := time.Now()
	for due.Before(until) && c.failures < maxFailures && ctx.Err() == nil {
		if link == nil {
			if link, c.err = dial(ctx, p.Addr); c.err != nil {
				c.failures++
				continue
			}
		}
		began := time.Now()
		got, err := link.do(request)
		if err != nil || got.status != http.StatusOK {
			c.failures++
			c.err = fmt.Errorf("status %d: %w", got.status, errors.Join(err))
			_ = link.Close()
			link = nil
		} else {
			c.heads = append(c.heads, got.first)
			c.bytes += got.bytes
			if p.Every > 0 {
				began = due
			}
			c.whole = append(c.whole, time.Since(began))
		}
		due = next(ctx, due, p.Every)
	}
}

// next waits for the schedule's next start.
func next(ctx context.Context, due time.Time, every time.Duration) time.Time {
	if every == 0 {
		return time.Now()
	}
	due = due.Add(every)
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return due
}

func total(callers []caller, took time.Duration) (Result, error) {
	var whole, heads []time.Duration
	r := Result{Took: took}
	var failed error
	for i := range callers {
		whole = append(whole, callers[i].whole...)
		heads = append(heads, callers[i].heads...)
		r.Failures += callers[i].failures
		r.Bytes += callers[i].bytes
		failed = errors.Join(failed, callers[i].err)
	}
	r.Requests = len(whole)
	if r.Requests == 0 {
		return r, fmt.Errorf("no good reply: %w", failed)
	}
	slices.Sort(whole)
	slices.Sort(heads)
	r.P50, r.P99, r.Head50 = Percentile(whole, 50), Percentile(whole, 99), Percentile(heads, 50)
	return r, nil
}

// Percentile of a sorted, non-empty slice, by the nearest rank.
func Percentile(sorted []time.Duration, p int) time.Duration {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}
