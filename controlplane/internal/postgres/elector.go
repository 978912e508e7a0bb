package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
)

// The advisory locks of leaders: "sbpub" of publication, "sbrol" of rollouts,
// "sbacc" of accounts.
const (
	publisherLock = 0x7362707562
	rolloutLock   = 0x7362726f6c
	accountsLock  = 0x7362616363
)

const (
	electEvery  = 500 * time.Millisecond
	electWithin = 5 * time.Second
	proveEvery  = 2 * time.Second
	// silentFor is how long the server keeps the lock of a process that does
	// not prove itself. One that is frozen, or cut off, keeps its connection
	// for hours otherwise, and nobody would publish.
	silentFor = 10 * time.Second
)

// Elector makes one process the leader in one matter by an advisory lock of a
// direct connection. The lock lives and dies with the connection, so a leader
// whose connection breaks stops to lead at once. The connection also listens
// for new outbox rows.
type Elector struct {
	db      *DB
	lock    int64
	log     *slog.Logger
	silence time.Duration // silentFor, less in tests
}

// NewElector returns an elector of the publication leader over db.
func NewElector(db *DB, log *slog.Logger) *Elector {
	return &Elector{db: db, lock: publisherLock, log: log.With(slog.String("leads", "publication")), silence: silentFor}
}

// NewRolloutElector returns an elector of the judge of rollouts over db.
func NewRolloutElector(db *DB, log *slog.Logger) *Elector {
	return &Elector{db: db, lock: rolloutLock, log: log.With(slog.String("leads", "rollouts")), silence: silentFor}
}

// NewAccountsElector returns an elector over db of who watches standings, compares
// the books and looks for alerts that were missed.
func NewAccountsElector(db *DB, log *slog.Logger) *Elector {
	return &Elector{db: db, lock: accountsLock, log: log.With(slog.String("leads", "accounts")), silence: silentFor}
}

// Lead implements publish.Elector and rollout.Elector.
func (e *Elector) Lead(ctx context.Context, work func(ctx context.Context, wake <-chan struct{}) error) error {
	for ctx.Err() == nil {
		err := e.term(ctx, work)
		if err != nil && ctx.Err() == nil && !errors.Is(err, errNotElected) {
			e.log.Warn("leading ended", slog.Any("error", err))
		}
		pause := time.NewTimer(electEvery)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
	return nil
}

var errNotElected = errors.New("another process leads")

// term connects, waits for the lock as long as the connection lives, and leads.
func (e *Elector) term(ctx context.Context, work func(ctx context.Context, wake <-chan struct{}) error) error {
	conn, err := e.stand(ctx)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), electWithin)
		defer cancel()
		_ = conn.Close(closing) // the lock goes with the connection, closed well or not
	}()
	for {
		elected, err := e.try(ctx, conn)
		if err != nil {
			return err
		}
		if elected {
			return e.serve(ctx, conn, work)
		}
		pause := time.NewTimer(electEvery)
		select {
		case <-ctx.Done():
			pause.Stop()
			return errNotElected
		case <-pause.C:
		}
	}
}

// stand opens a connection that the server ends when it is silent for too long.
func (e *Elector) stand(ctx context.Context) (*pgx.Conn, error) {
	conn, err := e.db.Direct(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("SET idle_session_timeout = %d", e.silence.Milliseconds())); err != nil {
		return nil, errors.Join(translate(err, "limit the leader's silence"), conn.Close(ctx))
	}
	return conn, nil
}

func (e *Elector) try(ctx context.Context, conn *pgx.Conn) (elected bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, electWithin)
	defer cancel()
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", e.lock).Scan(&elected)
	return elected, err
}

func (e *Elector) serve(ctx context.Context, conn *pgx.Conn, work func(ctx context.Context, wake <-chan struct{}) error) error {
	if _, err := conn.Exec(ctx, "LISTEN "+outbox.Channel); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wake := make(chan struct{}, 1)
	done := make(chan error, 1)
	go func() {
		defer cancel() // work that ends by itself ends the term
		done <- work(ctx, wake)
	}()
	lost := listen(ctx, conn, wake)
	cancel()
	return errors.Join(lost, <-done)
}

// listen passes signals on and proves every now and then that the connection,
// and so the lock, is still there. It returns when ctx ends or the connection
// is lost.
func listen(ctx context.Context, conn *pgx.Conn, wake chan<- struct{}) error {
	due := time.Now().Add(proveEvery) // however busy the notifications are
	for {
		within, cancel := context.WithDeadline(ctx, due)
		_, err := conn.WaitForNotification(within)
		timedOut := within.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			select {
			case wake <- struct{}{}:
			default:
			}
		case !timedOut:
			return translate(err, "listen for changes")
		default:
			if err := prove(ctx, conn); err != nil {
				return err
			}
			due = time.Now().Add(proveEvery)
		}
	}
}

func prove(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, electWithin)
	defer cancel()
	return translate(conn.Ping(ctx), "prove the leader's connection")
}

var (
	_ publish.Elector = (*Elector)(nil)
	_ rollout.Elector = (*Elector)(nil)
)
