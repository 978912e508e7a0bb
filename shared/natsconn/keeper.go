package natsconn

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	ensureRetryFirst = 100 * time.Millisecond
	ensureRetryMax   = 5 * time.Second
)

// Keeper ensures a topology again after every connect, as memory streams
// vanish with a single server's restart, and tells those that need it when it
// is there.
type Keeper struct {
	conn     *Conn
	topology Topology
	log      *slog.Logger

	mu      sync.Mutex
	connect int           // counts connects: what was ensured before one may be gone
	there   chan struct{} // closed while the topology is ensured
	ensured bool
}

// NewKeeper returns a keeper of t over c. Run does its work.
func NewKeeper(c *Conn, t Topology, log *slog.Logger) *Keeper {
	return &Keeper{conn: c, topology: t, log: log, there: make(chan struct{})}
}

// Keep runs a keeper that nobody waits for, until ctx ends.
func Keep(ctx context.Context, c *Conn, t Topology, log *slog.Logger) error {
	return NewKeeper(c, t, log).Run(ctx)
}

// Await returns once the topology is ensured on the latest connection, or with
// ctx's error.
func (k *Keeper) Await(ctx context.Context) error {
	k.mu.Lock()
	there := k.there
	k.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-there:
		return nil
	}
}

// Run ensures the topology now and after every connect, until ctx ends. It
// tries again with growing pauses when the servers are not ready.
func (k *Keeper) Run(ctx context.Context) error {
	again := make(chan struct{}, 1)
	defer k.conn.OnConnect(func() {
		k.renew()
		signal(again)
	})()
	pause := ensureRetryFirst
	for {
		connect := k.present()
		err := k.conn.Ready()
		if err == nil {
			err = Ensure(ctx, k.conn.js, k.topology)
		}
		var retry <-chan time.Time
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			k.done(connect)
			pause = ensureRetryFirst
		default:
			if !errors.Is(err, ErrNotConnected) {
				k.log.Warn("nats topology is not ready", slog.Any("error", err), slog.Duration("retry_in", pause))
			}
			retry = time.After(pause)
			pause = min(2*pause, ensureRetryMax)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-retry:
		}
	}
}

func (k *Keeper) present() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.connect
}

// renew notes a new connection, on which nothing is ensured yet.
func (k *Keeper) renew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.connect++
	if k.ensured {
		k.ensured, k.there = false, make(chan struct{})
	}
}

// done notes that the topology is there, unless there was another connect
// since.
func (k *Keeper) done(connect int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if connect == k.connect && !k.ensured {
		k.ensured = true
		close(k.there)
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
