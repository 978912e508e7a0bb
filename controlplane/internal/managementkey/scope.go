package managementkey

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// The scopes.
const (
	WorkspacesRead      = "workspaces:read"
	WorkspacesWrite     = "workspaces:write"
	WorkspacesDelete    = "workspaces:delete"
	MembersRead         = "members:read"
	KeysRead            = "keys:read"
	KeysWrite           = "keys:write"
	ManagementKeysRead  = "management_keys:read"
	ManagementKeysWrite = "management_keys:write"
	BYOKRead            = "byok:read"
	BYOKWrite           = "byok:write"
	SettingsRead        = "settings:read"
	SettingsWrite       = "settings:write"
	AuditRead           = "audit:read"
	PublicationsRead    = "publications:read"
	GatewaysRead        = "gateways:read"
	LogsRead            = "logs:read"
	UsageRead           = "usage:read"
	ModelsRead          = "models:read"
	RoutingRead         = "routing:read"
	RoutingWrite        = "routing:write"
	RoutingDeploy       = "routing:deploy"
	GuardrailsRead      = "guardrails:read"
	GuardrailsWrite     = "guardrails:write"
	RateLimitsRead      = "rate_limits:read"
	RateLimitsWrite     = "rate_limits:write"
	BudgetsRead         = "budgets:read"
	BudgetsWrite        = "budgets:write"
	PresetsRead         = "presets:read"
	PresetsWrite        = "presets:write"
	PresetsDeploy       = "presets:deploy"
	WebhooksRead        = "webhooks:read"
	WebhooksWrite       = "webhooks:write"
)

// Template is a named bundle of scopes.
type Template string

// The templates, each a superset of the one before.
const (
	ReadOnly    Template = "read-only"
	ReadWrite   Template = "read-write"
	FullControl Template = "full-control"
)

// Scopes lists every scope, sorted.
func Scopes() []string {
	list := append(readWrite(), WorkspacesDelete, ManagementKeysWrite)
	slices.Sort(list)
	return list
}

// Scopes are those of the template, sorted; nil for an unknown one.
func (t Template) Scopes() []string {
	var list []string
	switch t {
	case ReadOnly:
		list = readOnly()
	case ReadWrite:
		list = readWrite()
	case FullControl:
		return Scopes()
	}
	slices.Sort(list)
	return list
}

func readOnly() []string {
	return []string{
		WorkspacesRead, MembersRead, KeysRead, ManagementKeysRead, BYOKRead, SettingsRead, AuditRead, PublicationsRead,
		GatewaysRead, LogsRead, UsageRead, ModelsRead, RoutingRead, GuardrailsRead, RateLimitsRead, BudgetsRead, PresetsRead,
		WebhooksRead,
	}
}

func readWrite() []string {
	return append(readOnly(), WorkspacesWrite, KeysWrite, BYOKWrite, SettingsWrite, RoutingWrite, RoutingDeploy, GuardrailsWrite, RateLimitsWrite, BudgetsWrite, PresetsWrite, PresetsDeploy, WebhooksWrite)
}

// mayGrant refuses scopes that the granter lacks, and names them.
func mayGrant(granter, wanted []string) error {
	var lacking []string
	for _, s := range wanted {
		if !slices.Contains(granter, s) {
			lacking = append(lacking, s)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return fault.New(fault.InsufficientScope, "Nobody can have a management key with scopes that the calling key lacks.").
		With("missing_scopes", lacking)
}

// mayHold refuses to hand the secret of k to someone who could not have made
// it: it speaks for its creator, with their role and its scopes.
func mayHold(user id.User, scopes []string, k Key) error {
	if user != k.CreatedBy {
		return fault.New(fault.Forbidden, "Only its creator may have a management key's new secret. Revoke the key, and create one of your own.")
	}
	return mayGrant(scopes, k.Scopes)
}
