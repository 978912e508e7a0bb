package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// SQLSTATE codes (PostgreSQL documentation, appendix A) and our own.
const (
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	checkViolation       = "23514"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	tooManyConnections   = "53300"
	workspaceDeleted     = "SB404" // raised by the trigger on workspace_revisions
)

// place is what a constraint says about the input.
type place struct {
	path    string
	message string
}

// places names the input field of each constraint that input can violate. The
// services check first; these hold when two calls race, or a check was forgotten.
var places = map[string]place{
	"workspaces_slug_key":                 {"slug", "is taken by another workspace"},
	"workspaces_name_check":               {"name", "must have 1 to 100 characters"},
	"workspaces_slug_check":               {"slug", "must be 1 to 63 lower-case letters, digits and inner hyphens"},
	"users_email_key":                     {"owner.email", "belongs to another user"},
	"users_email_check":                   {"owner.email", "must be an e-mail address"},
	"users_name_check":                    {"owner.name", "must have at most 100 characters"},
	"members_pkey":                        {"user_id", "is a member already"},
	"members_role_check":                  {"role", "must be owner, admin, member or viewer"},
	"api_keys_name_check":                 {"name", "must have 1 to 100 characters"},
	"management_keys_name_check":          {"name", "must have 1 to 100 characters"},
	"management_keys_scopes_check":        {"scopes", "must have at least one scope"},
	"management_keys_template_check":      {"template", "must be read-only, read-write or full-control"},
	"settings_routing_mode_check":         {"routing_mode", "must be balanced, price, latency or throughput"},
	"settings_fallback_models_check":      {"fallback_models", "must have at most 8 entries"},
	"settings_models_without_model_check": {"models_without_model", "must be reject or use_first"},
	"settings_max_attempts_check":         {"max_attempts", "must be from 1 to 20"},
	"settings_max_models_check":           {"max_models", "must be from 1 to 34"},
	"settings_log_retention_days_check":   {"log_retention_days", "must be from 1 to 3650"},
	"settings_alpha_channel_check":        {"alpha_channel", "needs beta_channel"},
	"auto_routing_objective_check":        {"objective", "must be balanced, quality, cost or latency"},
	"auto_routing_spend_profile_check":    {"spend_profile", "must be economy, standard, premium, any or custom"},
	"auto_routing_input_price_check":      {"prices.input", "must be zero or more"},
	"auto_routing_output_price_check":     {"prices.output", "must be zero or more"},
	"auto_routing_models_check":           {"models", "must have at most 16 entries"},
	"auto_routing_prices_check":           {"prices", "go with spend_profile custom"},
	"routing_profiles_name_key":           {"name", "is taken by another routing profile"},
	"departments_name_key":                {"name", "is taken by another department"},
	"departments_name_check":              {"name", "must have 1 to 100 characters"},
	"guardrails_name_key":                 {"name", "is taken by another guardrail"},
	"guardrails_name_check":               {"name", "must have 1 to 100 characters"},
	"guardrails_description_check":        {"description", "must have at most 500 characters"},
	"budgets_target_key":                  {"interval", "is that of another budget of the same target: change that one"},
	"budgets_agent_check":                 {"agent", "must have at most 128 bytes"},
	"budgets_limit_nanos_check":           {"limit_usd", "must be more than 0"},
	"budgets_interval_check":              {"interval", "must be daily, weekly, monthly or lifetime"},
	"budgets_department_check":            {"interval", "must be daily, weekly or monthly, without reserving, for a department"},
	"budgets_target_check":                {"agent", "excludes guardrail_id: a budget is about one of them"},
	"api_keys_agent_check":                {"agent", "must have at most 128 bytes"},
	"dynamic_routes_name_key":             {"name", "is taken by another dynamic route"},
	"dynamic_routes_slug_key":             {"slug", "is taken by another dynamic route"},
	"dynamic_routes_name_check":           {"name", "must have 1 to 80 characters"},
	"dynamic_routes_slug_check":           {"slug", "must be 1 to 63 lower-case letters, digits and inner hyphens"},
	"dynamic_routes_description_check":    {"description", "must have at most 500 characters"},
	"dynamic_routes_status_check":         {"status", "must be active or paused"},
	"dynamic_route_versions_note_check":   {"note", "must have at most 500 characters"},
	"presets_slug_key":                    {"slug", "is or was a preset's of this workspace"},
	"presets_slug_check":                  {"slug", "must be 1 to 80 lower-case letters, digits, dots, underscores, colons and hyphens"},
	"presets_name_check":                  {"name", "must have 1 to 100 characters"},
	"presets_description_check":           {"description", "must have at most 500 characters"},
	"preset_versions_label_key":           {"version_label", "is taken by another version"},
	"preset_versions_label_check":         {"version_label", "must have 1 to 100 characters"},
	"preset_versions_notes_check":         {"release_notes", "must have at most 1000 characters"},
	"publishers_handle_key":               {"handle", "is taken by another workspace"},
	"publishers_handle_check":             {"handle", "must be 3 to 40 lower-case letters, digits, underscores and hyphens, and begin with a letter or digit"},
	"routing_profiles_name_check":         {"name", "must have 1 to 100 characters"},
}

