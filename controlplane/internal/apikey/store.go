package apikey

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
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

// RateLimits have policies that are assigned to keys.
type RateLimits interface {
	// Release takes all of them off a key and says which. It is called inside a
	// transaction of ws.
	Release(ctx context.Context, ws id.Workspace, key id.Key) ([]id.RatePolicy, error)
}
