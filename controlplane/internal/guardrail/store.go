package guardrail

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps guardrails. Every method is called inside a transaction of ws
// and sees nothing else.
type Store interface {
	// Create fails with conflict at "name" when the name is taken.
	Create(ctx context.Context, ws id.Workspace, g Guardrail) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) (Guardrail, error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, g Guardrail) error
	// Delete fails with not_found, and with conflict while the guardrail is
	// bound to a member or a key, or a rate-limit policy is assigned to it. What is
	// revoked lets go of it.
	Delete(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) error
	// Presets are the slugs of presets, MaxNamed at most, of which the draft or a
	// version names the guardrail, and how many more there are. Archived ones do
	// not count.
	Presets(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) (slugs []string, more int, err error)
}

// Directory looks over the guardrails of a workspace, inside a transaction of
// it.
type Directory interface {
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Guardrail], error)
	Count(ctx context.Context, ws id.Workspace) (int, error)
	// Patterns counts the entries with * in the models of all guardrails but one.
	Patterns(ctx context.Context, ws id.Workspace, but id.Guardrail) (int, error)
	Bindings(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) (Bindings, error)
	// Bound counts the bindings of all guardrails; revoked keys do not count.
	Bound(ctx context.Context, ws id.Workspace) (int, error)
}

// Binder keeps the keys, or the members, that guardrails are bound to. Every
// method is called inside a transaction of ws and sees nothing else.
type Binder[K id.Kind] interface {
	// Bindable are those of the ids that can be bound: there, and not revoked.
	Bindable(ctx context.Context, ws id.Workspace, ids []id.ID[K]) ([]id.ID[K], error)
	// Bound are those of the ids that the guardrail is bound to.
	Bound(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, ids []id.ID[K]) ([]id.ID[K], error)
	Add(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, ids []id.ID[K], at time.Time) error
	Remove(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, ids []id.ID[K]) error
	// List is in the order of the ids, newest first.
	List(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, q page.Query) (page.Result[Binding[K]], error)
}

// RateLimits have policies that are assigned to guardrails.
type RateLimits interface {
	// OfGuardrail are those, MaxNamed at most and sorted, that are assigned to a
	// guardrail, and how many more there are. It is called inside a transaction of ws.
	OfGuardrail(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) (policies []id.RatePolicy, more int, err error)
}

// Budgets are about guardrails.
type Budgets interface {
	// ReleaseGuardrail deletes those of a guardrail that is to be deleted, and says
	// which. It is called inside a transaction of ws.
	ReleaseGuardrail(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) ([]id.Budget, error)
}
