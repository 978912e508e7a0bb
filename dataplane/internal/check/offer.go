package check

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// cheapest finds the first way in which the provider can be asked, with the
// cheapest model that the credential is for.
func cheapest(view *catalog.View, p *catalog.Provider, models []string) (asked, bool) {
	for _, w := range waysOf(p) {
		if w.asks == nil {
			return asked{way: w}, true
		}
		var offers []catalog.Offer
		for i := range view.Models() {
			m := &view.Models()[i]
			if m.Lifecycle.State == catalog.Retired || !decide.Allows(models, m) {
				continue
			}
			for _, o := range view.Offers(m) {
				if o.Provider.Slug == p.Slug && !o.Endpoint.Disabled && w.asks(o) {
					offers = append(offers, o)
				}
			}
		}
		if len(offers) > 0 {
			return asked{way: w, offer: slices.MinFunc(offers, cheaper)}, true
		}
	}
	return asked{}, false
}

// cheaper: what thinks before it speaks may refuse to stop after one token, so
// it comes last; then by price, what has no known one last, and by name.
func cheaper(a, b catalog.Offer) int {
	return cmp.Or(
		compareBool(thinks(a), thinks(b)),
		compareBool(a.Endpoint.Price == nil, b.Endpoint.Price == nil),
		cmp.Compare(price(a), price(b)),
		strings.Compare(a.Endpoint.ID, b.Endpoint.ID),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func thinks(o catalog.Offer) bool { return slices.Contains(o.Model.Capabilities, "reasoning") }

// price is of a million tokens each way.
func price(o catalog.Offer) money.PerMillion {
	var sum money.PerMillion
	if p := o.Endpoint.Price; p != nil {
		for _, part := range []*money.PerMillion{p.Input, p.Output} {
			if part != nil {
				sum += *part
			}
		}
	}
	return sum
}

// converses reports whether an offer is for conversations in text.
func converses(o catalog.Offer) bool {
	return makes(o, catalog.Text) && serves(o, catalog.Chat, catalog.Messages, catalog.Gemini, catalog.Responses)
}

func embeds(o catalog.Offer) bool {
	return makes(o, catalog.Embedding) && serves(o, catalog.Embeddings)
}

func makes(o catalog.Offer, content catalog.Modality) bool {
	if len(o.Model.Output) == 0 {
		return content == catalog.Text
	}
	return slices.Contains(o.Model.Output, content)
}

func serves(o catalog.Offer, surfaces ...catalog.Surface) bool {
	return len(o.Endpoint.Surfaces) == 0 || slices.ContainsFunc(surfaces, func(s catalog.Surface) bool {
		return slices.Contains(o.Endpoint.Surfaces, s)
	})
}

// isClaude: Vertex serves these in Anthropic's format.
func isClaude(o catalog.Offer) bool { return strings.HasPrefix(o.Endpoint.UpstreamModel, "claude-") }

func tokenLimit(p *catalog.Provider) string {
	if p.Quirks != nil && p.Quirks.TokenLimit != "" {
		return p.Quirks.TokenLimit
	}
	return "max_tokens"
}

// escaped is a model's name as a segment of a path.
func escaped(model string) string { return url.PathEscape(model) }

// quoted is a model's name within a JSON text.
func quoted(model string) string {
	text, _ := json.Marshal(model) // a string always encodes
	return string(text[1 : len(text)-1])
}
