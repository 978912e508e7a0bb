// Package audit owns the account of who changed what: the actor, the event,
// and the differences, which never hold a secret. Events are written in the
// transaction of the change and are never altered. It knows nothing of SQL.
package audit

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// ActorKind says what kind of caller an actor is.
type ActorKind string

// The kinds of actor.
const (
	ManagementKey ActorKind = "management_key"
	Operator      ActorKind = "operator"
	System        ActorKind = "system" // the product itself
	User          ActorKind = "user"
)

// Actor is who did something.
type Actor struct {
	Kind ActorKind
	ID   string  // of the management key or user; "" for operator and system
	User id.User // the person behind it, when there is one
	Name string
}

// By is an actor in one request.
type By struct {
	Actor
	RequestID string
}

// Change is one field that became another.
type Change struct {
	Path          string // dotted
	Before, After string // for a secret only "" and "changed"
}

// Event is one thing that was done.
type Event struct {
	ID         id.AuditEvent
	Workspace  id.Workspace
	At         time.Time
	Actor      Actor
	Action     string // "key.create"
	TargetType string // "key"
	TargetID   string
	Diff       []Change
	RequestID  string
	Revision   int64 // of the workspace, which the change raised
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Action       string
	TargetType   string
	TargetID     string
	Actor        string    // the actor's ID, or its user
	Since, Until time.Time // At in [Since, Until)
}
