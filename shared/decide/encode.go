package decide

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// AppendJSON writes r as encoding/json would. Every request does it.
func (r *Record) AppendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	b.String("requested_model", r.RequestedModel)
	b.StringIf("decided_model", r.DecidedModel)
	b.StringIf("served_model", r.ServedModel)
	b.StringIf("decided_provider", r.DecidedProvider)
	b.StringIf("served_provider", r.ServedProvider)
	b.StringIf("decided_upstream", r.DecidedUpstream)
	b.StringIf("routing_switch_reason", string(r.SwitchReason))
	b.StringIf("routing_override", r.Override)
	b.Strings("routing_degraded", r.Degraded)
	b.StringIf("model_lifecycle", string(r.Lifecycle))
	b.Int("policy_revision", r.PolicyRevision)
	b.Int("catalog_revision", r.CatalogRevision)
	b.String("seed", strconv.FormatUint(r.Seed, 10))
	r.appendTraces(b)
	r.appendChoice(b)
	r.appendEnd(b)
	b.Close('}')
}

func (r *Record) appendTraces(b *jsonappend.Buffer) {
	if t := r.Route; t != nil {
		b.Name("route")
		b.Open('{')
		b.String("id", t.ID)
		b.Int("version", int64(t.Version))
		b.Name("nodes")
		if t.Nodes == nil {
			*b = append(*b, "null"...)
		} else {
			b.Open('[')
			for _, n := range t.Nodes {
				b.Next()
				*b = jsonappend.AppendString(*b, n)
			}
			b.Close(']')
		}
		b.StringIf("rollout", t.Rollout)
		b.StringIf("arm", string(t.Arm))
		b.Close('}')
	}
	if t := r.Preset; t != nil {
		b.Name("preset")
		b.Open('{')
		b.String("slug", t.Slug)
		b.Int("version", int64(t.Version))
		b.Close('}')
	}
	b.Raw("replay", r.Recollection)
	if len(r.Policy) > 0 {
		b.Name("policy")
		b.Open('[')
		for i := range r.Policy {
			f := &r.Policy[i]
			b.Next()
			b.Open('{')
			b.String("field", f.Field)
			b.String("rung", f.Rung)
			b.String("value", f.Value)
			b.StringIf("guardrail", f.Guardrail)
			b.Close('}')
		}
		b.Close(']')
	}
}

func (r *Record) appendChoice(b *jsonappend.Buffer) {
	b.Strings("chain", r.Chain)
	b.StringIf("ordering", string(r.Ordering))
	if len(r.Rankings) > 0 {
		b.Name("rankings")
		b.Open('[')
		for i := range r.Rankings {
			b.Next()
			r.Rankings[i].appendJSON(b)
		}
		b.Close(']')
	}
	if len(r.Candidates) > 0 {
		b.Name("candidates")
		b.Open('[')
		for i := range r.Candidates {
			b.Next()
			r.Candidates[i].appendJSON(b)
		}
		b.Close(']')
	}
	if len(r.Exclusions) > 0 {
		b.Name("exclusions")
		b.Open('[')
		for i := range r.Exclusions {
			e := &r.Exclusions[i]
			b.Next()
			b.Open('{')
			b.String("model", e.Model)
			b.String("endpoint", e.Endpoint)
			b.String("stage", e.Stage)
			b.String("reason", e.Reason)
			b.StringIf("rung", e.Rung)
			b.StringIf("guardrail", e.Guardrail)
			b.Close('}')
		}
		b.Close(']')
	}
	if r.Auto != nil {
		b.Name("auto")
		r.Auto.appendJSON(b)
	}
	if a := r.Affinity; a != nil {
		b.Name("affinity")
		b.Open('{')
		b.StringIf("source", a.Source)
		b.StringIf("off", a.Off)
		b.Bool("hit", a.Hit)
		b.StringIf("endpoint", a.Endpoint)
		b.BoolIf("applied", a.Applied)
		b.StringIf("ignored", a.Ignored)
		b.StringIf("cache_break", string(a.Break))
		b.StringIf("moved_to", a.MovedTo)
		b.BoolIf("hint", a.Hint)
		b.StringIf("model", a.Model)
		b.StringIf("model_break", string(a.ModelBreak))
		b.Close('}')
	}
}

