package affinity

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// schema is the version of a stored document. Others are passed over: what they
// say is lost, which costs a cache miss.
const schema = 1

// Document is all that is remembered of one conversation.
type Document struct {
	Schema int      `json:"v"`
	Model  *Model   `json:"model,omitempty"` // of turns that name none
	Pins   []Stored `json:"pins,omitempty"`  // one for a model, the latest first; at most decide.MaxPins
	// Opening says that nobody named the conversation: every gateway keeps such a
	// document when it hears of it, and none asks for it.
	Opening bool `json:"opening,omitempty"`
}

// Stored is one pin. Times are Unix seconds.
type Stored struct {
	Model    string `json:"m"`
	Provider string `json:"p"`
	Endpoint string `json:"e"`
	At       int64  `json:"at"`
	Until    int64  `json:"until"`
}

// Model is the model of a session's turns that name none.
type Model struct {
	ID    string `json:"id"`
	At    int64  `json:"at"`
	Until int64  `json:"until"`
}

var errSchema = errors.New("document of another version")

func decode(data []byte) (Document, error) {
	var d Document
	if err := json.Unmarshal(data, &d); err != nil {
		return Document{}, err
	}
	if d.Schema != schema {
		return Document{}, errSchema
	}
	return d, nil
}

// conversation is what of a document holds at now.
func (d *Document) conversation(now time.Time) (c decide.Conversation) {
	for i := range d.Pins {
		if s := &d.Pins[i]; s.Until > now.Unix() {
			c.Pins = append(c.Pins, decide.Pin{Model: s.Model, Provider: s.Provider, Endpoint: s.Endpoint})
		}
	}
	if m := d.Model; m != nil && m.Until > now.Unix() {
		c.Model = m.ID
	}
	return c
}

func (d *Document) empty() bool { return d.Model == nil && len(d.Pins) == 0 }

// until is when the last of it is over.
func (d *Document) until() int64 {
	var last int64
	for i := range d.Pins {
		last = max(last, d.Pins[i].Until)
	}
	if d.Model != nil {
		last = max(last, d.Model.Until)
	}
	return last
}

// change is what one turn does to a document.
type change struct {
	memory  decide.Memory
	at      time.Time
	opening bool
}

// apply returns the document with a turn taken in, and whether that differs
// from it. A pin is written again only after a quarter of its life, and takes
// another's place only when it is the one that the turn left: of two gateways
// that pin a conversation at once, the first to write wins, and of two that
// move it, too. What is over goes.
func (c *change) apply(old Document) (Document, bool) {
	now, m := c.at.Unix(), &c.memory
	d := Document{Schema: schema, Opening: c.opening && (old.empty() || old.Opening)}
	differs := false
	for _, s := range old.Pins {
		if s.Until > now {
			d.Pins = append(d.Pins, s)
		}
	}
	if old.Model != nil && old.Model.Until > now {
		kept := *old.Model
		d.Model = &kept
	}
	if m.Pin.Endpoint != "" {
		differs = d.pin(m, now)
	}
	if m.Model != "" && d.model(m, now) {
		differs = true
	}
	return d, differs
}

func (d *Document) pin(m *decide.Memory, now int64) bool {
	at := slices.IndexFunc(d.Pins, func(s Stored) bool { return s.Model == m.Pin.Model })
	life := int64(m.Lifetime / time.Second)
	until := now + life
	if at >= 0 {
		switch s := &d.Pins[at]; {
		case s.Endpoint == m.Pin.Endpoint:
			if !worn(s.At, s.Until, now) && until < s.Until+life/4 {
				return false
			}
			until = max(until, s.Until)
		case s.Endpoint != m.Was:
			return false
		}
		d.Pins = slices.Delete(d.Pins, at, at+1)
	}
	d.Pins = slices.Insert(d.Pins, 0, Stored{Model: m.Pin.Model, Provider: m.Pin.Provider, Endpoint: m.Pin.Endpoint, At: now, Until: until})
	d.Pins = d.Pins[:min(len(d.Pins), decide.MaxPins)]
	return true
}

func (d *Document) model(m *decide.Memory, now int64) bool {
	if d.Model != nil {
		switch {
		case d.Model.ID == m.Model:
			if !worn(d.Model.At, d.Model.Until, now) {
				return false
			}
		case d.Model.ID != m.ModelWas:
			return false
		}
	}
	d.Model = &Model{ID: m.Model, At: now, Until: now + int64(decide.SessionLifetime/time.Second)}
	return true
}

// worn reports that a quarter of a life is over.
func worn(at, until, now int64) bool { return 4*(now-at) >= until-at }