// bindings are the references that input makes. The services look first, in
// the transaction that locked the workspace, so only a forgotten check can
// break one; then it is no mistake inside.
var bindings = map[string]bool{
	"settings_routing_profile_id_fkey":    true,
	"departments_routing_profile_id_fkey": true,
	"api_keys_routing_profile_id_fkey":    true,
	"api_keys_department_id_fkey":         true,
	"api_keys_route_id_fkey":              true,
	"budgets_department_id_fkey":          true,
	"budgets_guardrail_id_fkey":           true,
	"guardrail_keys_guardrail_id_fkey":    true,
	"guardrail_keys_target_id_fkey":       true,
	"guardrail_members_guardrail_id_fkey": true,
	"guardrail_members_target_id_fkey":    true,
}

// translate turns a driver error into a fault, or wraps it with what was being
// done. A fault passes through. what is for the log: the caller of the API
// sees none of it.
func translate(err error, what string) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	wrapped := fmt.Errorf("%s: %w", what, err)
	if errors.Is(err, gorm.ErrRecordNotFound) || errors.Is(err, sql.ErrNoRows) {
		return fault.Wrap(wrapped, fault.NotFound, "There is no such thing here.")
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return translateServer(pg, wrapped)
	}
	if connectionLost(err) {
		return unavailable(wrapped)
	}
	return wrapped
}

func translateServer(pg *pgconn.PgError, wrapped error) error {
	switch {
	case pg.Code == uniqueViolation:
		return placed(fault.Wrap(wrapped, fault.Conflict, "It conflicts with something that exists."), pg.ConstraintName, "taken")
	case pg.Code == foreignKeyViolation && bindings[pg.ConstraintName]:
		return fault.Wrap(wrapped, fault.Conflict, "It names something that is not there any more, or something names it still.")
	case pg.Code == checkViolation:
		if _, ok := places[pg.ConstraintName]; !ok {
			return wrapped // no input can do this: a mistake of ours
		}
		return placed(fault.Wrap(wrapped, fault.ValidationError, "The request has invalid fields."), pg.ConstraintName, rule.NotAllowed)
	case pg.Code == workspaceDeleted:
		return fault.Wrap(wrapped, fault.NotFound, "The workspace does not exist.")
	case collided(pg), pg.Code == tooManyConnections, strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "57P"):
		return unavailable(wrapped)
	default:
		return wrapped
	}
}

func placed(e *fault.Error, constraint, code string) *fault.Error {
	if p, ok := places[constraint]; ok {
		e.Message = p.path + ": " + p.message
		e.Violations = []fault.Violation{{Path: p.path, Code: code, Message: p.message}}
	}
	return e
}

func unavailable(cause error) *fault.Error {
	return fault.Wrap(cause, fault.Unavailable, "The database cannot be reached right now. Nothing was changed; try again.").After(time.Second)
}

// uncertain is the failure of a commit whose answer did not come: the change
// may have been made.
func uncertain(err error) error {
	if !connectionLost(err) {
		return translate(err, "commit")
	}
	return fault.Wrap(fmt.Errorf("commit: %w", err), fault.Unavailable,
		"The connection to the database was lost while the change was being saved, so it may have been made. Read it again before you repeat the call.")
}

// collided reports whether another transaction got in the way, so that running
// the same work again can succeed.
func collided(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == serializationFailure || pg.Code == deadlockDetected)
}

// refusal reports whether the server will refuse every connection until an
// operator changes something: authorization (class 28), no such database
// (3D000), no such role or one that may not be assumed (22023, 42501, 42704).
func refusal(code string) bool {
	switch code {
	case "3D000", "22023", "42501", "42704":
		return true
	}
	return strings.HasPrefix(code, "28")
}

func connectionLost(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false // the caller went away
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	return connecting || network || pgconn.SafeToRetry(err) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
