package decide

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// chosen is a preference with the rung that it came from: the platform when
// no rung sets it.
type chosen[T any] struct {
	value T
	rung  Rung
}

// preferences are what the narrowest rungs set.
type preferences struct {
	order          chosen[order]
	listed         chosen[listing] // provider.order
	allowFallbacks chosen[bool]
	cacheAware     chosen[bool]
	affinity       chosen[bool]
	maxLatency     chosen[time.Duration]
	minThroughput  chosen[float64]
	firstByte      chosen[time.Duration]
	request        chosen[time.Duration]
	retries        chosen[*int] // nil: as the operator set them
	defaultModel   chosen[string]
	fallbackModels chosen[[]string]
}

// listing is provider.order resolved. What was wrong with it counts only when
// no narrower rung has an order of its own.
type listing struct {
	providersOf
	unknown []fault.Violation
	refusal *fault.Error
}

// order is how the candidates of one model are put in order.
type order struct {
	mode  policy.Mode
	fixed bool // no draw: the same for every seed
}

// platformPreferences hold where no rung says otherwise. What 0 and "" mean is
// up to who reads them: timeouts are then the gateway's own.
func platformPreferences() preferences {
	return preferences{
		order:          chosen[order]{value: order{mode: policy.Balanced}},
		allowFallbacks: chosen[bool]{value: true},
		cacheAware:     chosen[bool]{value: true},
		affinity:       chosen[bool]{value: true},
	}
}

// take lets a narrower rung than those before it have its say. A rung's sort
// comes before its mode, and either replaces both of the wider ones: they
// answer one question.
func (p *preferences) take(r *rung) {
	s, prefs := r.set, &r.set.Provider
	switch {
	case prefs.Sort != "":
		p.order = chosen[order]{order{mode: prefs.Sort, fixed: true}, r.name}
	case s.Mode != "":
		p.order = chosen[order]{order{mode: s.Mode}, r.name}
	}
	p.allowFallbacks.flag(prefs.AllowFallbacks, r.name)
	p.cacheAware.flag(prefs.CacheAware, r.name)
	p.affinity.flag(s.Affinity, r.name)
	narrow(&p.maxLatency, prefs.PreferredMaxLatency, r.name)
	narrow(&p.minThroughput, prefs.PreferredMinThroughput, r.name)
	narrow(&p.firstByte, s.Timeouts.FirstByte, r.name)
	narrow(&p.request, s.Timeouts.Request, r.name)
	narrow(&p.retries, s.Retries, r.name)
	if s.Auto {
		p.defaultModel = chosen[string]{catalog.AutoModel, r.name}
	} else {
		narrow(&p.defaultModel, s.DefaultModel, r.name)
	}
	if len(s.FallbackModels) > 0 {
		p.fallbackModels = chosen[[]string]{s.FallbackModels, r.name}
	}
}

func narrow[T comparable](c *chosen[T], value T, rung Rung) {
	var unset T
	if value != unset {
		*c = chosen[T]{value, rung}
	}
}

// flag is narrow for what is set when it is there.
func (c *chosen[T]) flag(value *T, rung Rung) {
	if value != nil {
		*c = chosen[T]{*value, rung}
	}
}

// how is the order of one entry of the chain: its suffix beats the ladder.
func (d *decision) how(t *target) order {
	if t.mode != "" {
		return order{mode: t.mode, fixed: true}
	}
	return d.prefer.order.value
}
