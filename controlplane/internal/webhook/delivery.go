package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Event is something that happened in a workspace.
type Event struct {
	ID        id.Event
	Workspace id.Workspace
	Type      Type
	At        time.Time
	Data      any // what the type says
}

// Body is what receivers get, and what is signed.
func (e Event) Body() ([]byte, error) {
	body, err := json.Marshal(struct {
		ID        string    `json:"id"`
		Type      Type      `json:"type"`
		CreatedAt time.Time `json:"created_at"`
		Workspace string    `json:"workspace_id"`
		Data      any       `json:"data"`
	}{e.ID.String(), e.Type, e.At.UTC(), e.Workspace.String(), e.Data})
	if err != nil {
		return nil, fmt.Errorf("write an event: %w", err)
	}
	return body, nil
}

// State says how far a delivery has come.
type State string

// The states. A failed one is tried again, one that was given up is not.
const (
	Pending   State = "pending"
	Failed    State = "failed"
	Delivered State = "delivered"
	GivenUp   State = "given_up"
)

// Open reports whether the delivery is still to be made.
func (s State) Open() bool { return s == Pending || s == Failed }

// KeepDeliveries is how long deliveries are kept.
const KeepDeliveries = 30 * 24 * time.Hour

// MaxAttempts bounds the attempts that a delivery's account has; the oldest go
// first when it is delivered again and again.
const MaxAttempts = 20

// Delivery is one event on its way to one webhook.
type Delivery struct {
	ID        id.Delivery
	Workspace id.Workspace
	Webhook   id.Webhook
	Event     id.Event // the same at all webhooks, and when it is delivered again
	Type      Type
	Body      string // as it is signed and sent
	State     State
	Round     int // attempts since it was last put on its way
	Attempts  []Attempt
	DueAt     *time.Time // of the next attempt; nil when there is none
	CreatedAt time.Time
}

// Attempt is one try at a delivery.
type Attempt struct {
	At       time.Time
	Status   int // of the answer; 0 when there was none
	Duration time.Duration
	Trouble  Trouble // "" when it was delivered
}

// Trouble says why an attempt failed. It holds nothing that the receiver sent.
type Trouble string

// The troubles.
const (
	BadStatus  Trouble = "status"  // an answer other than 2xx; redirects are not followed
	TimedOut   Trouble = "timeout" // no answer in time
	Unresolved Trouble = "dns"     // the host has no address
	Forbidden  Trouble = "address" // the URL or what it resolves to may not be reached
	NoConnect  Trouble = "connect"
	NoTLS      Trouble = "tls" // no certificate for that host, or no TLS
	Broken     Trouble = "connection"
	Unsealed   Trouble = "secret" // the secret does not open with the platform's keyring
)

// pauses are the times between the attempts of a round.
var pauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// After is the delivery with one more attempt, which ends now.
func (d Delivery) After(a Attempt, now time.Time) Delivery {
	d.Round++
	d.Attempts = append(d.Attempts[max(0, len(d.Attempts)+1-MaxAttempts):len(d.Attempts):len(d.Attempts)], a)
	switch {
	case a.Trouble == "":
		d.State, d.DueAt = Delivered, nil
	case d.Round > len(pauses):
		d.State, d.DueAt = GivenUp, nil
	default:
		due := now.Add(pauses[d.Round-1])
		d.State, d.DueAt = Failed, &due
	}
	return d
}

// Again is the delivery put on its way anew: one that is done begins a new
// round, one that waits is due at once.
func (d Delivery) Again(now time.Time) Delivery {
	if !d.State.Open() {
		d.State, d.Round = Pending, 0
	}
	d.DueAt = &now
	return d
}
