package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type ratePolicyRow struct {
	ID            uuid.UUID `gorm:"column:id;primaryKey"`
	WorkspaceID   uuid.UUID `gorm:"column:workspace_id"`
	Name          string    `gorm:"column:name"`
	Requests      *int64    `gorm:"column:requests_per_minute"`
	Tokens        *int64    `gorm:"column:tokens_per_minute"`
	Concurrent    *int64    `gorm:"column:concurrent_requests"`
	FailClosed    bool      `gorm:"column:fail_closed"`
	OnUnavailable string    `gorm:"column:on_unavailable"`
	Version       int64     `gorm:"column:version"`
	CreatedAt     time.Time `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt     time.Time `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (ratePolicyRow) TableName() string { return "rate_limit_policies" }

func ratePolicyRowOf(p ratelimit.Policy) ratePolicyRow {
	return ratePolicyRow{
		ID: p.ID.UUID(), WorkspaceID: p.Workspace.UUID(), Name: p.Name,
		Requests: orNil(p.Requests), Tokens: orNil(p.Tokens), Concurrent: orNil(p.Concurrent),
		FailClosed: p.FailClosed, OnUnavailable: string(p.Unavailable),
		Version: p.Version, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}

func (r ratePolicyRow) policy() ratelimit.Policy {
	return ratelimit.Policy{
		ID: id.FromUUID[id.RatePolicyKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Name: r.Name,
		Requests: orZero(r.Requests), Tokens: orZero(r.Tokens), Concurrent: orZero(r.Concurrent),
		FailClosed: r.FailClosed, Unavailable: policy.Unavailable(r.OnUnavailable),
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r ratePolicyRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "requests_per_minute": r.Requests, "tokens_per_minute": r.Tokens, "concurrent_requests": r.Concurrent,
		"fail_closed": r.FailClosed, "on_unavailable": r.OnUnavailable, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// RateLimitStore keeps rate-limit policies.
type RateLimitStore struct{}

// NewRateLimitStore returns a store that works in the transaction of its
// context.
func NewRateLimitStore() *RateLimitStore { return &RateLimitStore{} }

// Create implements ratelimit.Store.
func (*RateLimitStore) Create(ctx context.Context, ws id.Workspace, p ratelimit.Policy) error {
	row := ratePolicyRowOf(p)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a rate-limit policy")
}

// Get implements ratelimit.Store.
func (*RateLimitStore) Get(ctx context.Context, ws id.Workspace, p id.RatePolicy) (ratelimit.Policy, error) {
	var row ratePolicyRow
	err := scoped(ctx, ws).Where("id = ?", p.UUID()).Take(&row).Error
	return row.policy(), translate(err, "read a rate-limit policy")
}

// Update implements ratelimit.Store.
func (*RateLimitStore) Update(ctx context.Context, ws id.Workspace, p ratelimit.Policy) error {
	row := ratePolicyRowOf(p)
	own := scoped(ctx, ws).Model(&ratePolicyRow{}).Where("id = ?", row.ID)
	return updated(own, p.Version, row.changeable(), "update a rate-limit policy")
}

// Delete implements ratelimit.Store.
func (*RateLimitStore) Delete(ctx context.Context, ws id.Workspace, p id.RatePolicy) error {
	return changed(scoped(ctx, ws).Where("id = ?", p.UUID()).Delete(&ratePolicyRow{}), "delete a rate-limit policy")
}

// List implements ratelimit.Directory.
func (*RateLimitStore) List(ctx context.Context, ws id.Workspace, q page.Query, f ratelimit.Filter) (page.Result[ratelimit.Policy], error) {
	return newest(called(scoped(ctx, ws), f.Name), "id", q, func(r ratePolicyRow) uuid.UUID { return r.ID }, ratePolicyRow.policy, "list rate-limit policies")
}

// Count implements ratelimit.Directory.
func (*RateLimitStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&ratePolicyRow{}), "count rate-limit policies")
}

var (
	_ ratelimit.Store     = (*RateLimitStore)(nil)
	_ ratelimit.Directory = (*RateLimitStore)(nil)
)
