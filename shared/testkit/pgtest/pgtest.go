// Package pgtest gives each test a migrated Postgres database of its own. One
// private cluster serves a test binary; databases are clones of a migrated
// template. It knows nothing of what tests store.
//
// TEST_DATABASE_URL points the tests at a running server instead; its user
// must be allowed to create databases and roles.
package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox-dev/signalbox/shared/pgcluster"
)

// EnvURL names the variable that points at a running server.
const EnvURL = "TEST_DATABASE_URL"

// Database is a migrated database that only one test uses.
type Database struct {
	// URL connects as the owner of the schema.
	URL string
}

// New clones the template. The clone is dropped at the end of the test; the
// cluster ends with the test process, however that ends.
func New(t testing.TB) Database {
	t.Helper()
	s, err := theServer()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := "sbtest_" + random()
	if err := s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+s.template); err != nil {
		t.Fatalf("pgtest: clone the template: %v", err)
	}
	t.Cleanup(func() { s.drop(t, name) })
	return Database{URL: s.url(name)}
}

// Empty is New without the migrations.
func Empty(t testing.TB) Database {
	t.Helper()
	s, err := theServer()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := "sbtest_" + random()
	if err := s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		t.Fatalf("pgtest: create a database: %v", err)
	}
	t.Cleanup(func() { s.drop(t, name) })
	return Database{URL: s.url(name)}
}

// server is where the databases of this test binary are.
type server struct {
	admin    string // URL of a database that always exists
	template string
	// cluster is kept for its lock and its guard's pipe, which must stay open
	// as long as the process lives; nil for a server that runs anyway.
	cluster *pgcluster.Cluster
}

// theServer is made once for the process and has no end of its own: there is
// no hook at the end of a test binary, so the cluster's guard ends it.
var theServer = sync.OnceValues(func() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if admin := os.Getenv(EnvURL); admin != "" {
		return external(ctx, admin)
	}
	return private(ctx)
})

func (s *server) exec(ctx context.Context, statement string) (err error) {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

func (s *server) drop(t testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		t.Errorf("pgtest: drop the clone: %v", err)
	}
}

// url is the admin URL with another database.
func (s *server) url(database string) string {
	u, err := url.Parse(s.admin)
	if err != nil { // keyword form, as in "host=… dbname=…"; the last one wins
		return s.admin + " dbname=" + database
	}
	if !strings.HasPrefix(u.Scheme, "postgres") {
		return s.admin + " dbname=" + database
	}
	u.Path = "/" + database
	return u.String()
}

func random() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x_%s", time.Now().Unix(), hex.EncodeToString(b[:]))
}
