package pipeline

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// gather is what the decision depends on.
func (r *run) gather() decide.Input {
	q, key := r.call.Request, r.principal.Key
	return decide.Input{
		Policy:  r.pin.Policy,
		Catalog: r.pin.Catalog,
		Health:  r.pipeline.steps.Health.View(),
		Seed:    r.pipeline.seed(),
		Adds:    func(v *policy.PresetVersion) decide.Added { return r.pipeline.steps.Adds(r.call, v) },
		Facts: decide.Facts{
			Now:          r.call.Received,
			Request:      r.call.ID,
			Surface:      r.call.Surface,
			Key:          decide.KeyFactsOf(&key),
			Owner:        r.call.Owned.Endpoint,
			Costless:     r.call.Owned.ID != "" && r.call.Action != call.Generate,
			Model:        q.Model,
			Models:       q.Models,
			Provider:     q.Provider,
			Routing:      q.Routing,
			Timeouts:     policy.Timeouts{FirstByte: q.FirstByte},
			SessionID:    q.SessionID,
			CacheKey:     q.Caching.Key,
			EndUser:      q.EndUser,
			Metadata:     q.Metadata,
			Stream:       q.Stream,
			Child:        r.call.Purpose != "",
			Parameters:   q.Parameters,
			Needs:        q.Needs,
			InputTokens:  q.InputTokens,
			OutputTokens: q.OutputTokens,
		},
	}
}
