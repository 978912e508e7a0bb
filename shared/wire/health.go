package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Health is what a gateway tells the others of endpoints and of workspaces' own
// credentials: on SubjectHealth what is new, and as the answer to a request on
// SubjectHealthView, in one message or several, all that it knows.
//
// It states totals, never increments: of each stretch of ten seconds what the
// gateway has counted in it so far. So one that comes twice, late or not at all
// does no harm once a later one has come.
type Health struct {
	Instance uuid.UUID // of the sender's process: Heartbeat.Instance
	Sequence uint64    // of the sender's messages, from 1; 0 in an answer
	SentAt   time.Time // by the sender's clock, in whole milliseconds
	Last     bool      // of an answer: the message that ends it

	// Settled is the newest slot of which an answer holds the sum over all
	// gateways; of later ones it holds what each gateway counted. 0: of none.
	Settled int64

	Endpoints   []EndpointHealth
	Credentials []CredentialStanding
}

// HealthSlot is the length of the stretch that a HealthCell counts. Slots are
// numbered from the Unix epoch.
const HealthSlot = 10 * time.Second

// EndpointHealth is what is new of one endpoint.
type EndpointHealth struct {
	ID       string
	Standing EndpointStanding // zero: nothing new
	Cells    []HealthCell
}

// EndpointStanding is an endpoint's breaker and cool-down. Each member only
// grows, so merging takes the larger. Times are in whole milliseconds.
type EndpointStanding struct {
	OpenUntil time.Time // zero: it never opened
	Opened    int       // times in a row
	// ClosedThrough closes every opening that ends up to then.
	ClosedThrough time.Time
	CoolUntil     time.Time
	CoolStep      time.Duration // of the last cool-down without a retry-after
}

// CredentialStanding is the standing of a workspace's own credential. Refused is
// what held at At; a later At replaces it. CoolUntil only grows.
type CredentialStanding struct {
	ID        id.Credential
	CoolUntil time.Time
	CoolStep  time.Duration
	Refused   int
	At        time.Time
}

// HealthCell is what a gateway counted of an endpoint in one slot.
type HealthCell struct {
	Origin uuid.UUID // who counted; zero: everybody's sum, or in a delta the sender
	Slot   int64
	HealthCounts
}

// HealthCounts are outcomes, sizes and times of calls. Every member only grows.
type HealthCounts struct {
	Succeeded, Failed, Limited, Geo int64
	// Of the calls that succeeded, Measured told their sizes, in tokens: all
	// input, the part of it that the provider read from its cache, all output.
	Measured, Input, CachedRead, Output int64
	Samples                             []HealthSample // by class, ascending
}

// Calls is the number of calls counted.
func (c *HealthCounts) Calls() int64 { return c.Succeeded + c.Failed + c.Limited + c.Geo }

// HealthSample says how many of the calls that succeeded had a time, or a
// speed, of one class.
type HealthSample struct {
	Class uint16
	Count uint32
}

// Bounds of a message. What is beyond them is refused whole: it is not ours.
const (
	// MaxHealth is the size of a message, in bytes.
	MaxHealth = 256 << 10

	// HealthClasses is the number of classes of samples.
	HealthClasses = 1 << 10

	maxHealthEndpoints   = 4096
	maxHealthCredentials = 4096
	maxHealthCells       = 8192
	maxHealthCalls       = 1 << 24 // in a slot, over all gateways
	maxHealthTokens      = 1 << 48 // in a slot, over all gateways
	maxEndpointID        = 512
	maxHealthStep        = 24 * time.Hour
	maxInARow            = 1 << 20
)

// validate reports what no gateway can have counted.
func (c *HealthCounts) validate() error {
	for _, n := range []int64{c.Succeeded, c.Failed, c.Limited, c.Geo, c.Measured} {
		if n < 0 || n > maxHealthCalls {
			return errors.New("a count out of range")
		}
	}
	for _, n := range []int64{c.Input, c.CachedRead, c.Output} {
		if n < 0 || n > maxHealthTokens {
			return errors.New("tokens out of range")
		}
	}
	if c.Measured > c.Succeeded || c.CachedRead > c.Input || c.Measured == 0 && c.Input+c.Output > 0 {
		return errors.New("counts that contradict each other")
	}
	last := -1
	for _, s := range c.Samples {
		if int(s.Class) <= last || s.Class >= HealthClasses {
			return errors.New("samples out of order")
		}
		if s.Count == 0 || int64(s.Count) > c.Succeeded {
			return errors.New("more samples than calls")
		}
		last = int(s.Class)
	}
	return nil
}

// Validate reports what makes the message no message of a gateway.
func (h *Health) Validate() error {
	if h.Instance == uuid.Nil {
		return errors.New("no instance")
	}
	if len(h.Endpoints) > maxHealthEndpoints || len(h.Credentials) > maxHealthCredentials {
		return errors.New("too many entries")
	}
	for i := range h.Endpoints {
		e := &h.Endpoints[i]
		if e.ID == "" || len(e.ID) > maxEndpointID {
			return errors.New("an endpoint without a proper id")
		}
		if s := &e.Standing; s.Opened < 0 || s.Opened > maxInARow || s.CoolStep < 0 || s.CoolStep > maxHealthStep {
			return fmt.Errorf("endpoint %d: a standing out of range", i)
		}
		for j := range e.Cells {
			if err := e.Cells[j].validate(); err != nil {
				return fmt.Errorf("endpoint %d: %w", i, err)
			}
		}
	}
	for i := range h.Credentials {
		c := &h.Credentials[i]
		if c.ID.IsZero() || c.Refused < 0 || c.Refused > maxInARow || c.CoolStep < 0 || c.CoolStep > maxHealthStep {
			return fmt.Errorf("credential %d: a standing out of range", i)
		}
	}
	return nil
}
