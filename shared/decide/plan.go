package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Plan is the answer: the chain of models with their ranked candidates, or
// the refusal, and the record either way.
type Plan struct {
	Chain       []Step
	Explicit    bool            // somebody wrote the chain out: the request's models, or its route's fallbacks
	MaxAttempts int             // upstream calls over the whole chain
	Timeouts    policy.Timeouts // as the ladder sets them; 0: the server's
	Retries     *int            // at the same endpoint, as the ladder sets them; nil: what each provider has
	Refusal     *fault.Error    // nil when there is something to try
	// Withheld says of a call with an Owner that credentials were left out with
	// which the thing may have been made: not to find it proves nothing then.
	Withheld bool
	Record   Record

	// NeedsClassification asks to be told what kind of work the request is, in
	// Input.Classification of a second call: there is no chain and no refusal
	// yet. LocalSuffices says that no model need be asked for it.
	NeedsClassification bool
	LocalSuffices       bool
	// NeedsPresets are names of presets that the decision depends on and that
	// Input.Presets of a second call has to have, by their PresetKey: there is no
	// chain and no refusal yet.
	NeedsPresets []string
	// UnknownAt is the node of the key's route at which the way of a replayed
	// request cannot be known: there is no chain and no refusal then.
	UnknownAt string
}

// Step is one model of the chain.
type Step struct {
	Model      *catalog.Model
	Candidates []Candidate // in the order in which they are tried; never empty
	// Reason is why this model is not what was asked for first; "" when it is.
	Reason SwitchReason
	// Asked is the model on which an operator's rule sits that led to this one; nil
	// where none did.
	Asked *catalog.Model
	// Lifecycle is the model's state unless it is active.
	Lifecycle catalog.LifecycleState
	// Preset is what is merged into the bodies of this step's calls; nil: none.
	Preset *policy.PresetVersion

	preset *PresetTrace
	route  *RouteTrace
}

// RecordOf is the record of one step's turn: the plan's, with what was decided
// for that step. What happened is filled in later.
func (p *Plan) RecordOf(step int) Record {
	r := p.Record
	if step == 0 || step >= len(p.Chain) {
		return r
	}
	r.Recollection = nil
	s := &p.Chain[step]
	first := &s.Candidates[0]
	r.DecidedModel, r.DecidedProvider, r.DecidedUpstream = s.Model.ID, first.Provider.Slug, first.Endpoint.ID
	r.SwitchReason, r.Lifecycle, r.Route, r.Preset = s.Reason, s.Lifecycle, s.route, s.preset
	return r
}

// Candidate is an endpoint that survived every filter.
type Candidate struct {
	Endpoint *catalog.Endpoint
	Provider *catalog.Provider
	Rank     int // from 0
	// Credentials are what the endpoint may be called with, in the order in
	// which they are tried; never empty. Candidates share them: nobody writes to
	// them.
	Credentials []CredentialUse
}
