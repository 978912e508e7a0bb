package apikey

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Store keeps keys. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	Create(ctx context.Context, ws id.Workspace, k Key) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, key id.Key) (Key, error)
	// List is newest first; the effective status is that at now.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter, now time.Time) (page.Result[Key], error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, k Key) error
}

// Profiles says which routing profiles there are.
type Profiles interface {
	// Bindable fails with not_found where ws has no such profile. It is called
	// inside a transaction of ws.
	Bindable(ctx context.Context, ws id.Workspace, profile id.Profile) error
}

// Departments says which departments there are.
type Departments interface {
	// Bindable fails with not_found where ws has no such department. It is
	// called inside a transaction of ws.
	Bindable(ctx context.Context, ws id.Workspace, department id.Department) error
}

// Routes have keys attached to them.
type Routes interface {
	// Touch raises the version of routes that a key of theirs is gone from. It is
	// called inside a transaction of ws.
	Touch(ctx context.Context, ws id.Workspace, routes []id.Route) error
}

// Guardrails are bound to keys.
type Guardrails interface {
	// Release takes all of them off a key and says which. It is called inside a
	// transaction of ws.
	Release(ctx context.Context, ws id.Workspace, key id.Key, at time.Time) ([]id.Guardrail, error)
}

// Spending tells what accounts spent.
type Spending interface {
	// Spent is called inside a transaction of ws; an account that never spent
	// anything is absent. Days are those from since on.
	Spent(ctx context.Context, ws id.Workspace, accounts []wire.Account, since time.Time) (map[wire.Account]spending.History, error)
}

// Mutator runs fn in the transaction that raises the workspace's revision, and
// records and publishes the change.
type Mutator interface {
	Mutate(ctx context.Context, ws id.Workspace, change *deploy.Change, fn func(ctx context.Context, revision int64) error) (publication.Publication, error)
}
