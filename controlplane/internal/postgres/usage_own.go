package postgres

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// OwnRequests implements wallet.Counter.
func (*UsageStore) OwnRequests(ctx context.Context, ws id.Workspace, now time.Time) (int64, error) {
	month := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	var n int64
	err := scoped(ctx, ws).Table("request_log").Where("started_at >= ? AND id >= ?", month, firstID(month)).
		Where("credential_source = 'byok' AND outcome = 'success' AND id = primary_id").Count(&n).Error
	return n, translate(err, "count requests with own credentials")
}

var _ wallet.Counter = (*UsageStore)(nil)
