package decide

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Classification is what a classifier said of a request, and which one it was.
type Classification struct {
	classify.Result
	Source ClassifierSource
	// Model and Request are the classifier's when a model was asked: its name
	// and the id of the request to it. They may be set beside the local source:
	// it was asked and gave no answer.
	Model   string
	Request string
	Why     LocalReason // the local one decided; "" when a model did
}

// ClassifierSource says who classified.
type ClassifierSource string

// The sources.
const (
	ByModel ClassifierSource = "model"
	ByRules ClassifierSource = "local"
)

// LocalReason says why the local classifier decided.
type LocalReason string

// The reasons.
const (
	LocalConfigured   LocalReason = "configured"    // the operator wants no other
	LocalNoModel      LocalReason = "no_model"      // the catalog has none that is suitable
	LocalConstrained  LocalReason = "constrained"   // the model cannot meet the request's restrictions; nothing was sent
	LocalUnhealthy    LocalReason = "unhealthy"     // the model's endpoints fail or cool down; nothing was sent
	LocalResting      LocalReason = "resting"       // the model was too slow several times in a row; nothing was sent
	LocalTimeout      LocalReason = "timeout"       // no answer in time
	LocalFailed       LocalReason = "failed"        // an error
	LocalInvalid      LocalReason = "invalid"       // an answer that is none
	LocalOneCandidate LocalReason = "one_candidate" // one model is eligible, so that nothing depends on it
	LocalNotGenerated LocalReason = "not_generated" // nothing is generated, as for a count of tokens
	LocalPreview      LocalReason = "preview"       // nobody is contacted
)

// LocalReasons are all of them.
func LocalReasons() []LocalReason {
	return []LocalReason{
		LocalConfigured, LocalNoModel, LocalConstrained, LocalUnhealthy, LocalResting, LocalTimeout, LocalFailed, LocalInvalid,
		LocalOneCandidate, LocalNotGenerated, LocalPreview,
	}
}

// autoFilter are the constraints that signalbox/auto has beyond those of every
// request, on each endpoint.
type autoFilter struct {
	models []string           // patterns, of which an operator's rule may not lead out either
	spend  *policy.SpendLimit // nil: none
	needs  []string           // parameters without which an endpoint cannot do what the request certainly asks
}

// excludeByAuto covers what a chosen model must have and a named one need not.
func (d *decision) excludeByAuto(f *autoFilter, o *catalog.Offer) (Stage, string) {
	if !allows(f.models, o.Model) {
		return StageModelPolicy, reasonNotInAutoModels
	}
	if !d.production(o) {
		return StageChannel, reasonNotProduction
	}
	if len(o.Endpoint.Parameters) > 0 {
		for _, need := range f.needs {
			if !slices.Contains(o.Endpoint.Parameters, need) {
				return StageCapability, reasonParameter
			}
		}
	}
	if f.spend == nil {
		return StageNone, ""
	}
	p := pricesOf(o, d.inputTokens())
	for _, c := range [...]struct{ price, limit *money.PerMillion }{{p.in, &f.spend.Input}, {p.out, &f.spend.Output}} {
		switch stage, reason := p.within(c.price, c.limit); reason {
		case "":
		case reasonTooDear:
			return stage, reasonAboveProfile
		default:
			return stage, reason
		}
	}
	return StageNone, ""
}

// universe is what signalbox/auto can choose from, and what was left out of it.
type universe struct {
	size     int // production models
	eligible []autoCandidate
	dropped  []autoDrop // most models first
	// resident is whether any production model meets the required region.
	resident bool
}

// autoDrop counts the models that were left out for one reason.
type autoDrop struct {
	stage  Stage
	reason string
	models int
}

// autoCandidate is one model with all that its score depends on.
type autoCandidate struct {
	target target
	pool   []*ranked

	spend   float64 // nano-USD expected
	seconds float64 // expected for the whole answer
	success float64
	cooling bool // every endpoint is open or cooling

	quality            float64
	benchmarks         []string // that quality is from; none: it is assumed
	capability         float64
	noLatency, noCalls bool
	score              float64
}

// serveAuto adds the models that signalbox/auto chooses: the best one, and the
// others behind it when the workspace allows that.
func (d *decision) serveAuto(t *target, limit int) (*fault.Error, Stage) {
	config := d.in.Policy.Auto()
	u := d.universe(&config, t)
	trace := d.autoTrace(&config, &u)
	if len(u.eligible) == 0 {
		return d.noAutoModel(&config, &u)
	}
	said := d.in.Classification
	if said == nil {
		d.plan.NeedsClassification, d.plan.LocalSuffices = true, len(u.eligible) == 1
		return nil, StageNone
	}
	d.scoreAuto(&config, said, u.eligible)
	trace.classified(said)
	trace.list(&config, said, u.eligible, d)
	for i := range u.eligible {
		if len(d.plan.Chain) > 0 && !config.AllowFallbacks || len(d.plan.Chain) >= limit || d.ruled {
			break
		}
		d.addChosen(&u.eligible[i].target, limit)
	}
	if len(d.plan.Chain) == 0 { // only rules leave nothing of what was eligible
		return fault.New(fault.UnsupportedModelOrEndpoint,
			"Operators' rules leave nothing of the models that signalbox/auto may choose for this request. Name a model.").
			Because(fault.NoAutoModel), d.dropped
	}
	return nil, StageNone
}

