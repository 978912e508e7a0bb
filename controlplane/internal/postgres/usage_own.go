package postgres

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// OwnRequests implements wallet.Counter.
func (s *UsageStore) OwnRequests(ctx context.Context, ws id.Workspace, now time.Time) (int64, error) {
	spent, err := s.SpentBy(ctx, ws, []wire.Account{wire.AccountBYOK}, now)
	return spent[wire.AccountBYOK].Monthly.Requests, err
}

var _ wallet.Counter = (*UsageStore)(nil)
