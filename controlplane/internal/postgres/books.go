package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/books"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Books compares what was counted, as the system role.
type Books struct{ system *System }

// NewBooks returns a Books over db.
func NewBooks(db *DB) *Books { return &Books{system: db.System()} }

// Compare implements books.Comparer: one snapshot of the database, in which each
// batch of usage is whole or not there, so that traffic makes no difference.
// Postgres does the sums, a day at a time, and gives only what differs.
func (b *Books) Compare(ctx context.Context, r books.Range, visit func(books.Difference) error) error {
	began := false
	return b.system.Read(ctx, func(ctx context.Context) error {
		if began {
			return errAgain
		}
		began = true
		for day := r.First.UTC().Truncate(day); !day.After(r.Last); day = day.AddDate(0, 0, 1) {
			for _, c := range []comparison{logHours, logDays} {
				if err := c.run(ctx, r.Workspace, day, visit); err != nil {
					return err
				}
			}
		}
		for _, c := range []comparison{hoursTotals, hoursWallet, entriesWallet, entriesBalance} {
			if err := c.run(ctx, r.Workspace, time.Time{}, visit); err != nil {
				return err
			}
		}
		return nil
	})
}

// comparison is a query that gives a row for each place that differs: the
// workspace, the place, and each figure of the two sides. It may name @ws, which
// is NULL for all, and where it is of a day @first and @next.
type comparison struct {
	check   books.Check
	query   string
	figures []string
}

func (c comparison) run(ctx context.Context, ws id.Workspace, day time.Time, visit func(books.Difference) error) error {
	what := "compare " + string(c.check)
	rows, err := system(ctx).Raw(c.query, map[string]any{
		"ws": uuidPtr(ws.UUID()), "first": day, "next": day.AddDate(0, 0, 1), "all": uuid.Nil, "days": uuid.Max,
	}).Rows()
	if err != nil {
		return translate(err, what)
	}
	defer func() { _ = rows.Close() }()
	figures := make([]int64, 2*len(c.figures))
	for rows.Next() {
		var of uuid.UUID
		var place string
		dest := []any{&of, &place}
		for i := range figures {
			dest = append(dest, &figures[i])
		}
		if err := rows.Scan(dest...); err != nil {
			return translate(err, what)
		}
		for i, name := range c.figures {
			have, want := figures[i], figures[len(c.figures)+i]
			if have == want {
				continue
			}
			err := visit(books.Difference{
				Workspace: id.FromUUID[id.WorkspaceKind](of), Check: c.check, Place: place, Figure: name, Have: have, Want: want,
			})
			if err != nil {
				return fmt.Errorf("tell a difference: %w", err)
			}
		}
	}
	return translate(rows.Err(), what)
}

var _ books.Comparer = (*Books)(nil)
