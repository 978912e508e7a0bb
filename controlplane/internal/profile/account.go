package profile

import (
	"strconv"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// inUse refuses the deletion of a profile and says where to unbind it.
func inUse(b Bindings) error {
	var uses rule.Uses
	if b.Workspace {
		uses.Add("settings.routing_profile_id", "the whole workspace")
	}
	for _, d := range b.Departments {
		uses.Add("departments", "the department "+d.String())
	}
	for _, k := range b.Keys {
		uses.Add("keys", "the API key "+k.String())
	}
	return uses.Refuse("The routing profile", "is bound to", "Unbind it there first.", b.More)
}

// diff is the account of a change for the audit log.
func diff(before, after Profile) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	b, a := before.Routing, after.Routing
	d.Text("routing.default_model", b.DefaultModel, a.DefaultModel)
	d.Bool("routing.auto", b.Auto, a.Auto)
	d.List("routing.fallback_models", b.FallbackModels, a.FallbackModels)
	d.Text("routing.routing_mode", string(b.Mode), string(a.Mode))
	providerDiff(&d, b.Provider, a.Provider)
	d.Text("routing.timeouts.first_byte_ms", millis(b.Timeouts.FirstByte), millis(a.Timeouts.FirstByte))
	d.Text("routing.timeouts.request_ms", millis(b.Timeouts.Request), millis(a.Timeouts.Request))
	d.Text("routing.retries", count(b.Retries), count(a.Retries))
	d.Text("routing.affinity", choice(b.Affinity), choice(a.Affinity))
	return d
}

func providerDiff(d *audit.Diff, b, a policy.Preferences) {
	d.List("routing.provider.order", b.Order, a.Order)
	d.List("routing.provider.only", b.Only, a.Only)
	d.List("routing.provider.ignore", b.Ignore, a.Ignore)
	d.Text("routing.provider.allow_fallbacks", choice(b.AllowFallbacks), choice(a.AllowFallbacks))
	d.Text("routing.provider.sort", string(b.Sort), string(a.Sort))
	d.Bool("routing.provider.require_parameters", b.RequireParameters, a.RequireParameters)
	d.Bool("routing.provider.require_zero_data_retention", b.RequireZDR, a.RequireZDR)
	d.Bool("routing.provider.deny_training", b.DenyTraining, a.DenyTraining)
	d.Text("routing.provider.required_region", b.Region, a.Region)
	d.Text("routing.provider.max_price.input", price(b.MaxInputPrice), price(a.MaxInputPrice))
	d.Text("routing.provider.max_price.output", price(b.MaxOutputPrice), price(a.MaxOutputPrice))
	d.Text("routing.provider.preferred_max_latency", seconds(b.PreferredMaxLatency), seconds(a.PreferredMaxLatency))
	d.Text("routing.provider.preferred_min_throughput", number(b.PreferredMinThroughput), number(a.PreferredMinThroughput))
	d.Text("routing.provider.cache_aware_routing", choice(b.CacheAware), choice(a.CacheAware))
}

// These write "" for what is not set.

func choice(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func price(p *money.PerMillion) string {
	if p == nil {
		return ""
	}
	return p.String()
}

func millis(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}

func seconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return number(d.Seconds())
}

func number(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
