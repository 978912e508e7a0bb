// Package override owns what the operator lays over the offered catalog:
// providers, models, endpoints and model rules, in the form of a catalog file,
// as versions of the whole. A change is checked against the merged catalog and
// audited; what is offered is that catalog. It knows nothing of SQL or HTTP,
// nor of how a catalog is published.
package override

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// State is one version of the overrides. Version 0 has none.
type State struct {
	Version  int64
	Document Document
	// Keys are providers' API keys by slug, for the platform. Of an earlier
	// version they are empty: there was one.
	Keys      map[string]secret.Sealed
	By        audit.Actor
	CreatedAt time.Time

	// Revision is of the published catalog that first had this version; 0 until
	// then.
	Revision    int64
	PublishedAt *time.Time
}

// Document is a catalog file in JSON: entries as the operator wrote them, in
// the order of their names, without API keys.
type Document struct {
	Providers []Entry `json:"providers"` // by slug
	Models    []Entry `json:"models"`    // by id
}

// Entry is one provider, model, endpoint or rule.
type Entry map[string]json.RawMessage

// Shown are the providers' entries with api_key_set where the platform has a
// key for one; the key itself is never shown.
func (s *State) Shown() []Entry {
	list := make([]Entry, len(s.Document.Providers))
	for i, e := range s.Document.Providers {
		list[i] = e
		if _, ok := s.Keys[slugName(e)]; ok {
			list[i] = maps.Clone(e)
			list[i].set("api_key_set", true)
		}
	}
	return list
}
