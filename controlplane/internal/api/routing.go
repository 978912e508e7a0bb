package api

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// routingOf leaves out what the fields do not set.
func routingOf(r policy.Routing) gen.RoutingFields {
	f := gen.RoutingFields{
		DefaultModel: some(r.DefaultModel), Auto: some(r.Auto), FallbackModels: filled(r.FallbackModels),
		RoutingMode: some(gen.RoutingMode(r.Mode)), Retries: r.Retries, Affinity: r.Affinity,
	}
	if p := providerOf(r.Provider); p != (gen.ProviderFields{}) {
		f.Provider = &p
	}
	if r.Timeouts != (policy.Timeouts{}) {
		f.Timeouts = &gen.TimeoutFields{
			FirstByteMs: some(r.Timeouts.FirstByte.Milliseconds()), RequestMs: some(r.Timeouts.Request.Milliseconds()),
		}
	}
	return f
}

func providerOf(p policy.Preferences) gen.ProviderFields {
	f := gen.ProviderFields{
		Order: filled(p.Order), Only: filled(p.Only), Ignore: filled(p.Ignore), AllowFallbacks: p.AllowFallbacks,
		Sort: some(gen.ProviderFieldsSort(p.Sort)), RequireParameters: some(p.RequireParameters),
		RequireZeroDataRetention: some(p.RequireZDR), DenyTraining: some(p.DenyTraining), RequiredRegion: some(p.Region),
		PreferredMaxLatency: some(p.PreferredMaxLatency.Seconds()), PreferredMinThroughput: some(p.PreferredMinThroughput),
		CacheAwareRouting: p.CacheAware,
	}
	if p.MaxInputPrice != nil || p.MaxOutputPrice != nil {
		f.MaxPrice = &gen.PriceLimits{Input: limitOf(p.MaxInputPrice), Output: limitOf(p.MaxOutputPrice)}
	}
	return f
}

// routingFrom reads fields that the contract has admitted.
func routingFrom(f gen.RoutingFields) policy.Routing {
	timeouts := value(f.Timeouts)
	return policy.Routing{
		DefaultModel: value(f.DefaultModel), Auto: value(f.Auto), FallbackModels: value(f.FallbackModels),
		Mode: policy.Mode(value(f.RoutingMode)), Provider: providerFrom(value(f.Provider)), Retries: f.Retries, Affinity: f.Affinity,
		Timeouts: policy.Timeouts{
			FirstByte: time.Duration(value(timeouts.FirstByteMs)) * time.Millisecond,
			Request:   time.Duration(value(timeouts.RequestMs)) * time.Millisecond,
		},
	}
}

func providerFrom(f gen.ProviderFields) policy.Preferences {
	limits := value(f.MaxPrice)
	return policy.Preferences{
		Order: value(f.Order), Only: value(f.Only), Ignore: value(f.Ignore), AllowFallbacks: f.AllowFallbacks,
		Sort: policy.Mode(value(f.Sort)), RequireParameters: value(f.RequireParameters),
		RequireZDR: value(f.RequireZeroDataRetention), DenyTraining: value(f.DenyTraining), Region: value(f.RequiredRegion),
		MaxInputPrice: limitFrom(limits.Input), MaxOutputPrice: limitFrom(limits.Output),
		PreferredMaxLatency:    time.Duration(value(f.PreferredMaxLatency) * float64(time.Second)),
		PreferredMinThroughput: value(f.PreferredMinThroughput), CacheAware: f.CacheAwareRouting,
	}
}

func limitOf(p *money.PerMillion) *gen.PriceLimit {
	if p == nil {
		return nil
	}
	return pointer(p.String())
}

// limitFrom reads a price; the contract's pattern admits only what it reads.
func limitFrom(text *gen.PriceLimit) *money.PerMillion {
	if text == nil {
		return nil
	}
	p, err := money.ParsePerMillion(*text)
	if err != nil {
		p = -1 // which the rules for routing fields refuse
	}
	return &p
}

// filled is nil for an empty list, so that the field is left out.
func filled[T any](items []T) *[]T {
	if len(items) == 0 {
		return nil
	}
	return &items
}
