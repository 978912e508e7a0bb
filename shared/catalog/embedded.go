package catalog

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"github.com/signalbox-dev/signalbox/shared/money"
)

// supplement adds what the library lacks, in the form of catalog.yaml.
//
//go:embed supplement.yaml
var supplement []byte

// benchmarks are what independent measurements say of models, in the same form.
//
//go:embed benchmarks.yaml
var benchmarks []byte

// Dropped is a listing of the library that has no place in the catalog.
type Dropped struct {
	Provider string
	Model    string // as the provider calls it; "" for the whole provider
	Reason   string
}

// Embedded is the catalog that the product comes with: the library's
// listings, brought together so that one canonical model has all its
// endpoints, with the kept supplement and benchmarks laid over. It has no
// credentials.
func Embedded() (Catalog, error) {
	base, _ := listings()
	for _, kept := range []struct {
		name string
		text []byte
	}{{"supplement.yaml", supplement}, {"benchmarks.yaml", benchmarks}} {
		over, _, err := Load(bytes.NewReader(kept.text), kept.name, func(string) (string, bool) { return "", false })
		if err != nil {
			return Catalog{}, fmt.Errorf("embedded catalog: %w", err)
		}
		base = Merge(base, over)
	}
	return base, nil
}

// EmbeddedDropped is the report of what the embedded catalog leaves out.
func EmbeddedDropped() []Dropped {
	_, dropped := listings()
	return dropped
}

// envKeys is made once: the library parses its files at each call.
var envKeys = sync.OnceValue(func() map[string][]string {
	keys := map[string][]string{"mistral": {"MISTRAL_API_KEY"}, "jina": {"JINA_API_KEY"}}
	for _, p := range embedded.GetAll() {
		s := sources[string(p.ID)]
		if s.skip != "" {
			continue
		}
		slug := slugOf(&p)
		if name, ok := strings.CutPrefix(p.APIKey, "$"); ok && !s.ownEnv && !slices.Contains(keys[slug], name) {
			keys[slug] = append(keys[slug], name)
		}
		for _, name := range s.env {
			if !slices.Contains(keys[slug], name) {
				keys[slug] = append(keys[slug], name)
			}
		}
	}
	return keys
})

func slugOf(p *catwalk.Provider) string {
	if s := sources[string(p.ID)].slug; s != "" {
		return s
	}
	return string(p.ID)
}

