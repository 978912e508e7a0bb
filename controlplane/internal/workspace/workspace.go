// Package workspace owns tenants and the people in them: what a workspace and
// a member are, and how they are created, changed and deleted. It knows
// nothing of SQL, HTTP, or what else a workspace holds.
package workspace

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Workspace is a tenant.
type Workspace struct {
	ID        id.Workspace
	Name      string
	Slug      string // unique among workspaces that are not deleted
	Status    policy.WorkspaceStatus
	Tags      []string // set by operators; sorted
	Version   int64    // rises with every change, from 1
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Role is a member's standing.
type Role string

// The roles, from the one that may do everything.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Viewer Role = "viewer"
	// Ordinary is the role "member"; the name Member is taken by the type.
	Ordinary Role = "member"
)

// Member is a user in a workspace.
type Member struct {
	Workspace id.Workspace
	User      id.User
	Email     string // lower case
	Name      string
	Role      Role
	CreatedAt time.Time
}

// NewWorkspace is what the operator gives.
type NewWorkspace struct {
	Name  string
	Slug  string // "" derives one from Name
	Owner NewOwner
}

// NewOwner is the first member. A user with the same e-mail address becomes
// the owner; else one is created.
type NewOwner struct {
	Email string
	Name  string
}

// Created is a new workspace and its owner.
type Created struct {
	Workspace Workspace
	Owner     Member
}

// Step adds something to a new workspace inside the transaction that creates it.
type Step func(ctx context.Context, c Created) error

// Patch changes a workspace; nil fields stay.
type Patch struct {
	Name *string
	Tags *[]string // operators only: the edge decides that
}

// Deletion confirms what is to be deleted.
type Deletion struct {
	ConfirmName string // must equal the workspace's name
	IfMatch     *int64
}
