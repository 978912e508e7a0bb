package postgres

import (
	"context"
	"time"

	"gorm.io/gorm"

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

// Claim implements byok.Verifications. The workspace's row comes first, so that
// claims never wait for each other in a circle; a refusal undoes it.
func (v *BYOKVerifications) Claim(ctx context.Context, ws id.Workspace, credential id.Credential, p byok.Pace) (byok.Credential, byok.Turn, error) {
	found, err := v.store.Get(ctx, ws, credential)
	if err != nil {
		return found, byok.Turn{}, err
	}
	window, err := claimWindow(ctx, ws, p)
	if err != nil {
		return found, byok.Turn{}, err
	}
	at, err := claimCredential(ctx, ws, credential, p.Every)
	return found, byok.Turn{Credential: at, Window: window}, err
}

// claimWindow counts one in the workspace's window, or begins the next. Two
// windows that touch can be full: the bound is for the long run.
func claimWindow(ctx context.Context, ws id.Workspace, p byok.Pace) (began time.Time, err error) {
	var rows []time.Time
	err = tenant(ctx, ws).Raw(`INSERT INTO byok_verify_turns AS t (workspace_id, began_at, taken) VALUES (@ws, now(), 1)
		ON CONFLICT (workspace_id) DO UPDATE SET
			began_at = CASE WHEN t.began_at <= now() - make_interval(secs => @window) THEN now() ELSE t.began_at END,
			taken = CASE WHEN t.began_at <= now() - make_interval(secs => @window) THEN 1 ELSE t.taken + 1 END
		WHERE t.began_at <= now() - make_interval(secs => @window) OR t.taken < @most
		RETURNING began_at`, map[string]any{"ws": ws.UUID(), "window": p.Window.Seconds(), "most": p.Most}).Scan(&rows).Error
	if err != nil {
		return began, translate(err, "count a turn at verifying provider keys")
	}
	if len(rows) == 1 {
		return rows[0], nil
	}
	return began, soonest(tenant(ctx, ws).Raw("SELECT extract(epoch FROM now() - began_at)::float8 FROM byok_verify_turns WHERE workspace_id = ?",
		ws.UUID()), p.Window, "Many keys of the workspace were verified within a minute. Try again shortly.")
}

func claimCredential(ctx context.Context, ws id.Workspace, credential id.Credential, every time.Duration) (at time.Time, err error) {
	var rows []time.Time
	err = tenant(ctx, ws).Raw(`UPDATE byok_credentials SET verify_asked_at = now() WHERE workspace_id = ? AND id = ?
		AND (verify_asked_at IS NULL OR verify_asked_at <= now() - make_interval(secs => ?))
		RETURNING verify_asked_at`, ws.UUID(), credential.UUID(), every.Seconds()).Scan(&rows).Error
	if err != nil {
		return at, translate(err, "take a turn at verifying a provider key")
	}
	if len(rows) == 1 {
		return rows[0], nil
	}
	return at, soonest(tenant(ctx, ws).Raw("SELECT extract(epoch FROM now() - verify_asked_at)::float8 FROM byok_credentials WHERE workspace_id = ? AND id = ?",
		ws.UUID(), credential.UUID()), every, "Verifying the key was begun a moment ago. Try again shortly.")
}

// soonest is the failure that tells what is left of a time of which so many
// seconds have passed as age reads. It fails with not_found where age reads
// nothing.
func soonest(age *gorm.DB, every time.Duration, message string) error {
	var passed []float64
	if err := age.Scan(&passed).Error; err != nil {
		return translate(err, "look when a turn at verifying ends")
	}
	if len(passed) == 0 {
		return translate(gorm.ErrRecordNotFound, "look when a turn at verifying ends")
	}
	left := every - time.Duration(passed[0]*float64(time.Second))
	return fault.New(fault.RateLimitExceeded, message).After(max(0, min(left, every)))
}

// Release implements byok.Verifications: a later turn stays.
func (*BYOKVerifications) Release(ctx context.Context, ws id.Workspace, credential id.Credential, t byok.Turn) error {
	err := tenant(ctx, ws).Exec("UPDATE byok_verify_turns SET taken = greatest(taken - 1, 0) WHERE workspace_id = ? AND began_at = ?",
		ws.UUID(), t.Window).Error
	if err != nil {
		return translate(err, "give a turn at verifying provider keys back")
	}
	return translate(scoped(ctx, ws).Model(&byokRow{}).Where("id = ? AND verify_asked_at = ?", credential.UUID(), t.Credential).
		UpdateColumn("verify_asked_at", nil).Error, "give a turn at verifying a provider key back")
}

// Note implements byok.Verifications.
func (v *BYOKVerifications) Note(ctx context.Context, ws id.Workspace, c byok.Credential) (byok.Credential, error) {
	done := scoped(ctx, ws).Model(&byokRow{}).Where("id = ? AND key_generation = ?", c.ID.UUID(), c.KeyGeneration).
		UpdateColumn("verification", verificationRowOf(c.Verification))
	if done.Error != nil {
		return byok.Credential{}, translate(done.Error, "keep the verification of a provider key")
	}
	stored, err := v.store.Get(ctx, ws, c.ID)
	if err == nil && done.RowsAffected == 0 {
		err = fault.New(fault.Conflict, "The key was replaced while it was verified. Verify the one that it has now.")
	}
	return stored, err
}

// Forget implements byok.Verifications.
func (*BYOKVerifications) Forget(ctx context.Context, ws id.Workspace, credential id.Credential) error {
	return changed(scoped(ctx, ws).Model(&byokRow{}).Where("id = ?", credential.UUID()).
		UpdateColumns(map[string]any{"verification": nil}), "forget the verification of a provider key")
}

var _ byok.Verifications = (*BYOKVerifications)(nil)
