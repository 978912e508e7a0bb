package httpserver

import (
	"context"
	"net"
)

// Listeners are the addresses that a process has taken: one for its API, and
// one for probes and metrics where those are kept apart.
type Listeners struct {
	API net.Listener
	Ops net.Listener // nil when the probes are served beside the API
}

// ListenAll binds the addresses that the settings listen and ops_listen name;
// ops may be empty. What was bound before a failure is in the result, and
// Close gives it back.
func ListenAll(ctx context.Context, api, ops string) (l Listeners, err error) {
	if l.API, err = Listen(ctx, api, "listen"); err != nil || ops == "" {
		return l, err
	}
	l.Ops, err = Listen(ctx, ops, "ops_listen")
	return l, err
}

// Addr is the address of the API.
func (l Listeners) Addr() string { return l.API.Addr().String() }

// OpsAddr is the address of the probes and metrics.
func (l Listeners) OpsAddr() string {
	if l.Ops == nil {
		return l.Addr()
	}
	return l.Ops.Addr().String()
}

// Close closes what is still open; a server has closed what it served.
func (l Listeners) Close() {
	for _, one := range []net.Listener{l.API, l.Ops} {
		if one != nil {
			_ = one.Close() // fails when it is closed already
		}
	}
}
