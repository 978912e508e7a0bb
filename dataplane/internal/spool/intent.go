package spool

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Intent says that a model attempt is about to be made. When the gateway dies
// before its completion, these fields are all that is known of it.
type Intent struct {
	ID        id.Request // of the model attempt
	PrimaryID id.Request // zero means ID
	Workspace id.Workspace
	Key       id.Key
	User      id.User

	Surface         catalog.Surface
	Purpose         string
	Stream          bool
	ClientRequestID string
	SessionID       string
	EndUser         string
	StartedAt       time.Time

	RequestedModel string
	DecidedModel   string
	Provider       string // of the first candidate
	Endpoint       string

	// Usage and Cost are what to record when no completion comes; Usage is
	// marked estimated whatever it says.
	Usage meter.Usage
	Cost  meter.Cost

	// Charge is what the wallet is to pay for Cost.
	Charge money.Nanos

	PolicyRevision  int64
	CatalogRevision int64

	wire.Attribution
}

// event is what the intent becomes when no completion comes.
func (i Intent) event(gw id.Gateway) wire.UsageEvent {
	primary := i.PrimaryID
	if primary.IsZero() {
		primary = i.ID
	}
	usage := i.Usage
	usage.Estimated = true
	return wire.UsageEvent{
		Schema:          wire.UsageSchema,
		ID:              i.ID,
		PrimaryID:       primary,
		Workspace:       i.Workspace,
		Key:             i.Key,
		User:            i.User,
		Gateway:         gw,
		Surface:         i.Surface,
		Purpose:         i.Purpose,
		Stream:          i.Stream,
		ClientRequestID: i.ClientRequestID,
		SessionID:       i.SessionID,
		EndUser:         i.EndUser,
		StartedAt:       i.StartedAt,
		Outcome:         wire.Unknown,
		RequestedModel:  i.RequestedModel,
		DecidedModel:    i.DecidedModel,
		Provider:        i.Provider,
		Endpoint:        i.Endpoint,
		Usage:           usage,
		Cost:            i.Cost,
		PolicyRevision:  i.PolicyRevision,
		CatalogRevision: i.CatalogRevision,
		Charge:          i.Charge,
		Attribution:     i.Attribution,
	}
}
