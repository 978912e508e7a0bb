package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

type idempotencyRow struct {
	WorkspaceID  *uuid.UUID                     `gorm:"column:workspace_id"`
	Actor        string                         `gorm:"column:actor"`
	Key          string                         `gorm:"column:key"`
	RequestHash  []byte                         `gorm:"column:request_hash"`
	Token        uuid.UUID                      `gorm:"column:token"`
	ClaimedUntil time.Time                      `gorm:"column:claimed_until"`
	ExecutedAt   *time.Time                     `gorm:"column:executed_at"`
	Status       *int                           `gorm:"column:status"`
	Header       *jsonColumn[map[string]string] `gorm:"column:header"`
	Body         []byte                         `gorm:"column:body"`
	CreatedAt    time.Time                      `gorm:"column:created_at;autoCreateTime:false"`
	ExpiresAt    time.Time                      `gorm:"column:expires_at"`
}

func (idempotencyRow) TableName() string { return "idempotency_keys" }

// IdempotencyStore keeps claims and answers, as the system role.
type IdempotencyStore struct {
	system *System
	ids    *id.Source
	now    func() time.Time
}

// NewIdempotencyStore returns a store over db.
func NewIdempotencyStore(db *DB, ids *id.Source, now func() time.Time) *IdempotencyStore {
	return &IdempotencyStore{system: db.System(), ids: ids, now: now}
}

// Reserve implements idempotency.Store.
func (s *IdempotencyStore) Reserve(ctx context.Context, r idempotency.Request) (idempotency.Claim, *idempotency.Answer, error) {
	claim := idempotency.Claim{Request: r, Token: s.ids.UUID()}
	var replay *idempotency.Answer
	err := s.system.InTx(ctx, func(ctx context.Context) error {
		replay = nil
		now := s.now().UTC()
		fresh := idempotencyRow{
			WorkspaceID: uuidPtr(r.Workspace.UUID()), Actor: r.Actor, Key: r.Key, RequestHash: r.Hash[:], Token: claim.Token,
			ClaimedUntil: now.Add(idempotency.Lease), CreatedAt: now, ExpiresAt: now.Add(idempotency.Keep),
		}
		// A concurrent insert of the same key makes this one wait for it.
		done := system(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&fresh)
		if done.Error != nil || done.RowsAffected == 1 {
			return translate(done.Error, "claim an idempotency key")
		}
		var held idempotencyRow
		err := keyed(ctx, r).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).Take(&held).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return idempotency.Running() // it was released or swept this moment
		}
		if err != nil {
			return translate(err, "read an idempotency key")
		}
		if replay, err = held.verdict(r, now); err != nil || replay != nil {
			return err
		}
		done = keyed(ctx, r).Model(&idempotencyRow{}).Updates(map[string]any{
			"request_hash": fresh.RequestHash, "token": fresh.Token, "claimed_until": fresh.ClaimedUntil, "executed_at": nil,
			"status": nil, "header": nil, "body": nil, "created_at": fresh.CreatedAt, "expires_at": fresh.ExpiresAt,
		})
		return changed(done, "take over an idempotency key")
	})
	if err != nil || replay != nil {
		return idempotency.Claim{}, replay, err
	}
	return claim, nil, nil
}

// verdict says what a key that exists means for r; nil and nil mean that it
// may be claimed again.
func (row idempotencyRow) verdict(r idempotency.Request, now time.Time) (*idempotency.Answer, error) {
	switch {
	case !now.Before(row.ExpiresAt):
		return nil, nil
	case string(row.RequestHash) != string(r.Hash[:]):
		return nil, idempotency.Mismatch()
	case row.Status != nil:
		return &idempotency.Answer{Status: *row.Status, Header: row.Header.v, Body: row.Body}, nil
	case now.Before(row.ClaimedUntil):
		return nil, idempotency.Running()
	case row.ExecutedAt != nil:
		return nil, idempotency.Lost()
	default:
		return nil, nil
	}
}

// Complete implements idempotency.Store.
func (s *IdempotencyStore) Complete(ctx context.Context, c idempotency.Claim, a idempotency.Answer) error {
	if a.Body == nil {
		a.Body = []byte{}
	}
	return s.system.InTx(ctx, func(ctx context.Context) error {
		done := keyed(ctx, c.Request).Where("token = ?", c.Token).Model(&idempotencyRow{}).Updates(map[string]any{
			"status": a.Status, "header": jsonColumn[map[string]string]{a.Header}, "body": a.Body,
		})
		return changed(done, "store an idempotent answer")
	})
}

// Release implements idempotency.Store.
func (s *IdempotencyStore) Release(ctx context.Context, c idempotency.Claim) error {
	return s.system.InTx(ctx, func(ctx context.Context) error {
		err := keyed(ctx, c.Request).Where("token = ? AND executed_at IS NULL", c.Token).Delete(&idempotencyRow{}).Error
		return translate(err, "release an idempotency key")
	})
}

// Sweep implements idempotency.Store.
func (s *IdempotencyStore) Sweep(ctx context.Context, limit int) (int, error) {
	var n int64
	err := s.system.InTx(ctx, func(ctx context.Context) error {
		done := system(ctx).Exec(`DELETE FROM idempotency_keys WHERE ctid IN
			(SELECT ctid FROM idempotency_keys WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
			s.now().UTC(), limit)
		n = done.RowsAffected
		return translate(done.Error, "sweep idempotency keys")
	})
	return int(n), err
}

func keyed(ctx context.Context, r idempotency.Request) *gorm.DB {
	return system(ctx).Where("workspace_id IS NOT DISTINCT FROM ? AND actor = ? AND key = ?", uuidPtr(r.Workspace.UUID()), r.Actor, r.Key)
}

// markExecuted ties the claim of ctx to the transaction that makes the change.
// A claim that was taken over meanwhile fails the transaction.
func markExecuted(ctx context.Context, db *gorm.DB) error {
	claim, ok := idempotency.ClaimOf(ctx)
	if !ok {
		return nil
	}
	done := db.Exec("UPDATE idempotency_keys SET executed_at = now() WHERE token = ?", claim.Token)
	if done.Error == nil && done.RowsAffected == 0 {
		return fault.New(fault.Conflict, "Another call with the same Idempotency-Key took over. Try again.").After(time.Second)
	}
	return translate(done.Error, "mark an idempotency key executed")
}

var (
	_ idempotency.Store = (*IdempotencyStore)(nil)
	_ txn.System        = (*System)(nil)
)
