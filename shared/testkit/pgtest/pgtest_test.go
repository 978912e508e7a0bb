package pgtest_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
)

// The private cluster must cost a test binary no goroutine, or every package
// that checks for leaks would have to know of it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestClonesAreApart(t *testing.T) {
	if os.Getenv("PGTEST_PRINT") != "" {
		t.Log(pgtest.New(t).URL)
	}
	a, b := connect(t, pgtest.New(t).URL), connect(t, pgtest.New(t).URL)
	const insert = `INSERT INTO users (id, email, name, created_at) VALUES (gen_random_uuid(), 'a@example.com', 'A', now())`
	_, err := a.Exec(t.Context(), insert)
	require.NoError(t, err)
	_, err = a.Exec(t.Context(), insert)
	require.ErrorContains(t, err, "users_email_key")
	_, err = b.Exec(t.Context(), insert)
	require.NoError(t, err, "the row of one clone is not in the other")
}

func TestEmptyHasNoSchema(t *testing.T) {
	c := connect(t, pgtest.Empty(t).URL)
	var n int
	require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&n))
	require.Zero(t, n)
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(t.Context())) })
	return c
}
