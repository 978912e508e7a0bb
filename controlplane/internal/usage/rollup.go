package usage

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Totals are sums over model attempts.
type Totals struct {
	Requests      int64 // callers' requests: first model attempts
	ModelAttempts int64
	UpstreamCalls int64
	Errors        int64 // model attempts that failed upstream or in the gateway
	Refused       int64
	Canceled      int64
	Unknown       int64 // estimated, because the gateway died
	Estimated     int64 // model attempts whose usage is estimated

	Input       int64 // tokens, apart from the meters below
	CachedRead  int64
	CacheWrite  int64
	Output      int64
	Reasoning   int64
	Image       int64
	AudioInput  int64
	AudioOutput int64

	Cost   money.Nanos
	Charge money.Nanos
}

// Cell is the place of an entry in the hourly totals.
type Cell struct {
	Workspace id.Workspace
	Hour      time.Time // UTC, on the hour
	Model     string    // as decided; "" when none was
	Provider  string
	Key       id.Key
	Outcome   wire.Outcome
}

// Rollup is an amount to add to a cell.
type Rollup struct {
	Cell
	Totals
}

// Rollups returns what the hourly totals change by when added comes in and
// removed goes out, one for each cell, sorted: writers that lock cells in one
// order cannot block each other for ever.
func Rollups(added, removed []Entry) []Rollup {
	cells := make(map[Cell]*Totals)
	take := func(list []Entry, sign int64) {
		for i := range list {
			c := cellOf(&list[i])
			if cells[c] == nil {
				cells[c] = new(Totals)
			}
			cells[c].add(list[i].totals(), sign)
		}
	}
	take(added, 1)
	take(removed, -1)
	list := make([]Rollup, 0, len(cells))
	for c, t := range maps.All(cells) {
		list = append(list, Rollup{Cell: c, Totals: *t})
	}
	slices.SortFunc(list, func(a, b Rollup) int { return a.compare(b.Cell) })
	return list
}

func cellOf(e *Entry) Cell {
	return Cell{
		Workspace: e.Workspace, Hour: e.StartedAt.UTC().Truncate(time.Hour),
		Model: e.DecidedModel, Provider: e.Provider, Key: e.Key, Outcome: e.Outcome,
	}
}

func (e *Entry) totals() Totals {
	t := Totals{
		ModelAttempts: 1, UpstreamCalls: int64(e.Attempts),
		Input: e.Usage.Input, CachedRead: e.Usage.CachedRead, CacheWrite: e.Usage.CacheWrite5m + e.Usage.CacheWrite1h,
		Output: e.Usage.Output, Reasoning: e.Usage.Reasoning, Image: e.Usage.Image,
		AudioInput: e.Usage.AudioInput, AudioOutput: e.Usage.AudioOutput,
		Cost: e.Cost.Total, Charge: e.Charge,
	}
	t.Requests = count(e.Primary())
	t.Estimated = count(e.Usage.Estimated)
	t.Errors = count(e.Outcome == wire.Failed)
	t.Refused = count(e.Outcome == wire.Refused)
	t.Canceled = count(e.Outcome == wire.Canceled)
	t.Unknown = count(e.Outcome == wire.Unknown)
	return t
}

func count(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// Add adds o to t.
func (t *Totals) Add(o Totals) { t.add(o, 1) }

func (t *Totals) add(o Totals, sign int64) {
	t.Requests += sign * o.Requests
	t.ModelAttempts += sign * o.ModelAttempts
	t.UpstreamCalls += sign * o.UpstreamCalls
	t.Errors += sign * o.Errors
	t.Refused += sign * o.Refused
	t.Canceled += sign * o.Canceled
	t.Unknown += sign * o.Unknown
	t.Estimated += sign * o.Estimated
	t.Input += sign * o.Input
	t.CachedRead += sign * o.CachedRead
	t.CacheWrite += sign * o.CacheWrite
	t.Output += sign * o.Output
	t.Reasoning += sign * o.Reasoning
	t.Image += sign * o.Image
	t.AudioInput += sign * o.AudioInput
	t.AudioOutput += sign * o.AudioOutput
	t.Cost = t.Cost.Add(money.Nanos(sign) * o.Cost)
	t.Charge = t.Charge.Add(money.Nanos(sign) * o.Charge)
}

func (c Cell) compare(d Cell) int {
	cw, dw, ck, dk := c.Workspace.UUID(), d.Workspace.UUID(), c.Key.UUID(), d.Key.UUID()
	return cmp.Or(
		bytes.Compare(cw[:], dw[:]),
		c.Hour.Compare(d.Hour),
		cmp.Compare(c.Model, d.Model),
		cmp.Compare(c.Provider, d.Provider),
		bytes.Compare(ck[:], dk[:]),
		cmp.Compare(c.Outcome, d.Outcome),
	)
}
