package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Overlay is a set of additions and overrides over a catalog, as catalog.yaml
// writes them. What it does not mention stays.
type Overlay struct {
	Providers []ProviderPatch
	Models    []ModelPatch

	// Keys are the providers' API keys by slug, in clear: they are sealed into
	// Provider.Credential before the catalog goes anywhere.
	Keys map[string]secret.String

	at positions
}

// ProviderPatch overrides the members that are not nil.
type ProviderPatch struct {
	Slug           string
	Name           *string
	Aliases        *[]string
	Type           *ProviderType
	BaseURL        *string
	Regions        *[]string
	DataPolicy     DataPolicy // member by member
	RetryMax       *int
	Disabled       *bool
	Aggregator     *bool
	Keyless        *bool
	Quirks         Quirks // member by member
	CacheRetention *time.Duration
	APIVersion     *string
	Project        *string
	Location       *string
}

// ModelPatch overrides the members that are not nil. Endpoints are joined by
// provider and region.
type ModelPatch struct {
	ID           string
	Name         *string
	Aliases      *[]string
	Context      *int64
	MaxOutput    *int64
	Input        *[]Modality
	Output       *[]Modality
	Capabilities *[]string
	Lifecycle    *Lifecycle
	Benchmarks   *[]Benchmark
	Endpoints    []EndpointPatch
	Rules        []RulePatch
}

// RulePatch overrides the members that are not nil. Rules are joined by name.
type RulePatch struct {
	Name     string
	Disabled *bool
	When     *condition.Condition
	Then     *Then
}

// EndpointPatch overrides the members that are not nil.
type EndpointPatch struct {
	Provider      string
	Region        string
	UpstreamModel *string
	Price         *PricePatch
	Context       *int64
	MaxOutput     *int64
	Surfaces      *[]Surface
	Parameters    *[]string
	Channel       *Channel
	Derank        *int
	Disabled      *bool
}

// PricePatch overrides the prices that are not nil.
type PricePatch struct {
	Price   Price        // its nil members stay as they are; Request and Tiers are those below
	Request *money.Nanos // for each request
	Tiers   *[]Tier      // replace all tiers
}

