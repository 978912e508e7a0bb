package budget

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps budgets. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	// Create fails with conflict at "interval" when the target has a budget of it.
	Create(ctx context.Context, ws id.Workspace, b Budget) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, budget id.Budget) (Budget, error)
	// Update replaces the changeable fields where the stored version is one less;
	// else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, b Budget) error
	// Delete fails with not_found.
	Delete(ctx context.Context, ws id.Workspace, budget id.Budget) error
	// Count counts all of the workspace, those of departments too.
	Count(ctx context.Context, ws id.Workspace) (int, error)
}

// Directory lists budgets, inside a transaction of ws.
type Directory interface {
	// List is newest first: those of departments, or the others.
	List(ctx context.Context, ws id.Workspace, departments bool, q page.Query, f Filter) (page.Result[Budget], error)
}

// Targets says what a budget can be about. Both are called inside a transaction
// of ws.
type Targets interface {
	// Department fails with not_found where ws has no such department.
	Department(ctx context.Context, ws id.Workspace, department id.Department) error
	// Guardrail fails with not_found where ws has no such guardrail.
	Guardrail(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) error
}
