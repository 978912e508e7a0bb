package decide

import (
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of what a record lists of a choice.
const (
	maxAutoListed     = 32 // models, the first maxAutoScored with factors
	maxAutoScored     = 8
	maxAutoBenchmarks = 8
	maxAutoExclusions = 16
)

// AutoTrace is how signalbox/auto chose: what it was told of the request, what
// it could choose from and how it scored each. Nothing of the text is in it.
type AutoTrace struct {
	Algorithm     string `json:"algorithm"`
	ConfigVersion int64  `json:"config_version"`
	Objective     string `json:"objective"`
	SpendProfile  string `json:"spend_profile"`
	Fallbacks     bool   `json:"allow_fallbacks,omitempty"`

	// What kind of work it is. Workload is the largest of the mix; none of these
	// is there for a request that was refused before it was classified.
	Workload          string     `json:"workload,omitempty"`
	Mix               []WorkPart `json:"mix,omitempty"`
	Complexity        float64    `json:"complexity,omitempty"`
	Confidence        float64    `json:"confidence,omitempty"`
	Classifier        string     `json:"classifier,omitempty"`            // model or local
	ClassifierModel   string     `json:"classifier_model,omitempty"`      // that was asked
	ClassifierRequest string     `json:"classifier_request_id,omitempty"` // the id of the request to it
	LocalReason       string     `json:"local_reason,omitempty"`          // why the local one decided

	Universe   int             `json:"universe"` // production models, from which constraints left Eligible
	Eligible   int             `json:"eligible"`
	Candidates []AutoScored    `json:"candidates,omitempty"`
	Exclusions []AutoExclusion `json:"exclusions,omitempty"`
}

// WorkPart is one workload's share of a request.
type WorkPart struct {
	Workload string  `json:"workload"`
	Share    float64 `json:"share"`
}

// AutoScored is one eligible model with its score, in the order of the choice.
// Its factors' contributions add up to the score; higher is better.
type AutoScored struct {
	Model      string   `json:"model"`
	Score      float64  `json:"score"`
	Cooling    bool     `json:"cooling,omitempty"` // every endpoint: behind all others
	Factors    []Factor `json:"factors,omitempty"`
	Benchmarks []string `json:"benchmarks,omitempty"` // ids that quality and fit are from
}

// AutoExclusion counts the production models that one constraint left out, each
// under the last filter that one of its endpoints reached.
type AutoExclusion struct {
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
	Models int    `json:"models"`
}

// autoTrace begins the record's part.
func (d *decision) autoTrace(config *policy.Auto, u *universe) *AutoTrace {
	t := &AutoTrace{
		Algorithm: AutoAlgorithm, ConfigVersion: config.Version, Objective: clip(string(config.Objective)),
		SpendProfile: clip(string(config.Spend)), Fallbacks: config.AllowFallbacks,
		Universe: u.size, Eligible: len(u.eligible),
	}
	for i, x := range u.dropped {
		if i == maxAutoExclusions {
			d.omitted += len(u.dropped) - i
			break
		}
		t.Exclusions = append(t.Exclusions, AutoExclusion{Stage: x.stage.String(), Reason: x.reason, Models: x.models})
	}
	d.plan.Record.Auto = t
	return t
}

func (t *AutoTrace) classified(said *Classification) {
	t.Workload = said.Mix.Primary().String()
	for w, share := range said.Mix {
		if share > 0 {
			t.Mix = append(t.Mix, WorkPart{Workload: classify.Workload(w).String(), Share: rounded(share)})
		}
	}
	t.Complexity, t.Confidence = rounded(said.Complexity), rounded(said.Confidence)
	t.Classifier, t.LocalReason = string(said.Source), string(said.Why)
	t.ClassifierModel, t.ClassifierRequest = clip(said.Model), clip(said.Request)
}

// Classification is what a trace says that a request was taken for; nil where it
// was not classified.
func (t *AutoTrace) Classification() *Classification {
	if t == nil || t.Workload == "" {
		return nil
	}
	said := &Classification{Source: ClassifierSource(t.Classifier), Why: LocalReason(t.LocalReason), Model: t.ClassifierModel, Request: t.ClassifierRequest}
	said.Complexity, said.Confidence = t.Complexity, t.Confidence
	for _, part := range t.Mix {
		for w := range said.Mix {
			if classify.Workload(w).String() == part.Workload {
				said.Mix[w] = part.Share
			}
		}
	}
	return said
}

// list writes the scored models.
func (t *AutoTrace) list(config *policy.Auto, said *Classification, list []autoCandidate, d *decision) {
	if len(list) > maxAutoListed {
		d.omitted += len(list) - maxAutoListed
		list = list[:maxAutoListed]
	}
	t.Candidates = make([]AutoScored, len(list))
	for i := range list {
		c := &list[i]
		t.Candidates[i] = AutoScored{Model: c.target.model.ID, Score: rounded(c.score), Cooling: c.cooling}
		if i >= maxAutoScored {
			continue
		}
		t.Candidates[i].Benchmarks = c.benchmarks[:min(len(c.benchmarks), maxAutoBenchmarks)]
		terms := autoTerms(config.Objective, said, c, d.autoSizes())
		factors := make([]Factor, 0, autoTermCount)
		for _, x := range terms {
			factors = append(factors, Factor{
				Name: x.name, Input: rounded(x.input), Unit: x.unit, Weight: rounded(x.weight),
				Contribution: rounded(x.weight * x.value), Assumed: x.assumed,
			})
		}
		t.Candidates[i].Factors = factors
	}
}

// size is an upper estimate of the JSON.
func (t *AutoTrace) size() int {
	if t == nil {
		return 0
	}
	size := 500 + len(t.ClassifierModel) + len(t.ClassifierRequest) + 45*len(t.Mix) + 80*len(t.Exclusions)
	for i := range t.Candidates {
		size += t.Candidates[i].size()
	}
	return size
}

func (c *AutoScored) size() int {
	size := 60 + len(c.Model) + factorsSize(c.Factors)
	for _, id := range c.Benchmarks {
		size += 3 + len(id)
	}
	return size
}

// shrink leaves out the last candidate, and says how much that saves: 0 when
// one is left.
func (t *AutoTrace) shrink() int {
	if t == nil || len(t.Candidates) <= 1 {
		return 0
	}
	last := len(t.Candidates) - 1
	saved := t.Candidates[last].size()
	t.Candidates = t.Candidates[:last]
	return saved
}

func (t *AutoTrace) appendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	b.String("algorithm", t.Algorithm)
	b.Int("config_version", t.ConfigVersion)
	b.String("objective", t.Objective)
	b.String("spend_profile", t.SpendProfile)
	b.BoolIf("allow_fallbacks", t.Fallbacks)
	b.StringIf("workload", t.Workload)
	if len(t.Mix) > 0 {
		b.Name("mix")
		b.Open('[')
		for i := range t.Mix {
			b.Next()
			b.Open('{')
			b.String("workload", t.Mix[i].Workload)
			b.Float("share", t.Mix[i].Share)
			b.Close('}')
		}
		b.Close(']')
	}
	b.FloatIf("complexity", t.Complexity)
	b.FloatIf("confidence", t.Confidence)
	b.StringIf("classifier", t.Classifier)
	b.StringIf("classifier_model", t.ClassifierModel)
	b.StringIf("classifier_request_id", t.ClassifierRequest)
	b.StringIf("local_reason", t.LocalReason)
	b.Int("universe", int64(t.Universe))
	b.Int("eligible", int64(t.Eligible))
	t.appendLists(b)
	b.Close('}')
}

func (t *AutoTrace) appendLists(b *jsonappend.Buffer) {
	if len(t.Candidates) > 0 {
		b.Name("candidates")
		b.Open('[')
		for i := range t.Candidates {
			c := &t.Candidates[i]
			b.Next()
			b.Open('{')
			b.String("model", c.Model)
			b.Float("score", c.Score)
			b.BoolIf("cooling", c.Cooling)
			appendFactors(b, c.Factors)
			b.Strings("benchmarks", c.Benchmarks)
			b.Close('}')
		}
		b.Close(']')
	}
	if len(t.Exclusions) > 0 {
		b.Name("exclusions")
		b.Open('[')
		for i := range t.Exclusions {
			x := &t.Exclusions[i]
			b.Next()
			b.Open('{')
			b.String("stage", x.Stage)
			b.String("reason", x.Reason)
			b.Int("models", int64(x.Models))
			b.Close('}')
		}
		b.Close(']')
	}
}