func (r *Ranking) appendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	b.String("model", r.Model)
	b.String("mode", r.Mode)
	b.BoolIf("fixed", r.Fixed)
	b.StringIf("unit", r.Unit)
	b.Int("input_tokens", r.InputTokens)
	b.IntIf("output_tokens", r.OutputTokens)
	b.String("sizes", string(r.Sizes))
	b.FloatIf("concentration", r.Concentration)
	b.FloatIf("floor", r.Floor)
	b.Close('}')
}

func (c *RankedCandidate) appendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	b.String("model", c.Model)
	b.String("endpoint", c.Endpoint)
	b.String("provider", c.Provider)
	b.Int("rank", int64(c.Rank))
	b.Float("score", c.Score)
	b.FloatIf("share", c.Share)
	b.BoolIf("listed", c.Listed)
	b.BoolIf("pinned", c.Pinned)
	b.BoolIf("first_party", c.FirstParty)
	b.BoolIf("missed_preference", c.Missed)
	b.BoolIf("deranked", c.Deranked)
	b.BoolIf("cooling", c.Cooling)
	appendFactors(b, c.Factors)
	b.Close('}')
}

func appendFactors(b *jsonappend.Buffer, factors []Factor) {
	if len(factors) > 0 {
		b.Name("factors")
		b.Open('[')
		for i := range factors {
			f := &factors[i]
			b.Next()
			b.Open('{')
			b.String("name", f.Name)
			b.Float("input", f.Input)
			b.StringIf("unit", f.Unit)
			b.FloatIf("weight", f.Weight)
			b.FloatIf("contribution", f.Contribution)
			b.FloatIf("multiplier", f.Multiplier)
			b.FloatIf("surcharge", f.Surcharge)
			b.BoolIf("context", f.Context)
			b.BoolIf("assumed", f.Assumed)
			b.Close('}')
		}
		b.Close(']')
	}
}

func (r *Record) appendEnd(b *jsonappend.Buffer) {
	if len(r.Limits) > 0 {
		b.Name("limits")
		b.Open('[')
		for i := range r.Limits {
			l := &r.Limits[i]
			b.Next()
			b.Open('{')
			b.String("scope", l.Scope)
			b.StringIf("id", l.ID)
			b.StringIf("metric", l.Metric)
			b.StringIf("window", l.Window)
			b.Int("used", l.Used)
			b.Int("limit", l.Limit)
			b.Bool("ok", l.OK)
			b.IntIf("asked", l.Asked)
			b.IntIf("held", l.Held)
			b.BoolIf("unknown", l.Unknown)
			b.Close('}')
		}
		b.Close(']')
	}
	if len(r.Attempts) > 0 {
		b.Name("attempts")
		b.Open('[')
		for i := range r.Attempts {
			b.Next()
			r.Attempts[i].appendJSON(b)
		}
		b.Close(']')
	}
	if f := r.Refusal; f != nil {
		b.Name("refusal")
		b.Open('{')
		b.String("code", f.Code)
		b.StringIf("reason", f.Reason)
		b.StringIf("stage", f.Stage)
		b.Close('}')
	}
	if r.Usage != nil {
		b.Name("usage")
		r.Usage.AppendJSON(b)
	}
	if r.Cost != nil {
		b.Name("cost")
		r.Cost.AppendJSON(b)
	}
	b.IntIf("truncated", int64(r.Truncated))
}

func (a *AttemptRecord) appendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	b.String("model", a.Model)
	b.String("provider", a.Provider)
	b.String("endpoint", a.Endpoint)
	b.String("credential", string(a.Credential))
	if !a.CredentialID.IsZero() {
		jsonappend.Text(b, "credential_id", a.CredentialID)
	}
	b.Time("started_at", a.Started)
	b.IntIf("first_byte_ns", int64(a.FirstByte))
	b.Int("duration_ns", int64(a.Duration))
	b.IntIf("status", int64(a.Status))
	b.StringIf("failure", a.Failure)
	b.BoolIf("retryable", a.Retryable)
	b.String("reason", a.Reason)
	b.Close('}')
}
