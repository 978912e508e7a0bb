package postgres

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
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

// TestAServerThatComesBackWhileItIsAskedWasAway: the migration met a server
// that was away, whatever the next connection meets. Taken for a migration that
// failed, it would end the control plane for good.
func TestAServerThatComesBackWhileItIsAskedWasAway(t *testing.T) {
	empty := pgtest.Empty(t)
	late := Config{URL: secret.NewString(refusingFirst(t, empty.URL))}
	err := Migrate(t.Context(), late)
	require.Error(t, err)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.NoError(t, Migrate(t.Context(), late), "it is there now")
}

// refusingFirst is the URL of a server that hangs up on the first connection.
func refusingFirst(t *testing.T, to string) string {
	t.Helper()
	parsed, err := pgx.ParseConfig(to)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		for first := true; ; first = false {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			if first {
				_ = in.Close()
				continue
			}
			network, address := pgconn.NetworkAddress(parsed.Host, parsed.Port)
			out, err := net.Dial(network, address)
			if err != nil {
				_ = in.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				group.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
					_ = pair[1].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password), Host: listener.Addr().String(),
		Path: parsed.Database, RawQuery: "sslmode=disable",
	}
	return through.String()
}