// Merge lays an overlay over a catalog: the same slug or id overrides field
// by field, others are added. The result is sorted and not checked.
func Merge(base Catalog, over Overlay) Catalog {
	out := base
	out.Providers, out.Models = slices.Clone(base.Providers), slices.Clone(base.Models)
	for i := range over.Providers {
		patch := &over.Providers[i]
		at := slices.IndexFunc(out.Providers, func(p Provider) bool { return p.Slug == patch.Slug })
		if at < 0 {
			out.Providers = append(out.Providers, Provider{Slug: patch.Slug})
			at = len(out.Providers) - 1
		}
		patch.apply(&out.Providers[at])
	}
	index := make(map[string]int, len(out.Models))
	for i := range out.Models {
		index[out.Models[i].ID] = i
	}
	for i := range over.Models {
		patch := &over.Models[i]
		at, ok := index[patch.ID]
		if !ok {
			author, _, _ := strings.Cut(patch.ID, "/")
			out.Models = append(out.Models, Model{ID: patch.ID, Author: author})
			at = len(out.Models) - 1
			index[patch.ID] = at
		}
		patch.apply(&out.Models[at])
	}
	slices.SortStableFunc(out.Providers, func(a, b Provider) int { return strings.Compare(a.Slug, b.Slug) })
	slices.SortStableFunc(out.Models, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (p *ProviderPatch) apply(to *Provider) {
	set(&to.Name, p.Name)
	set(&to.Aliases, p.Aliases)
	set(&to.Type, p.Type)
	set(&to.BaseURL, p.BaseURL)
	set(&to.Regions, p.Regions)
	set(&to.Retry.Max, p.RetryMax)
	set(&to.Disabled, p.Disabled)
	set(&to.Aggregator, p.Aggregator)
	set(&to.Keyless, p.Keyless)
	set(&to.APIVersion, p.APIVersion)
	set(&to.Project, p.Project)
	set(&to.Location, p.Location)
	set(&to.CacheRetention, p.CacheRetention)
	to.Quirks = p.Quirks.over(to.Quirks)
	to.DataPolicy.Trains = first(p.DataPolicy.Trains, to.DataPolicy.Trains)
	to.DataPolicy.Retains = first(p.DataPolicy.Retains, to.DataPolicy.Retains)
	to.DataPolicy.ZeroDataRetention = first(p.DataPolicy.ZeroDataRetention, to.DataPolicy.ZeroDataRetention)
}

func (p *ModelPatch) apply(to *Model) {
	set(&to.Name, p.Name)
	set(&to.Aliases, p.Aliases)
	set(&to.Context, p.Context)
	set(&to.MaxOutput, p.MaxOutput)
	set(&to.Input, p.Input)
	set(&to.Output, p.Output)
	set(&to.Capabilities, p.Capabilities)
	set(&to.Lifecycle, p.Lifecycle)
	set(&to.Benchmarks, p.Benchmarks)
	to.Endpoints = slices.Clone(to.Endpoints)
	for i := range p.Endpoints {
		patch := &p.Endpoints[i]
		id := EndpointID(patch.Provider, p.ID, patch.Region)
		at := slices.IndexFunc(to.Endpoints, func(e Endpoint) bool { return e.ID == id })
		if at < 0 {
			to.Endpoints = append(to.Endpoints, Endpoint{ID: id, Provider: patch.Provider, Region: patch.Region})
			at = len(to.Endpoints) - 1
		}
		patch.apply(&to.Endpoints[at])
	}
	to.Rules = mergeRules(to.Rules, p.Rules)
}

// mergeRules puts the overlay's rules first, in its order, and the base's that
// it does not name after them: who overrides decides which comes first.
func mergeRules(base []Rule, over []RulePatch) []Rule {
	if len(over) == 0 {
		return base
	}
	out := make([]Rule, 0, len(over)+len(base))
	for i := range over {
		r := Rule{Name: over[i].Name}
		if at := slices.IndexFunc(base, func(b Rule) bool { return b.Name == r.Name }); at >= 0 {
			r = base[at]
		}
		set(&r.Disabled, over[i].Disabled)
		set(&r.When, over[i].When)
		set(&r.Then, over[i].Then)
		out = append(out, r)
	}
	for _, b := range base {
		if !slices.ContainsFunc(over, func(r RulePatch) bool { return r.Name == b.Name }) {
			out = append(out, b)
		}
	}
	return out
}

func (p *EndpointPatch) apply(to *Endpoint) {
	set(&to.UpstreamModel, p.UpstreamModel)
	set(&to.Context, p.Context)
	set(&to.MaxOutput, p.MaxOutput)
	set(&to.Surfaces, p.Surfaces)
	set(&to.Parameters, p.Parameters)
	set(&to.Channel, p.Channel)
	set(&to.Derank, p.Derank)
	set(&to.Disabled, p.Disabled)
	if p.Price == nil {
		return
	}
	price := Price{}
	if to.Price != nil {
		price = *to.Price
	}
	over := &p.Price.Price
	price.Input = first(over.Input, price.Input)
	price.Output = first(over.Output, price.Output)
	price.CachedInput = first(over.CachedInput, price.CachedInput)
	price.CacheWrite5m = first(over.CacheWrite5m, price.CacheWrite5m)
	price.CacheWrite1h = first(over.CacheWrite1h, price.CacheWrite1h)
	price.Reasoning = first(over.Reasoning, price.Reasoning)
	price.Image = first(over.Image, price.Image)
	price.Audio = first(over.Audio, price.Audio)
	set(&price.Request, p.Price.Request)
	set(&price.Tiers, p.Price.Tiers)
	to.Price = &price
}

func first[T any](values ...*T) *T {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}
