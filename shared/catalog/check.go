package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/money"
)

// Check returns everything that is wrong with a catalog, in its order.
func Check(c Catalog) Problems {
	k := checker{
		providers: make(map[string]bool),
		names:     make(map[string]string),
		endpoints: make(map[string]string),
		models:    make(map[string]*Model, len(c.Models)),
	}
	if c.Schema != Schema {
		k.addf("schema", "want %d", Schema)
	}
	slugs := make(map[string]string)
	for i := range c.Providers {
		k.provider(fmt.Sprintf("providers[%d]", i), &c.Providers[i], slugs)
	}
	for i := range c.Models {
		k.models[c.Models[i].ID] = &c.Models[i]
	}
	for i := range c.Models {
		k.claim(fmt.Sprintf("models[%d].id", i), c.Models[i].ID, c.Models[i].ID)
	}
	for i := range c.Models {
		k.model(fmt.Sprintf("models[%d]", i), &c.Models[i])
	}
	return k.Problems
}

type checker struct {
	Problems
	providers map[string]bool
	names     map[string]string // ids and aliases of models to the id of who has them
	endpoints map[string]string // ids to paths
	models    map[string]*Model
}

func (k *checker) claim(path, name, owner string) {
	if other, taken := k.names[name]; taken {
		k.addf(path, "the model %s has this name already", other)
		return
	}
	k.names[name] = owner
}

func (k *checker) provider(path string, p *Provider, slugs map[string]string) {
	if !ValidSlug(p.Slug) {
		k.addf(path+".slug", "want lower-case letters, digits and hyphens")
	}
	k.providers[p.Slug] = true
	for i, name := range append([]string{p.Slug}, p.Aliases...) {
		at := path + ".slug"
		if i > 0 {
			at = fmt.Sprintf("%s.aliases[%d]", path, i-1)
			if !ValidSlug(strings.ToLower(name)) {
				k.addf(at, "want letters, digits and hyphens")
			}
		}
		if other, taken := slugs[strings.ToLower(name)]; taken {
			k.addf(at, "the provider %s has this name already", other)
			continue
		}
		slugs[strings.ToLower(name)] = p.Slug
	}
	if !slices.Contains(ProviderTypes(), p.Type) {
		k.addf(path+".type", "want one of %s", listed(ProviderTypes()))
	}
	switch {
	case p.BaseURL != "":
		if problem := checkBaseURL(p.BaseURL); problem != "" {
			k.addf(path+".base_url", "%s", problem)
		}
	case p.Type == Vertex && p.Keyless && p.Project == "":
		k.addf(path+".project", "is required, or base_url")
	case !accountAddressed(p.Type), p.Keyless && p.Type != Vertex && p.Location == "":
		k.addf(path+".base_url", "is required")
	}
	k.account(path, p)
	k.quirks(path+".quirks", p)
	if r := p.CacheRetention; r != 0 && (r < MinCacheRetention || r > MaxCacheRetention) {
		k.addf(path+".cache_retention", "want 15m to 24h")
	}
	if p.Retry.Max < 0 || p.Retry.Max > MaxRetry {
		k.addf(path+".retry.max", "want 0 to %d", MaxRetry)
	}
}

// checkBaseURL says what is wrong with a provider's address, without
// repeating it: addresses have been seen to hold passwords.
func checkBaseURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "want an absolute URL such as https://api.example.com/v1"
	case u.Scheme != "http" && u.Scheme != "https":
		return "want an http or https URL"
	case u.User != nil:
		return "want a URL without user or password; the key goes into api_key"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "want a URL without query and fragment"
	}
	return ""
}

