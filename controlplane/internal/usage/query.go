package usage

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// LogFilter narrows a list of entries; zero fields do not.
type LogFilter struct {
	Since       time.Time  // inclusive
	Until       time.Time  // exclusive
	Primary     id.Request // of the request's first model: the rows of one request
	Key         id.Key
	Model       string // as decided
	Provider    string
	Outcome     wire.Outcome
	StatusClass int // 1 to 5: the first digit of Status
	Session     string
}

// GroupBy says what usage is broken down by.
type GroupBy string

// The breakdowns.
const (
	ByNone     GroupBy = ""
	ByModel    GroupBy = "model"
	ByProvider GroupBy = "provider"
	ByKey      GroupBy = "key"
)

// Interval says how usage is cut in time.
type Interval string

// The intervals. Days are UTC.
const (
	Whole  Interval = ""
	Hourly Interval = "hour"
	Daily  Interval = "day"
)

// UsageFilter asks for usage. Times are cut to whole hours: Since downwards,
// Until upwards.
type UsageFilter struct {
	Since    time.Time // zero: from the beginning
	Until    time.Time // zero: to the end
	GroupBy  GroupBy
	Interval Interval
}

// Row is one line of a report.
type Row struct {
	Start time.Time // of the interval; zero for Whole
	Group string    // model, provider or key id; "" for ByNone and for what had none
	Totals
}

// Report is usage broken down, by Start and then by falling cost, with its sum.
type Report struct {
	Rows   []Row
	Totals Totals
}

// MaxRows is how many rows a report may have.
const MaxRows = 10_000

// Detail is an entry with its decision and the other model attempts of its
// request, oldest first.
type Detail struct {
	Entry
	Related []Entry
}

// Reader is where usage is asked for. Its methods run inside a Transactor's
// transaction.
type Reader interface {
	// UsageEntries returns entries older than before (zero: all), newest
	// first, without decisions.
	UsageEntries(ctx context.Context, ws id.Workspace, before id.Request, limit int, f LogFilter) ([]Entry, error)
	// UsageEntry returns one entry, or fault.NotFound.
	UsageEntry(ctx context.Context, ws id.Workspace, req id.Request) (Entry, error)
	// UsageRelated returns every entry of primary's request, oldest first,
	// without decisions.
	UsageRelated(ctx context.Context, ws id.Workspace, primary id.Request) ([]Entry, error)
	// UsageTotals returns at most limit rows of a report.
	UsageTotals(ctx context.Context, ws id.Workspace, f UsageFilter, limit int) ([]Row, error)
}

// Transactor runs fn in one read-only transaction of the workspace.
type Transactor interface {
	Read(ctx context.Context, ws id.Workspace, fn func(ctx context.Context) error) error
}

// Query answers questions about usage.
type Query struct {
	tx     Transactor
	reader Reader
}

// NewQuery returns a Query over r.
func NewQuery(tx Transactor, r Reader) *Query { return &Query{tx: tx, reader: r} }

// Usage returns totals. It fails with fault.ValidationError when f is invalid
// or asks for more than MaxRows rows.
func (q *Query) Usage(ctx context.Context, ws id.Workspace, f UsageFilter) (Report, error) {
	if err := f.validate(); err != nil {
		return Report{}, err
	}
	var report Report
	err := q.tx.Read(ctx, ws, func(ctx context.Context) error {
		rows, err := q.reader.UsageTotals(ctx, ws, f.whole(), MaxRows+1)
		report.Rows = rows
		return err
	})
	if err != nil {
		return Report{}, err
	}
	if len(report.Rows) > MaxRows {
		return Report{}, fault.Invalid(fault.Violation{
			Path: "interval", Code: "too_many_rows", Message: "The report would be too long; ask for a shorter time or a longer interval.",
		})
	}
	for _, row := range report.Rows {
		report.Totals.Add(row.Totals)
	}
	return report, nil
}

// whole cuts the times to whole hours.
func (f UsageFilter) whole() UsageFilter {
	if !f.Since.IsZero() {
		f.Since = f.Since.UTC().Truncate(time.Hour)
	}
	if !f.Until.IsZero() {
		if cut := f.Until.UTC().Truncate(time.Hour); !cut.Equal(f.Until) {
			f.Until = cut.Add(time.Hour)
		}
	}
	return f
}

func (f UsageFilter) validate() error {
	var found []fault.Violation
	switch f.GroupBy {
	case ByNone, ByModel, ByProvider, ByKey:
	default:
		found = append(found, fault.Violation{Path: "group_by", Code: "invalid_value", Message: "Use model, provider or key."})
	}
	switch f.Interval {
	case Whole, Hourly, Daily:
	default:
		found = append(found, fault.Violation{Path: "interval", Code: "invalid_value", Message: "Use hour or day."})
	}
	found = append(found, ordered(f.Since, f.Until)...)
	if len(found) > 0 {
		return fault.Invalid(found...)
	}
	return nil
}

func ordered(since, until time.Time) []fault.Violation {
	if since.IsZero() || until.IsZero() || since.Before(until) {
		return nil
	}
	return []fault.Violation{{Path: "until", Code: "invalid_value", Message: "It must be later than since."}}
}