// addChosen adds the steps of a chosen model: those of the rule that decides
// about it, which nothing follows, or its own.
func (d *decision) addChosen(t *target, limit int) {
	if rule := d.ruleOf(t.model); rule != nil {
		if steps := d.ruleSteps(t, rule); len(steps) > 0 {
			d.addRule(t, rule, steps, limit)
		}
		return
	}
	if pool := d.pool(t); len(pool) > 0 {
		d.add(t, pool)
	}
}

func (d *decision) autoFilter(config *policy.Auto) *autoFilter {
	return &autoFilter{models: config.Models, spend: config.Limit(), needs: d.hardNeeds()}
}

// inUniverse reports whether signalbox/auto looks at a model at all.
func (d *decision) inUniverse(m *catalog.Model) bool {
	return isText(d.in.Facts.Surface) && textOnly(m) && m.StateAt(d.in.Facts.Now) == catalog.Active
}

// universe looks at every production model: active, of text, with an endpoint
// that is stable, on, priced and has a credential. All else that leaves one out
// is a constraint of the request or the workspace, and is counted.
func (d *decision) universe(config *policy.Auto, t *target) universe {
	filter := d.autoFilter(config)
	var u universe
	models := d.in.Catalog.Models()
	for i := range models {
		m := &models[i]
		if !d.inUniverse(m) {
			continue
		}
		own := d.about(target{mode: t.mode, auto: filter}, m)
		d.consider(config, own, &u)
	}
	slices.SortFunc(u.dropped, func(a, b autoDrop) int {
		return cmp.Or(cmp.Compare(b.models, a.models), cmp.Compare(a.stage, b.stage), cmp.Compare(a.reason, b.reason))
	})
	return u
}

// consider puts one model into the universe and, when something can serve the
// request, among the eligible.
func (d *decision) consider(config *policy.Auto, t target, u *universe) {
	offers := d.in.Catalog.Offers(t.model)
	production := false
	highest, reason := StageNone, ""
	var pool []*ranked
	for i := range offers {
		o := &offers[i]
		if !d.production(o) {
			continue
		}
		production = true
		u.resident = u.resident || d.outOfRegion(o) == ""
		v := d.exclude(&t, o)
		if v.reason == "" {
			pool = append(pool, &ranked{offer: o})
		} else if v.stage > highest {
			highest, reason = v.stage, v.reason
		}
	}
	if !production {
		return
	}
	u.size++
	switch {
	case !allows(config.Models, t.model):
		u.drop(StageModelPolicy, reasonNotInAutoModels)
	case len(pool) == 0:
		u.drop(highest, reason)
	default:
		u.eligible = append(u.eligible, autoCandidate{target: t, pool: pool})
	}
}

func (u *universe) drop(stage Stage, reason string) {
	for i := range u.dropped {
		if x := &u.dropped[i]; x.stage == stage && x.reason == reason {
			x.models++
			return
		}
	}
	u.dropped = append(u.dropped, autoDrop{stage: stage, reason: reason, models: 1})
}

// production reports whether an endpoint is fit for use whatever the request
// says.
func (d *decision) production(o *catalog.Offer) bool {
	e, p := o.Endpoint, o.Provider
	if e.Disabled || p.Disabled || e.Channel != "" && e.Channel != catalog.Stable {
		return false
	}
	if !Serves(o, d.in.Facts.Surface) || e.Price == nil || e.Price.Input == nil || e.Price.Output == nil {
		return false
	}
	if o.Model.Free() && !CostsNothing(e.Price) {
		return false
	}
	_, reason := d.excludeByAccess(&target{}, o)
	return reason == ""
}

// textOnly: a model that also puts out images or sound is for those.
func textOnly(m *catalog.Model) bool {
	for _, out := range m.Output {
		if out != catalog.Text {
			return false
		}
	}
	return true
}

// hardNeeds are the parameters of the request that a chosen model must take.
func (d *decision) hardNeeds() []string {
	var needs []string
	for _, w := range [...]classify.Workload{classify.ToolUse, classify.Structured} {
		if p := parameterOf(w); d.asks(p) {
			needs = append(needs, p)
		}
	}
	return needs
}