func (k *checker) model(path string, m *Model) {
	author, _, _ := strings.Cut(m.ID, "/")
	switch {
	case !ValidModelID(m.ID):
		k.addf(path+".id", "want author/model in lower-case letters, digits, dots, hyphens and underscores, with :free at most after it")
	case m.ID == AutoModel || m.ID == FreeModel:
		k.addf(path+".id", "the name is reserved")
	}
	if m.Author != author {
		k.addf(path+".author", "want the part of the id before the slash")
	}
	for i, alias := range m.Aliases {
		at := fmt.Sprintf("%s.aliases[%d]", path, i)
		if !validAlias(alias) || alias == AutoModel || alias == FreeModel {
			k.addf(at, "want a model name in lower-case letters, digits, dots, hyphens and underscores")
		}
		k.claim(at, alias, m.ID)
	}
	if m.Context < 0 || m.MaxOutput < 0 {
		k.addf(path+".context", "want token counts of zero or more")
	}
	k.lifecycle(path+".lifecycle", m)
	for i := range m.Endpoints {
		k.endpoint(fmt.Sprintf("%s.endpoints[%d]", path, i), m, &m.Endpoints[i])
	}
	k.rules(path+".rules", m)
}

func (k *checker) lifecycle(path string, m *Model) {
	switch m.Lifecycle.State {
	case "", Active, Deprecated, Retired:
	default:
		k.addf(path+".state", "want one of active, deprecated, retired")
	}
	if r := m.Lifecycle.Replacement; r != "" && (r == m.ID || k.models[r] == nil) {
		k.addf(path+".replacement", "want the id of another model of the catalog")
	}
}

func (k *checker) endpoint(path string, m *Model, e *Endpoint) {
	if !k.providers[e.Provider] {
		k.addf(path+".provider", "there is no provider with this slug")
	}
	if e.Region != "" && !ValidSlug(e.Region) {
		k.addf(path+".region", "want lower-case letters, digits and hyphens")
	}
	if want := EndpointID(e.Provider, m.ID, e.Region); e.ID != want {
		k.addf(path+".id", "want provider:author/model, with @region where it has one")
	} else if other, taken := k.endpoints[e.ID]; taken {
		k.addf(path, "the same provider and region are already at %s", other)
	} else {
		k.endpoints[e.ID] = path
	}
	if e.UpstreamModel == "" {
		k.addf(path+".upstream_model", "is required")
	}
	switch e.Channel {
	case "", Stable, Beta, Alpha:
	default:
		k.addf(path+".channel", "want one of stable, beta, alpha")
	}
	if e.Derank < 0 || e.Derank > MaxDerank {
		k.addf(path+".derank", "want 0 to %d", MaxDerank)
	}
	if e.Context < 0 || e.MaxOutput < 0 {
		k.addf(path+".context", "want token counts of zero or more")
	}
	for i, s := range e.Surfaces {
		if !slices.Contains(Surfaces(), s) {
			k.addf(fmt.Sprintf("%s.surfaces[%d]", path, i), "want a surface such as chat or embeddings")
		}
	}
	k.price(path+".price", e.Price)
}

func (k *checker) price(path string, p *Price) {
	if p == nil {
		return
	}
	for _, part := range []struct {
		name  string
		price *money.PerMillion
	}{
		{"input", p.Input},
		{"output", p.Output},
		{"cached_input", p.CachedInput},
		{"cache_write_5m", p.CacheWrite5m},
		{"cache_write_1h", p.CacheWrite1h},
		{"reasoning", p.Reasoning},
		{"image", p.Image},
		{"audio", p.Audio},
	} {
		if part.price != nil && *part.price < 0 {
			k.addf(path+"."+part.name, "want a price of zero or more")
		}
	}
	if p.Request < 0 {
		k.addf(path+".request", "want a price of zero or more")
	}
	for i := range p.Tiers {
		at := fmt.Sprintf("%s.tiers[%d]", path, i)
		if p.Tiers[i].Above <= 0 || i > 0 && p.Tiers[i].Above <= p.Tiers[i-1].Above {
			k.addf(at+".above", "want token counts above zero, each larger than the one before")
		}
		k.price(at+".price", &Price{
			Input: p.Tiers[i].Price.Input, Output: p.Tiers[i].Price.Output,
			CachedInput:  p.Tiers[i].Price.CachedInput,
			CacheWrite5m: p.Tiers[i].Price.CacheWrite5m, CacheWrite1h: p.Tiers[i].Price.CacheWrite1h,
			Reasoning: p.Tiers[i].Price.Reasoning, Image: p.Tiers[i].Price.Image, Audio: p.Tiers[i].Price.Audio,
			Request: p.Tiers[i].Price.Request,
		})
	}
}

func listed[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}
