package api

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// settle turns the publication of a committed change into its part of the
// answer. With wait it returns when every live gateway has the change or the
// time is up; pending says that some have not, which the status shows. Where
// nobody could look, the change counts as pending as far as is known.
func (s *Server) settle(ctx context.Context, p publication.Publication, wait *gen.Wait) (ref gen.PublicationRef, pending bool) {
	p = s.services.Publications.Look(p)
	if wait != nil {
		// The contract's pattern admits only what this reads.
		limit, err := time.ParseDuration(*wait)
		if err == nil {
			var latest publication.Publication
			if latest, err = s.services.Publications.Wait(ctx, p.Workspace, p.ID, limit); err == nil {
				p = latest
			}
		}
		if err != nil {
			// The change is committed; that must not look like a failure.
			s.log.WarnContext(ctx, "receipts could not be awaited", slog.String("publication", p.ID.String()), slog.String("error", err.Error()))
		}
		pending = !p.Done()
	}
	return gen.PublicationRef{ID: p.ID.String(), Revision: p.Revision, Pending: p.Outstanding()}, pending
}

// etag writes a version as an entity tag.
func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// ifMatch reads what etag wrote; nil when the caller does not care.
func ifMatch(header *gen.IfMatch) (*int64, error) {
	if header == nil || *header == "*" {
		return nil, nil
	}
	version, err := strconv.ParseInt(strings.Trim(*header, `"`), 10, 64)
	if err != nil {
		return nil, fault.Invalid(fault.Violation{Path: "If-Match", Code: "pattern", Message: "must be the ETag of an earlier answer"})
	}
	return &version, nil
}

// paging reads the query parameters that every list has.
func paging(ctx context.Context, cursor *gen.Cursor, limit *gen.Limit) page.Query {
	return page.Query{List: callerOf(ctx).operation, Cursor: value(cursor), Limit: value(limit)}
}

func nextCursor(next string) nullable.Nullable[gen.NextCursor] {
	if next == "" {
		return nullable.NewNullNullable[gen.NextCursor]()
	}
	return nullable.NewNullableWithValue(next)
}

// parseID reads an id of a path. One that is malformed names nothing.
func parseID[K id.Kind](text, noun string) (id.ID[K], error) {
	parsed, err := id.Parse[K](text)
	if err != nil {
		return parsed, fault.Newf(fault.NotFound, "There is no such %s in this workspace.", noun)
	}
	return parsed, nil
}

// filterID reads an id of a filter or of a body; absent is the zero id.
func filterID[K id.Kind](text *string, path string) (id.ID[K], error) {
	if text == nil {
		return id.ID[K]{}, nil
	}
	parsed, err := id.Parse[K](*text)
	if err != nil {
		var k K
		return parsed, fault.Invalid(fault.Violation{Path: path, Code: "malformed", Message: "must be an id that begins with " + k.Prefix() + "_"})
	}
	return parsed, nil
}

// value is *p, or the zero value of an absent field.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// some is nil for the zero value, so that the field is left out.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// list is never null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func each[From, To any](items []From, convert func(From) To) []To {
	out := make([]To, len(items))
	for i, item := range items {
		out[i] = convert(item)
	}
	return out
}

func texts[From, To ~string](items []From) []To {
	return each(items, func(item From) To { return To(item) })
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return pointer(t.UTC())
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
