package postgres

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// verificationRow is the column verification.
type verificationRow struct {
	Status     string    `json:"status"`
	HTTPStatus int       `json:"http_status"`
	Call       string    `json:"call"`
	Model      string    `json:"model"`
	LatencyNS  int64     `json:"latency_ns"`
	CheckedAt  time.Time `json:"checked_at"`
}

func verificationRowOf(v *byok.Verification) *jsonColumn[verificationRow] {
	if v == nil {
		return nil
	}
	return &jsonColumn[verificationRow]{verificationRow{
		Status: string(v.Status), HTTPStatus: v.HTTPStatus, Call: string(v.Call), Model: v.Model,
		LatencyNS: int64(v.Latency), CheckedAt: v.CheckedAt,
	}}
}

func verificationOf(c *jsonColumn[verificationRow]) *byok.Verification {
	if c == nil {
		return nil
	}
	return &byok.Verification{
		Status: wire.CheckStatus(c.v.Status), HTTPStatus: c.v.HTTPStatus, Call: wire.CheckCall(c.v.Call), Model: c.v.Model,
		Latency: time.Duration(c.v.LatencyNS), CheckedAt: c.v.CheckedAt.UTC(),
	}
}

// BYOKVerifications keeps what verifying said of provider keys.
type BYOKVerifications struct{ store *BYOKStore }

// NewBYOKVerifications returns a store that works in the transaction of its
// context.
func NewBYOKVerifications() *BYOKVerifications { return &BYOKVerifications{NewBYOKStore()} }

// Claim implements byok.Verifications.
func (v *BYOKVerifications) Claim(ctx context.Context, ws id.Workspace, credential id.Credential, now, since time.Time) (byok.Credential, error) {
	found, err := v.store.Get(ctx, ws, credential)
	if err != nil {
		return found, err
	}
	done := scoped(ctx, ws).Model(&byokRow{}).
		Where("id = ? AND (verify_asked_at IS NULL OR verify_asked_at <= ?)", credential.UUID(), since).
		UpdateColumn("verify_asked_at", now)
	if done.Error == nil && done.RowsAffected == 0 {
		return found, fault.New(fault.RateLimitExceeded, "The key was verified a moment ago. Try again in ten seconds.").After(now.Sub(since))
	}
	return found, translate(done.Error, "take a turn at verifying a provider key")
}

// Note implements byok.Verifications.
func (*BYOKVerifications) Note(ctx context.Context, ws id.Workspace, c byok.Credential) error {
	return translate(scoped(ctx, ws).Model(&byokRow{}).Where("id = ? AND sealed = ?", c.ID.UUID(), []byte(c.Sealed)).
		UpdateColumn("verification", verificationRowOf(c.Verification)).Error, "keep the verification of a provider key")
}

// Forget implements byok.Verifications.
func (*BYOKVerifications) Forget(ctx context.Context, ws id.Workspace, credential id.Credential) error {
	return translate(scoped(ctx, ws).Model(&byokRow{}).Where("id = ?", credential.UUID()).
		UpdateColumns(map[string]any{"verification": nil}).Error, "forget the verification of a provider key")
}

var _ byok.Verifications = (*BYOKVerifications)(nil)
