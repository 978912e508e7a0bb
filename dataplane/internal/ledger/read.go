package ledger

import (
	"context"
	"fmt"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Read implements Store. Any server of the stream may answer, one that is
// behind too: the state says how far it is.
func (s *NATS) Read(ctx context.Context, epoch string, totals []totalRef) (map[totalRef]wire.Spend, uint64, error) {
	mark := wire.SpendEpoch(epoch)
	subjects := append(make([]string, 0, len(totals)+1), mark)
	refs := make(map[string]totalRef, len(totals))
	for _, ref := range totals {
		subject := subjectOf(epoch, ref)
		subjects, refs[subject] = append(subjects, subject), ref
	}
	got := make(map[totalRef]wire.Spend, len(totals))
	marked := false
	state, err := s.conn.LastOfEach(ctx, wire.StreamSpend, subjects, func(subject string, body []byte) error {
		if subject == mark {
			marked = true
			return nil
		}
		ref, ok := refs[subject]
		if !ok {
			return nil
		}
		var err error
		got[ref], err = wire.ParseSpend(body)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read usage: %w", err)
	}
	if !marked {
		return nil, 0, ErrUnfilled
	}
	return got, state, nil
}
