// Package gateway owns what the control plane knows of the gateways: who they
// are, whether they live, and how far each has followed the publications. It
// knows nothing of SQL or NATS.
package gateway

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Gateway is a gateway as its heartbeats describe it.
type Gateway struct {
	ID              id.Gateway
	Instance        string // changes with every start
	Version         string
	Address         string
	StartedAt       time.Time
	LastSeenAt      time.Time
	CatalogRevision int64
	Stale           bool // serves from disk what NATS has not confirmed
	SpoolPending    int64
	State           State
}

// State says whether a gateway serves.
type State string

// The states. A stopped gateway said so; a gone one fell silent.
const (
	Live    State = "live"
	Gone    State = "gone"
	Stopped State = "stopped"
)
