package postgres

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestTranslate(t *testing.T) {
	cases := map[string]struct {
		err  error
		code fault.Code
	}{
		"no row":             {gorm.ErrRecordNotFound, fault.NotFound},
		"unique":             {&pgconn.PgError{Code: uniqueViolation}, fault.Conflict},
		"known check":        {&pgconn.PgError{Code: checkViolation, ConstraintName: "workspaces_slug_check"}, fault.ValidationError},
		"unknown check":      {&pgconn.PgError{Code: checkViolation, ConstraintName: "api_keys_revision_check"}, fault.GatewayError},
		"serialization":      {&pgconn.PgError{Code: serializationFailure}, fault.Unavailable},
		"shutdown":           {&pgconn.PgError{Code: "57P01"}, fault.Unavailable},
		"connections spent":  {&pgconn.PgError{Code: tooManyConnections}, fault.Unavailable},
		"connection dropped": {io.ErrUnexpectedEOF, fault.Unavailable},
		"caller gone":        {context.Canceled, fault.GatewayError},
		"permission":         {&pgconn.PgError{Code: "42501"}, fault.GatewayError},
		"a fault":            {fault.New(fault.Forbidden, "no"), fault.Forbidden},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := translate(c.err, "do it")
			require.Equal(t, c.code, fault.CodeOf(got))
			require.ErrorIs(t, got, c.err, "the cause stays for the log")
		})
	}
	require.NoError(t, translate(nil, "do it"))
}

// Every constraint that names an input field exists, and every unique and
// check constraint that input can violate names its field.
func TestConstraintsNameTheirFields(t *testing.T) {
	db := openTest(t)
	owned := db.DirectSQL()
	defer owned.Close()
	for name := range places {
		var exists bool
		err := owned.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT FROM pg_constraint WHERE conname = $1)
			OR EXISTS (SELECT FROM pg_indexes WHERE indexname = $1)`, name).Scan(&exists)
		require.NoError(t, err)
		require.True(t, exists, name)
	}

	w, owner := newWorkspace(t, db)
	other := w
	other.ID = id.New[id.WorkspaceKind](testIDs)
	badSettings := func(edit func(*settings.Settings)) func(ctx context.Context) error {
		s := settings.Settings{Settings: policy.DefaultSettings(), Version: 2, UpdatedAt: epoch}
		edit(&s)
		return func(ctx context.Context) error { return NewSettingsStore().Update(ctx, w.ID, s) }
	}
	cases := map[string]struct {
		ws   id.Workspace
		do   func(ctx context.Context) error
		code fault.Code
		path string
	}{
		"slug taken": {other.ID, func(ctx context.Context) error {
			return NewWorkspaceStore().Create(ctx, other, workspace.Member{Workspace: other.ID, User: owner.User, Role: workspace.Owner, CreatedAt: epoch}, false)
		}, fault.Conflict, "slug"},
		"email taken": {other.ID, func(ctx context.Context) error {
			o, fresh := owner, other
			o.Workspace, o.User, fresh.Slug = other.ID, id.New[id.UserKind](testIDs), "another"
			return NewWorkspaceStore().Create(ctx, fresh, o, true)
		}, fault.Conflict, "owner.email"},
		"name empty": {w.ID, func(ctx context.Context) error {
			bad := w
			bad.Name, bad.Version = "", 2
			return NewWorkspaceStore().Update(ctx, bad)
		}, fault.ValidationError, "name"},
		"alpha without beta": {w.ID, badSettings(func(s *settings.Settings) { s.AlphaChannel = true }), fault.ValidationError, "alpha_channel"},
		"attempts":           {w.ID, badSettings(func(s *settings.Settings) { s.MaxAttempts = 21 }), fault.ValidationError, "max_attempts"},
		"retention":          {w.ID, badSettings(func(s *settings.Settings) { s.LogRetentionDays = 0 }), fault.ValidationError, "log_retention_days"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := db.Runner().InTx(t.Context(), c.ws, c.do)
			require.Equal(t, c.code, fault.CodeOf(err), "%v", err)
			require.Equal(t, c.path, fault.Of(err).Violations[0].Path)
		})
	}
}

func TestTheDatabaseKeepsWhatIsFinal(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	k := filledKey(t, owner, 1)
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, NewAPIKeyStore().Create(ctx, w.ID, k))
		_, err := NewAPIKeyStore().RevokeAll(ctx, w.ID, 5, epoch)
		return err
	})
	exec := func(statement string, args ...any) error {
		return db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error {
			return tenant(ctx, w.ID).Exec(statement, args...).Error
		})
	}
	require.ErrorContains(t, exec("UPDATE api_keys SET status = 'active'"), "stays revoked")
	require.ErrorContains(t, exec("UPDATE workspace_revisions SET revision = revision"), "only rises")
	require.NoError(t, exec("UPDATE workspace_revisions SET revision = revision + 1"))
	require.NoError(t, exec("UPDATE workspaces SET status = 'deleted'"))
	err := exec("UPDATE workspace_revisions SET revision = revision + 1")
	require.True(t, fault.Is(translate(err, "bump"), fault.NotFound), "%v", err)
	require.ErrorContains(t, errors.Unwrap(translate(err, "bump")), "deleted")
}