// listings turns the library's providers into a catalog.
func listings() (Catalog, []Dropped) {
	var c collector
	c.models = make(map[string]*Model)
	for _, p := range embedded.GetAll() {
		c.provider(&p)
	}
	out := Catalog{Schema: Schema, Providers: c.providers}
	for _, m := range c.models {
		slices.SortFunc(m.Endpoints, func(a, b Endpoint) int { return strings.Compare(a.ID, b.ID) })
		out.Models = append(out.Models, *m)
	}
	slices.SortFunc(out.Providers, func(a, b Provider) int { return strings.Compare(a.Slug, b.Slug) })
	slices.SortFunc(out.Models, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	c.alias(out.Models)
	return out, c.dropped
}

type collector struct {
	providers []Provider
	models    map[string]*Model
	named     map[string]int // how well the holder of a model's name knows it
	raw       []rawName
	dropped   []Dropped
}

// rawName is what a provider calls a model.
type rawName struct{ text, id string }

func (c *collector) provider(p *catwalk.Provider) {
	s := sources[string(p.ID)]
	if s.skip != "" {
		c.dropped = append(c.dropped, Dropped{Provider: string(p.ID), Reason: s.skip})
		return
	}
	slug := slugOf(p)
	if !slices.ContainsFunc(c.providers, func(o Provider) bool { return o.Slug == slug }) {
		c.providers = append(c.providers, Provider{
			Slug: slug, Name: p.Name, Aliases: s.aliases, Type: typeOf(p, s), BaseURL: baseURL(p, s),
			Regions: s.regions, Aggregator: s.aggregator,
		})
	}
	for i := range p.Models {
		c.model(string(p.ID), slug, &p.Models[i])
	}
}

func typeOf(p *catwalk.Provider, s source) ProviderType {
	if s.kind != "" {
		return s.kind
	}
	switch p.Type {
	case catwalk.TypeOpenAI:
		return OpenAI
	case catwalk.TypeAnthropic:
		return Anthropic
	case catwalk.TypeGoogle:
		return Google
	case catwalk.TypeAzure:
		return Azure
	case catwalk.TypeBedrock:
		return Bedrock
	case catwalk.TypeVertexAI:
		return Vertex
	default:
		return OpenAICompatible
	}
}

// baseURL leaves out the library's variables: they are the user's to set.
func baseURL(p *catwalk.Provider, s source) string {
	if s.baseURL != "" || strings.HasPrefix(p.APIEndpoint, "$") {
		return s.baseURL
	}
	return strings.TrimRight(p.APIEndpoint, "/")
}

func (c *collector) model(provider, slug string, listed *catwalk.Model) {
	drop := func(reason string) {
		c.dropped = append(c.dropped, Dropped{Provider: slug, Model: listed.ID, Reason: reason})
	}
	n, reason := canonical(provider, listed.ID)
	if reason != "" {
		drop(reason)
		return
	}
	price := priceOf(listed, n)
	if n.free && !zero(price) {
		n.free = false // the name says free, the price does not
		price = priceOf(listed, n)
	}
	id := n.id()
	m, ok := c.models[id]
	if !ok {
		m = &Model{ID: id, Author: n.author}
		c.models[id] = m
	}
	e := Endpoint{ID: EndpointID(slug, id, n.region), Provider: slug, Region: n.region, UpstreamModel: listed.ID, Price: price, Context: max(0, listed.ContextWindow)}
	if slices.ContainsFunc(m.Endpoints, func(o Endpoint) bool { return o.ID == e.ID }) {
		drop(droppedDuplicate)
		return
	}
	m.Endpoints = append(m.Endpoints, e)
	c.raw = append(c.raw, rawName{text: strings.ToLower(listed.ID), id: id})
	c.describe(m, slug, listed)
}

// describe takes what is said of a model from who knows it best: its author,
// then the large catalogs, then anyone.
func (c *collector) describe(m *Model, slug string, listed *catwalk.Model) {
	rank := 1
	switch {
	case slug == m.Author || m.Author == "moonshotai" && slug == "moonshot":
		rank = 4
	case slug == "openrouter":
		rank = 3
	case slug == "vercel":
		rank = 2
	}
	if c.named == nil {
		c.named = make(map[string]int)
	}
	if rank <= c.named[m.ID] {
		return
	}
	c.named[m.ID] = rank
	m.Name, m.Context = listed.Name, max(0, listed.ContextWindow)
	m.Input, m.Output = modalitiesOf(m, listed.SupportsImages)
	m.Capabilities = nil
	if listed.CanReason {
		m.Capabilities = append(m.Capabilities, "reasoning")
	}
	if listed.SupportsImages {
		m.Capabilities = append(m.Capabilities, "vision")
	}
}

// modalitiesOf adds to what the library says (attachments or not) what is
// documented of whole families.
func modalitiesOf(m *Model, attachments bool) (in, out []Modality) {
	in, out = []Modality{Text}, []Modality{Text}
	if attachments {
		in = append(in, Image)
		switch m.Author {
		case "openai", "anthropic", "google":
			in = append(in, File)
		}
	}
	name := m.BareName()
	if strings.HasPrefix(name, "gemini-") {
		in = append(in, Audio, Video)
	}
	if strings.Contains(name, "-audio") || strings.HasPrefix(name, "voxtral-") || strings.Contains(name, "-omni") {
		in = append(in, Audio)
	}
	if strings.HasPrefix(name, "gpt-audio") || strings.HasPrefix(name, "gpt-4o-audio") {
		out = append(out, Audio)
	}
	if strings.HasSuffix(name, "-image") {
		out = append(out, Image)
	}
	return in, out
}

// priceOf reads the library's prices. Both zero means unknown, unless the
// model is free. The two cached prices mean different things in different
// listings; what holds in all of them is that the lower one is what a read
// costs, and the higher one, unless it is the output price again, a write.
func priceOf(listed *catwalk.Model, n naming) *Price {
	in, out := nanos(listed.CostPer1MIn), nanos(listed.CostPer1MOut)
	if in < 0 || out < 0 || in == 0 && out == 0 && !n.free {
		return nil
	}
	p := &Price{Input: &in, Output: &out}
	cached := []money.PerMillion{}
	for _, usd := range []float64{listed.CostPer1MInCached, listed.CostPer1MOutCached} {
		if v := nanos(usd); v > 0 && v != in && v != out {
			cached = append(cached, v)
		}
	}
	if len(cached) == 0 {
		return p
	}
	low, high := slices.Min(cached), slices.Max(cached)
	if low < in {
		p.CachedInput = &low
	}
	if high > in || high > low {
		p.CacheWrite5m = &high
	}
	return p
}

// nanos rounds the library's float to the nearest nano-dollar; its prices
// have far fewer decimals than that.
func nanos(usd float64) money.PerMillion { return money.PerMillion(math.Round(usd * 1e9)) }

func zero(p *Price) bool {
	return p != nil && *p.Input == 0 && *p.Output == 0 && p.CachedInput == nil && p.CacheWrite5m == nil
}

// alias gives each model the names that providers have for it, where such a
// name means one model only.
func (c *collector) alias(models []Model) {
	meaning := make(map[string]string)
	for i := range models {
		meaning[models[i].ID] = models[i].ID
	}
	bare := make(map[string]bool)
	for i := range models {
		bare[models[i].BareName()] = true
	}
	for _, r := range c.raw {
		if !validAlias(r.text) || bare[r.text] {
			continue
		}
		if other, taken := meaning[r.text]; taken && other != r.id {
			meaning[r.text] = ""
			continue
		}
		meaning[r.text] = r.id
	}
	for i := range models {
		m := &models[i]
		for text, id := range meaning {
			if id == m.ID && text != m.ID {
				m.Aliases = append(m.Aliases, text)
			}
		}
		slices.Sort(m.Aliases)
	}
}
