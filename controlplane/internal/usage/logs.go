package usage

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Logs returns entries, newest first, without their decisions.
func (q *Query) Logs(ctx context.Context, ws id.Workspace, p page.Query, f LogFilter) (page.Result[Entry], error) {
	after, err := p.After()
	if err != nil {
		return page.Result[Entry]{}, err
	}
	if err := f.validate(); err != nil {
		return page.Result[Entry]{}, err
	}
	var entries []Entry
	err = q.tx.Read(ctx, ws, func(ctx context.Context) error {
		var err error
		entries, err = q.reader.UsageEntries(ctx, ws, id.FromUUID[id.RequestKind](after), p.Size()+1, f)
		return err
	})
	if err != nil {
		return page.Result[Entry]{}, err
	}
	return page.Cut(entries, p, func(e Entry) uuid.UUID { return e.ID.UUID() }), nil
}

// Log returns one entry with its decision and the other model attempts of its
// request. It fails with fault.NotFound when ws has no such entry.
func (q *Query) Log(ctx context.Context, ws id.Workspace, req id.Request) (Detail, error) {
	var d Detail
	err := q.tx.Read(ctx, ws, func(ctx context.Context) error {
		d = Detail{}
		var err error
		if d.Entry, err = q.reader.UsageEntry(ctx, ws, req); err != nil {
			return err
		}
		related, err := q.reader.UsageRelated(ctx, ws, d.PrimaryID)
		for _, e := range related {
			if e.ID != req {
				d.Related = append(d.Related, e)
			}
		}
		return err
	})
	return d, err
}

func (f LogFilter) validate() error {
	found := ordered(f.Since, f.Until)
	switch f.Outcome {
	case "", wire.Success, wire.Failed, wire.Refused, wire.Canceled, wire.Unknown:
	default:
		found = append(found, fault.Violation{Path: "outcome", Code: "invalid_value", Message: "Use success, error, refused, canceled or unknown."})
	}
	if f.StatusClass < 0 || f.StatusClass > 5 {
		found = append(found, fault.Violation{Path: "status", Code: "invalid_value", Message: "Use a class from 1 to 5."})
	}
	if len(found) > 0 {
		return fault.Invalid(found...)
	}
	return nil
}
