package decide

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of the body's routing objects.
const (
	maxListedProviders = 64
	maxSlugLen         = 128
	maxLatency         = 10 * time.Minute
	maxAttempts        = 20
)

// ParsePreferences reads the body's "provider" object. Every unknown member
// is a violation: a misspelled restriction must not be ignored. Absent, empty
// and null input mean no preferences.
func ParsePreferences(raw json.RawMessage) (Preferences, []fault.Violation) {
	var p Preferences
	r := &reader{prefix: "provider"}
	r.object(raw, "", func(key string, value json.RawMessage) { r.preference(&p, key, value) })
	return p, r.violations
}

// ParseRouting reads the body's "routing" object by the same rules.
func ParseRouting(raw json.RawMessage) (RoutingFields, []fault.Violation) {
	var f RoutingFields
	r := &reader{prefix: "routing"}
	r.object(raw, "", func(key string, value json.RawMessage) {
		switch key {
		case "mode":
			f.Mode = r.mode(key, value, policy.Balanced, policy.Price, policy.Latency, policy.Throughput)
		case "session_affinity":
			f.SessionAffinity = r.flag(key, value)
		case "max_attempts":
			f.MaxAttempts = r.count(key, value, maxAttempts)
		}
	})
	return f, r.violations
}

// preference reads one member of "provider". zdr, data_collection, and prompt and completion in max_price are what
// OpenRouter's clients send.
func (r *reader) preference(p *Preferences, key string, value json.RawMessage) {
	switch key {
	case "order":
		p.Order = r.slugs(key, value)
	case "only":
		p.Only = r.slugs(key, value)
	case "ignore":
		p.Ignore = r.slugs(key, value)
	case "allow_fallbacks":
		p.AllowFallbacks = r.flag(key, value)
	case "sort":
		p.Sort = r.mode(key, value, policy.Price, policy.Latency, policy.Throughput)
	case "require_parameters":
		r.set(&p.RequireParameters, key, value)
	case "require_zero_data_retention", "zdr":
		r.set(&p.RequireZDR, key, value)
	case "data_collection":
		r.dataCollection(p, key, value)
	case "required_region":
		p.Region = r.slug(key, value)
	case "max_price":
		r.object(value, key, func(name string, price json.RawMessage) { r.maxPrice(p, key+"."+name, price) })
	case "preferred_max_latency":
		p.PreferredMaxLatency = time.Duration(r.number(key, value, maxLatency.Seconds()) * float64(time.Second))
	case "preferred_min_throughput":
		p.PreferredMinThroughput = r.number(key, value, math.MaxInt32)
	case "cache_aware_routing":
		p.CacheAware = r.flag(key, value)
	}
}

func (r *reader) dataCollection(p *Preferences, key string, value json.RawMessage) {
	switch r.text(value) {
	case "deny":
		p.DenyTraining = true
	case "allow":
	default:
		r.refuse(key, "invalid", `want "allow" or "deny"`)
	}
}

func (r *reader) maxPrice(p *Preferences, path string, value json.RawMessage) {
	to := &p.MaxInputPrice
	if strings.HasSuffix(path, ".output") || strings.HasSuffix(path, ".completion") {
		to = &p.MaxOutputPrice
	}
	text := string(value)
	if value[0] == '"' {
		text = r.text(value)
	}
	price, err := money.ParsePerMillion(text)
	if err != nil {
		r.refuse(path, "invalid", "want USD per million tokens, zero or more, with at most 9 decimals, such as 2.50")
		return
	}
	// Both spellings may be there: a restriction is never widened.
	if *to == nil || price < **to {
		*to = &price
	}
}
