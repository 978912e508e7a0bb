package routing

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of the fields. Those of decide's reading of a request are the same.
const (
	maxProviders  = 64
	maxRegion     = 64
	maxLatency    = 10 * time.Minute
	maxThroughput = math.MaxInt32 // tokens per second
	minTimeout    = time.Second
	maxFirstByte  = 10 * time.Minute
	maxRequest    = 24 * time.Hour
)

func (c *check) modes(r policy.Routing) {
	if r.Mode != "" && !slices.Contains([]policy.Mode{policy.Balanced, policy.Price, policy.Latency, policy.Throughput}, r.Mode) {
		c.add("routing_mode", rule.NotAllowed, "must be balanced, price, latency or throughput")
	}
	if s := r.Provider.Sort; s != "" && !slices.Contains([]policy.Mode{policy.Price, policy.Latency, policy.Throughput}, s) {
		c.add("provider.sort", rule.NotAllowed, "must be price, latency or throughput")
	}
}

// providers checks the provider object and writes its names as they are kept.
func (c *check) providers(p *policy.Preferences) {
	c.only = c.list("provider.only", &p.Only)
	c.ignore = c.list("provider.ignore", &p.Ignore)
	order := c.list("provider.order", &p.Order)
	for i, one := range c.ignore {
		if one != nil && slices.Contains(c.only, one) {
			c.add(fmt.Sprintf("provider.ignore[%d]", i), Contradiction, "is in provider.only too")
		}
	}
	for i, one := range order {
		switch {
		case one == nil:
		case slices.Contains(c.ignore, one):
			c.add(fmt.Sprintf("provider.order[%d]", i), Contradiction, "is in provider.ignore too")
		case len(p.Only) > 0 && !slices.Contains(c.only, one):
			c.add(fmt.Sprintf("provider.order[%d]", i), Contradiction, "is not in provider.only")
		}
	}
	c.region(p)
	c.dataPolicy(*p)
	c.price("provider.max_price.input", p.MaxInputPrice)
	c.price("provider.max_price.output", p.MaxOutputPrice)
	if p.PreferredMaxLatency < 0 || p.PreferredMaxLatency > maxLatency {
		c.add("provider.preferred_max_latency", rule.OutOfRange, "must be above 0 and at most 600 seconds")
	}
	// Written so that a NaN is out of range too.
	if !(p.PreferredMinThroughput >= 0 && p.PreferredMinThroughput <= maxThroughput) {
		c.add("provider.preferred_min_throughput", rule.OutOfRange, fmt.Sprintf("must be above 0 and at most %d tokens per second", maxThroughput))
	}
}

// list resolves names of providers. The result has a place for each name, nil
// where it is not a provider that can be used; names become slugs.
func (c *check) list(path string, names *[]string) []*catalog.Provider {
	if len(*names) == 0 {
		return nil
	}
	if len(*names) > maxProviders {
		c.add(path, rule.TooLong, fmt.Sprintf("must have at most %d entries", maxProviders))
		return nil
	}
	found, slugs := make([]*catalog.Provider, len(*names)), slices.Clone(*names)
	for i, name := range *names {
		at := fmt.Sprintf("%s[%d]", path, i)
		p := c.provider(at, name)
		switch {
		case p == nil:
		case slices.Contains(found, p):
			c.add(at, rule.Duplicate, "is in the list already")
		default:
			found[i], slugs[i] = p, p.Slug
		}
	}
	*names = slugs
	return found
}

// provider finds a provider that is enabled, or notes why there is none.
func (c *check) provider(path, name string) *catalog.Provider {
	p, ok := c.catalog.Provider(name)
	switch {
	case !ok:
		c.add(path, UnknownProvider, "no provider has this name")
		return nil
	case p.Disabled:
		c.add(path, DisabledProvider, "this provider is not enabled")
		return nil
	}
	return p
}

// region checks that some provider can serve in the region, so that a typing
// error does not refuse every request.
func (c *check) region(p *policy.Preferences) {
	if p.Region == "" {
		return
	}
	p.Region = strings.ToLower(p.Region)
	if len(p.Region) > maxRegion {
		c.add("provider.required_region", rule.TooLong, fmt.Sprintf("must have at most %d characters", maxRegion))
		return
	}
	if !inRegion(c.catalog, p.Region) {
		c.add("provider.required_region", rule.NotAllowed, "no provider of the catalog is in this region")
	}
}

// dataPolicy notes restrictions that none of the only providers meets. What a
// provider does not say meets none.
func (c *check) dataPolicy(p policy.Preferences) {
	if len(c.only) == 0 || slices.Contains(c.only, nil) {
		return
	}
	if p.RequireZDR && !slices.ContainsFunc(c.only, func(one *catalog.Provider) bool {
		return one.DataPolicy.ZeroDataRetention != nil && *one.DataPolicy.ZeroDataRetention
	}) {
		c.add("provider.require_zero_data_retention", Contradiction, "no provider of provider.only promises it")
	}
	if p.DenyTraining && !slices.ContainsFunc(c.only, func(one *catalog.Provider) bool {
		return one.DataPolicy.Trains != nil && !*one.DataPolicy.Trains
	}) {
		c.add("provider.deny_training", Contradiction, "no provider of provider.only promises it")
	}
}

func (c *check) price(path string, p *money.PerMillion) {
	if p != nil && *p < 0 {
		c.add(path, rule.OutOfRange, "must be zero or more")
	}
}

func (c *check) retries(n *int) {
	if n != nil && (*n < 0 || *n > policy.MaxRetries) {
		c.add("retries", rule.OutOfRange, fmt.Sprintf("must be from 0 to %d", policy.MaxRetries))
	}
}

func (c *check) timeouts(t policy.Timeouts) {
	between := func(path string, d, high time.Duration) {
		if d != 0 && (d < minTimeout || d > high) {
			c.add(path, rule.OutOfRange, fmt.Sprintf("must be from %d to %d", minTimeout.Milliseconds(), high.Milliseconds()))
		}
	}
	between("timeouts.first_byte_ms", t.FirstByte, maxFirstByte)
	between("timeouts.request_ms", t.Request, maxRequest)
	if t.Request != 0 && t.FirstByte > t.Request {
		c.add("timeouts.first_byte_ms", Contradiction, "must not be above request_ms")
	}
}
