package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

const (
	// cellsQuiet is for how long no usage may have come in for cells that are new to
	// be right as they are: for as long what gateways that are gone had reserved
	// counts. It is longer than most outages, in which gateways go on and nothing
	// comes in.
	cellsQuiet = 24 * time.Hour
	// cellsSettle is how long gateways take to state anew what they hold.
	cellsSettle = 35 * time.Second
)

// markCells marks the cells with an epoch when they have none, since they are
// new or have lost what was in them. The first mark stays.
func (f *Filler) markCells(ctx context.Context) error {
	marked, err := f.marked(ctx)
	if err != nil || marked {
		return wrapCells(err)
	}
	used, err := f.source.UsageSince(ctx, f.now().Add(-cellsQuiet))
	if err != nil {
		return wrapCells(err)
	}
	stream, err := f.conn.JetStream().Stream(ctx, wire.StreamCells)
	if err != nil {
		return wrapCells(err)
	}
	mark := wire.CellsEpoch{Epoch: strings.ReplaceAll(f.ids.UUID().String(), "-", ""), ReadyAt: stream.CachedInfo().TimeStamp.UTC()}
	if used {
		mark.ReadyAt = mark.ReadyAt.Add(cellsSettle)
	}
	body, err := json.Marshal(mark)
	if err != nil {
		return wrapCells(err)
	}
	msg := nats.NewMsg(wire.SubjectCellsEpoch)
	msg.Data = body
	msg.Header.Set(jetstream.MsgTTLHeader, "never") // cells go when nobody states them, the mark does not
	_, err = f.conn.JetStream().PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(0))
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return nil // another control plane was first
	}
	if err == nil {
		f.log.Info("the cells are marked", slog.String("epoch", mark.Epoch), slog.Time("ready_at", mark.ReadyAt))
	}
	return wrapCells(err)
}

// marked says whether the cells have a mark.
func (f *Filler) marked(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	msg, err := f.conn.Last(ctx, wire.StreamCells, wire.SubjectCellsEpoch)
	return msg != nil, err
}

func wrapCells(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mark the cells: %w", err)
}
