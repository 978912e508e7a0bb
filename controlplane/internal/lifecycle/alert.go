// Package lifecycle owns the alerts about models that go: which deprecated and
// retired models of the catalog a workspace names in its policy or has asked for
// lately, and where. It reads and changes nothing, and knows nothing of SQL or
// HTTP.
package lifecycle

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Alert is one model that goes.
type Alert struct {
	Model        string                 // canonical id
	State        catalog.LifecycleState // deprecated or retired
	DeprecatedAt *time.Time
	RetiresAt    *time.Time
	Replacement  string // canonical id; "": none is named

	References []Reference // where the workspace names it, at most MaxReferences
	More       int         // references beyond those
	Requests   int64       // model attempts within Window, and requests that named it and went elsewhere or were refused
	LastUsedAt *time.Time  // the latest of them; nil: none
}

// Reference is one place of the workspace's policy that names a model.
type Reference struct {
	Kind  Kind
	ID    string // of what it is; "" where there is one for the workspace
	Name  string // of that, for people; of a provider key the provider
	Field string // such as "fallback_models"
}

// Kind says what holds a reference.
type Kind string

// The kinds, in the order in which they are shown.
const (
	InSettings    Kind = "settings"
	InAuto        Kind = "auto"
	InProfile     Kind = "routing_profile"
	InGuardrail   Kind = "guardrail"
	InProviderKey Kind = "provider_key"
	InKey         Kind = "key"
)

// Window is how far back use is looked for.
const Window = 30 * 24 * time.Hour

// MaxReferences is how many references of one alert are listed.
const MaxReferences = 50

// note adds a reference.
func (a *Alert) note(r Reference) {
	if len(a.References) == MaxReferences {
		a.More++
		return
	}
	a.References = append(a.References, r)
}

// used adds use.
func (a *Alert) used(requests int64, last time.Time) {
	a.Requests += requests
	if a.LastUsedAt == nil || last.After(*a.LastUsedAt) {
		a.LastUsedAt = &last
	}
}

// concerns reports that the workspace has to do with the model.
func (a *Alert) concerns() bool { return len(a.References) > 0 || a.Requests > 0 }

// byUrgency puts what is retired first, then what goes soonest, then what is
// used most. What has no date goes after all that has one.
func byUrgency(a, b *Alert) int {
	return cmp.Or(
		boolOrder(a.State == catalog.Retired, b.State == catalog.Retired),
		boolOrder(a.RetiresAt != nil, b.RetiresAt != nil),
		timeOrder(a.RetiresAt, b.RetiresAt),
		cmp.Compare(b.Requests, a.Requests),
		strings.Compare(a.Model, b.Model),
	)
}

// boolOrder puts what holds first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func timeOrder(a, b *time.Time) int {
	if a == nil || b == nil {
		return 0
	}
	return a.Compare(*b)
}

// alerts are the models of a catalog that go, before anything is known of a
// workspace.
type alerts struct {
	view *catalog.View
	byID map[string]*Alert
}

func newAlerts(view *catalog.View, now time.Time) *alerts {
	a := &alerts{view: view, byID: make(map[string]*Alert)}
	models := view.Models()
	for i := range models {
		m := &models[i]
		if state := m.StateAt(now); state != catalog.Active {
			l := m.Lifecycle
			a.byID[m.ID] = &Alert{Model: m.ID, State: state, DeprecatedAt: l.DeprecatedAt, RetiresAt: l.RetiresAt, Replacement: l.Replacement}
		}
	}
	return a
}

// concerning are those that the workspace has to do with, the most urgent
// first.
func (a *alerts) concerning() []Alert {
	var found []*Alert
	for _, one := range a.byID {
		if one.concerns() {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, byUrgency)
	list := make([]Alert, len(found))
	for i, one := range found {
		list[i] = *one
	}
	return list
}
