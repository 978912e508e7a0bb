package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// The tables of what guardrails are bound to. Both have the columns of
// boundRow.
const (
	guardrailKeys    = "guardrail_keys"
	guardrailMembers = "guardrail_members"
)

type boundRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id"`
	GuardrailID uuid.UUID `gorm:"column:guardrail_id"`
	TargetID    uuid.UUID `gorm:"column:target_id"`
	AddedAt     time.Time `gorm:"column:added_at"`
}

func boundRowOf(ws id.Workspace, g id.Guardrail, target uuid.UUID, at time.Time) boundRow {
	return boundRow{WorkspaceID: ws.UUID(), GuardrailID: g.UUID(), TargetID: target, AddedAt: at}
}

func bindingOf[K id.Kind](r boundRow) guardrail.Binding[K] {
	return guardrail.Binding[K]{ID: id.FromUUID[K](r.TargetID), AddedAt: r.AddedAt.UTC()}
}

// bound are the bindings of the workspace in one of the tables.
func bound(ctx context.Context, ws id.Workspace, table string) *gorm.DB {
	return scoped(ctx, ws).Table(table)
}

func boundTo(ctx context.Context, ws id.Workspace, table string, g id.Guardrail) *gorm.DB {
	return bound(ctx, ws, table).Where("guardrail_id = ?", g.UUID())
}

// allBound are the targets of each guardrail, sorted.
func allBound[K id.Kind](bindings *gorm.DB) (map[uuid.UUID][]id.ID[K], error) {
	var rows []boundRow
	if err := bindings.Order("guardrail_id, target_id").Find(&rows).Error; err != nil {
		return nil, translate(err, "compile the bindings of guardrails")
	}
	targets := make(map[uuid.UUID][]id.ID[K])
	for _, r := range rows {
		targets[r.GuardrailID] = append(targets[r.GuardrailID], id.FromUUID[K](r.TargetID))
	}
	return targets, nil
}

// GuardrailBinder keeps what guardrails are bound to of one kind.
type GuardrailBinder[K id.Kind] struct {
	table string
	// targets selects what can be bound, with its ids in column.
	targets func(ctx context.Context, ws id.Workspace) *gorm.DB
	column  string
}

// NewGuardrailKeys returns the binder of API keys.
func NewGuardrailKeys() *GuardrailBinder[id.KeyKind] {
	return &GuardrailBinder[id.KeyKind]{table: guardrailKeys, column: "id", targets: func(ctx context.Context, ws id.Workspace) *gorm.DB {
		return scoped(ctx, ws).Model(&apiKeyRow{}).Where("status <> 'revoked'")
	}}
}

// NewGuardrailMembers returns the binder of members.
func NewGuardrailMembers() *GuardrailBinder[id.UserKind] {
	return &GuardrailBinder[id.UserKind]{table: guardrailMembers, column: "user_id", targets: func(ctx context.Context, ws id.Workspace) *gorm.DB {
		return scoped(ctx, ws).Model(&memberRow{})
	}}
}

// Bindable implements guardrail.Binder.
func (b *GuardrailBinder[K]) Bindable(ctx context.Context, ws id.Workspace, ids []id.ID[K]) ([]id.ID[K], error) {
	return plucked[K](b.targets(ctx, ws).Where(b.column+" IN ?", uuidsOf(ids)), b.column)
}

// Bound implements guardrail.Binder.
func (b *GuardrailBinder[K]) Bound(ctx context.Context, ws id.Workspace, g id.Guardrail, ids []id.ID[K]) ([]id.ID[K], error) {
	return plucked[K](boundTo(ctx, ws, b.table, g).Where("target_id IN ?", uuidsOf(ids)), "target_id")
}

// Add implements guardrail.Binder.
func (b *GuardrailBinder[K]) Add(ctx context.Context, ws id.Workspace, g id.Guardrail, ids []id.ID[K], at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([]boundRow, len(ids))
	for i, one := range ids {
		rows[i] = boundRowOf(ws, g, one.UUID(), at)
	}
	return translate(tenant(ctx, ws).Table(b.table).Create(&rows).Error, "bind a guardrail")
}

// Remove implements guardrail.Binder.
func (b *GuardrailBinder[K]) Remove(ctx context.Context, ws id.Workspace, g id.Guardrail, ids []id.ID[K]) error {
	done := boundTo(ctx, ws, b.table, g).Where("target_id IN ?", uuidsOf(ids)).Delete(&boundRow{})
	return translate(done.Error, "take a guardrail off")
}

// List implements guardrail.Binder.
func (b *GuardrailBinder[K]) List(ctx context.Context, ws id.Workspace, g id.Guardrail, q page.Query) (page.Result[guardrail.Binding[K]], error) {
	return newest(boundTo(ctx, ws, b.table, g), "target_id", q, func(r boundRow) uuid.UUID { return r.TargetID }, bindingOf[K], "list the bindings of a guardrail")
}

func uuidsOf[K id.Kind](ids []id.ID[K]) []uuid.UUID {
	list := make([]uuid.UUID, len(ids))
	for i, one := range ids {
		list[i] = one.UUID()
	}
	return list
}

func plucked[K id.Kind](selected *gorm.DB, column string) ([]id.ID[K], error) {
	var found []uuid.UUID
	if err := selected.Pluck(column, &found).Error; err != nil {
		return nil, translate(err, "look for what a guardrail binds")
	}
	list := make([]id.ID[K], len(found))
	for i, u := range found {
		list[i] = id.FromUUID[K](u)
	}
	return list, nil
}

var (
	_ guardrail.Binder[id.KeyKind]  = (*GuardrailBinder[id.KeyKind])(nil)
	_ guardrail.Binder[id.UserKind] = (*GuardrailBinder[id.UserKind])(nil)
)
