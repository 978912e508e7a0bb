package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Raw SQL as the application role, without a workspace chosen, sees no row of
// any table, and so does a pooled connection after a transaction.
func TestNothingIsSeenWithoutAWorkspace(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, NewAPIKeyStore().Create(ctx, w.ID, filledKey(t, owner, 1)))
		require.NoError(t, NewManagementKeyStore().Create(ctx, w.ID, filledManagementKey(t, owner, 1)))
		brought := filledCredential(t, owner, 1)
		require.NoError(t, NewBYOKStore().Create(ctx, w.ID, brought))
		require.NoError(t, NewAutoRoutingStore().Update(ctx, w.ID, changedAuto()))
		g, bound := guardrailOf(w.ID), filledKey(t, owner, 2)
		require.NoError(t, NewAPIKeyStore().Create(ctx, w.ID, bound))
		require.NoError(t, NewGuardrailStore().Create(ctx, w.ID, g))
		require.NoError(t, NewGuardrailKeys().Add(ctx, w.ID, g.ID, []id.Key{bound.ID}, epoch))
		require.NoError(t, NewGuardrailMembers().Add(ctx, w.ID, g.ID, []id.User{owner.User}, epoch))
		require.NoError(t, NewRouteVersionStore().Add(ctx, w.ID, versionOf(w.ID)))
		require.NoError(t, NewRouteDeploymentStore().Add(ctx, w.ID, deploymentOf(w.ID)))
		storeRollout(ctx, t, owner)
		storePreset(ctx, t, owner)
		storeLimits(ctx, t, owner, bound.ID)
		require.NoError(t, NewBudgetStore().Create(ctx, w.ID, budgetOf(owner)))
		if _, _, err := NewBYOKVerifications().Claim(ctx, w.ID, brought.ID, byok.VerifyPace); err != nil {
			return err
		}
		return NewAuditStore().Append(ctx, w.ID, auditEvent(w.ID))
	})
	require.NoError(t, addTrials(t.Context(), db.system.sql, []usage.Trial{{Workspace: w.ID, Rollout: rolloutOf(owner).ID, Cell: tally.Cell{Requests: 1}}}))
	tables := []string{"workspaces", "users", "members", "workspace_revisions", "api_keys", "management_keys", "byok_credentials", "byok_verify_turns", "settings", "auto_routing", "routing_profiles", "departments", "department_members", "rate_limit_policies", "rate_limit_assignments", "guardrails", "guardrail_keys", "guardrail_members", "budgets", "dynamic_routes", "dynamic_route_versions", "dynamic_route_deployments", "dynamic_route_rollouts", "dynamic_route_rollout_counts", "presets", "preset_versions", "preset_deployments", "publishers", "audit_events"}
	for _, table := range tables {
		var n int
		require.NoError(t, db.app.sql.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		require.Zero(t, n, table)
		in(t, db, w.ID, func(ctx context.Context) error {
			return tenant(ctx, w.ID).Raw("SELECT count(*) FROM " + table).Scan(&n).Error
		})
		require.Positive(t, n, table)
	}
	_, err := db.app.sql.ExecContext(t.Context(), "SET row_security = off; SELECT * FROM api_keys")
	require.Error(t, err)
	_, err = db.app.sql.ExecContext(t.Context(), "ALTER TABLE api_keys DISABLE ROW LEVEL SECURITY")
	require.ErrorContains(t, err, "must be owner")
}

// The system role reads what it was granted and nothing else, and writes less.
func TestTheSystemRoleIsConfined(t *testing.T) {
	db := openTest(t)
	for _, statement := range []string{
		"SELECT * FROM audit_events", "DELETE FROM workspaces", "UPDATE workspaces SET name = 'x'",
		"SELECT name FROM byok_credentials", "UPDATE byok_credentials SET sealed = ''", "DELETE FROM byok_credentials",
		"UPDATE presets SET draft = '{}'", "UPDATE preset_versions SET status = 'deployed'", "SELECT * FROM preset_deployments", "SELECT * FROM publishers", "SELECT * FROM budgets",
		"UPDATE dynamic_route_rollouts SET state = 'aborted'", "DELETE FROM dynamic_route_rollout_counts", "UPDATE dynamic_route_versions SET status = 'deployed'",
		"UPDATE api_keys SET status = 'active'", "UPDATE management_keys SET secret_hash = ''",
		"INSERT INTO members (workspace_id, user_id, role, created_at) VALUES (gen_random_uuid(), gen_random_uuid(), 'owner', now())",
	} {
		_, err := db.system.sql.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "permission denied", statement)
	}
}
