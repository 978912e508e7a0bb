// Package override owns what the operator lays over the offered catalog:
// providers, models, endpoints and model rules, in the form of a catalog file,
// as versions of the whole. A change is checked against the merged catalog and
// audited; what is offered is that catalog. It knows nothing of SQL or HTTP,
// nor of how a catalog is published.
package override

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// State is one version of the overrides. Version 0 has none.
type State struct {
	Version   int64
	Document  Document
	Keys      map[string]secret.Sealed // providers' API keys by slug, for the platform
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

// Store keeps versions and audit events. It is called inside a system
// transaction.
type Store interface {
	// Lock makes changes happen one after the other until the transaction ends.
	Lock(ctx context.Context) error
	// Latest is the present version, the zero State when there is none.
	Latest(ctx context.Context) (State, error)
	// At fails with not_found.
	At(ctx context.Context, version int64) (State, error)
	// Append adds a version with its event, and wakes the publisher.
	Append(ctx context.Context, s State, e audit.Event) error
	// Version is Latest's, 0 when there is none.
	Version(ctx context.Context) (int64, error)
	// Published notes with which revision of the catalog a version, and those
	// before it, first went out.
	Published(ctx context.Context, version, revision int64, at time.Time) error
	// Covering is the first revision that has the version; 0 when none does.
	Covering(ctx context.Context, version int64) (int64, error)
	// Events lists what was changed, newest first.
	Events(ctx context.Context, q page.Query) (page.Result[audit.Event], error)
}

// Sealer seals provider keys, so that only gateways can open them.
type Sealer interface {
	Seal(plain secret.String, associated ...string) (secret.Sealed, error)
}

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
