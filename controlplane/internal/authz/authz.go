// Package authz owns who may do what: one table of operations by role, scope
// and kind of caller, the check over it, and the documentation made from it.
// It knows nothing of HTTP, credentials or storage.
package authz

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Role is a member's standing in a workspace.
type Role = workspace.Role

// The roles, from the one that may do everything.
const (
	Owner  = workspace.Owner
	Admin  = workspace.Admin
	Member = workspace.Ordinary
	Viewer = workspace.Viewer
)

// Roles lists the roles in the order of the documentation.
func Roles() []Role { return []Role{Owner, Admin, Member, Viewer} }

// Principal is an authenticated caller: a management key with its workspace,
// creator and scopes, or the platform operator, who has none of those.
type Principal struct {
	Operator  bool
	Workspace id.Workspace
	User      id.User
	Role      Role
	Key       id.ManagementKey
	KeyName   string
	Scopes    []string
	ExpiresAt *time.Time
}

// Grant says how far a permission reaches.
type Grant struct {
	OwnOnly bool // only for what the caller created
	Masked  bool // the answer must not show who made a request
}

// Check decides whether p may call operation. An operation without a row is
// refused to everyone.
func Check(p Principal, operation string) (Grant, error) {
	rule, ok := byOperation[operation]
	if !ok {
		return Grant{}, fault.New(fault.Forbidden, "Nobody may call this operation.")
	}
	if p.Operator {
		if rule.Audience == ForWorkspace {
			return Grant{}, fault.New(fault.Forbidden, "The operator token is for /v1/platform only. Use a management key of the workspace.")
		}
		return Grant{}, nil
	}
	if rule.Audience == ForOperator {
		return Grant{}, fault.New(fault.Forbidden, "Only the platform operator may call this.")
	}
	if rule.Scope != "" && !slices.Contains(p.Scopes, rule.Scope) {
		return Grant{}, fault.Newf(fault.InsufficientScope, "This management key lacks the scope %s.", rule.Scope).
			With("missing_scopes", []string{rule.Scope})
	}
	switch {
	case slices.Contains(rule.Roles, p.Role):
		return Grant{}, nil
	case slices.Contains(rule.Own, p.Role):
		return Grant{OwnOnly: true}, nil
	case slices.Contains(rule.Masked, p.Role):
		return Grant{Masked: true}, nil
	}
	return Grant{}, fault.New(fault.Forbidden, "The role of the key's creator in this workspace does not allow this.")
}

var byOperation = func() map[string]Rule {
	rules := make(map[string]Rule, len(table))
	for _, r := range table {
		rules[r.Operation] = r
	}
	return rules
}()
