package postgres

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
)

// TestAUserWithoutTheRightsIsToldWhichToGet migrates as a user who owns the
// database and may neither create roles nor be a member of ours.
func TestAUserWithoutTheRightsIsToldWhichToGet(t *testing.T) {
	require.NoError(t, Migrate(t.Context(), Config{URL: secret.NewString(pgtest.Empty(t).URL)}), "the roles are there")
	empty := pgtest.Empty(t)
	conn, err := pgx.Connect(t.Context(), empty.URL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	user := fmt.Sprintf("plain_%x", testIDs.UUID())
	run := func(sql string) {
		_, err := conn.Exec(context.Background(), sql)
		require.NoError(t, err)
	}
	run("CREATE ROLE " + user + " LOGIN PASSWORD 'plain'")
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), empty.URL)
		require.NoError(t, err)
		defer func() { _ = conn.Close(context.Background()) }()
		_, err = conn.Exec(context.Background(), "DROP OWNED BY "+user+" CASCADE; REASSIGN OWNED BY "+user+" TO current_user; DROP ROLE "+user)
		require.NoError(t, err)
	})
	run("GRANT ALL ON DATABASE " + conn.Config().Database + " TO " + user)
	run("GRANT ALL ON SCHEMA public TO " + user)
	asPlain, err := url.Parse(empty.URL)
	require.NoError(t, err)
	asPlain.User = url.UserPassword(user, "plain")
	plain := Config{URL: secret.NewString(asPlain.String())}

	err = Migrate(t.Context(), plain)
	require.ErrorContains(t, err, "ALTER ROLE the_user CREATEROLE")
	require.ErrorContains(t, err, "GRANT signalbox_app, signalbox_system TO the_user")
	require.NotContains(t, err.Error(), asPlain.String())

	// What the hint says is enough.
	run("GRANT signalbox_app, signalbox_system TO " + user)
	require.NoError(t, Migrate(t.Context(), plain))
}
