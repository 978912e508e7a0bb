package app

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/dataplane/internal/feed"
)

var errDraining = errors.New("the gateway is stopping")

// Ready is nil when requests can be decided: there is a catalog, and keys can
// be looked up in NATS or, while it is away, in what is held and on disk.
func (a *App) Ready() error {
	if a.server.draining.Load() {
		return errDraining
	}
	return a.policies.Ready()
}

func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, "ok\n"
	if err := s.app.Ready(); err != nil {
		status, text = http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n"
	}
	if r.URL.Query().Has("verbose") {
		text += s.app.describe()
	}
	plain(w, status, text)
}

// describe says what the gateway serves and how fresh it is.
func (a *App) describe() string {
	st, sp := a.feed.Status(), a.spool.Status()
	var b strings.Builder
	line := func(key string, value any) { fmt.Fprintf(&b, "%s: %v\n", key, value) }
	line("gateway", a.spool.GatewayID())
	line("version", a.deps.Version)
	line("nats", word(st.Connected, "connected", "away"))
	line("policy", word(st.Stale(), "stale: served from the last-known-good copy, not confirmed by NATS", "fresh"))
	line("catalog_revision", st.Policies.CatalogRevision)
	line("workspaces_held", st.Policies.Workspaces)
	line("workspaces_stale", st.Policies.Stale)
	line("keys_held", st.Keys.Held)
	line("keys_stale", st.Keys.Stale)
	caught := "never"
	if !st.CaughtUpAt.IsZero() {
		caught = st.CaughtUpAt.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	line("caught_up_at", caught)
	line("spool_pending", sp.Pending)
	line("spool_bytes", sp.Bytes)
	line("spool_held_by_disk", sp.Held)
	return b.String()
}

func word(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// status turns the feed's state into metrics when they are read.
type status struct {
	feed *feed.Feed
}

func newStatus(f *feed.Feed) *status { return &status{feed: f} }

func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("signalbox_gateway_"+name, help, nil, nil)
}

var (
	descConnected  = gauge("nats_connected", "1 while NATS is reachable. At 0 the gateway serves what it holds and refuses keys that it does not.")
	descStale      = gauge("policy_stale", "1 while something is served from disk that NATS has not confirmed. For more than seconds after a start it means that NATS is away.")
	descCatalog    = gauge("catalog_revision", "Revision of the catalog that is served. 0 is none, and nothing is served; gateways that differ for long miss pushes.")
	descWorkspaces = gauge("workspaces_held", "Workspaces whose policy is held. At its bound the least used are dropped and fetched again.")
	descKeys       = gauge("keys_held", "Key documents that are held. At its bound the least used are dropped and fetched again.")
	descBehind     = gauge("feed_behind_total", "Documents that only the poll brought; a steady rise means that pushes get lost.")
	descFailures   = gauge("feed_failures_total", "Polls of the published documents that failed. A steady rise points at NATS or at permissions.")
	descRejected   = gauge("policy_rejected_total", "Published bodies that were damaged or invalid; the last good one stayed. Any rise means that the control plane is newer than this gateway, or that NATS lost parts.")
	descUnknown    = gauge("keys_unknown_total", "First uses of a kid that does not exist. A rise means that somebody guesses, or that an application kept a deleted key.")
	descRefused    = gauge("key_lookups_refused_total", "First uses that the look-up budget held back: somebody guesses kids.")
	descUndecided  = gauge("undetermined_total", "Keys and policies that could not be determined; each was a 503.")
)

// Describe implements prometheus.Collector.
func (s *status) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, out) }

// Collect implements prometheus.Collector.
func (s *status) Collect(out chan<- prometheus.Metric) {
	st := s.feed.Status()
	flag := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	now := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	total := func(d *prometheus.Desc, v int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	now(descConnected, flag(st.Connected))
	now(descStale, flag(st.Stale()))
	now(descCatalog, float64(st.Policies.CatalogRevision))
	now(descWorkspaces, float64(st.Policies.Workspaces))
	now(descKeys, float64(st.Keys.Held))
	total(descBehind, st.Behind)
	total(descFailures, st.Failures)
	total(descRejected, st.Policies.Rejected)
	total(descUnknown, st.Keys.Unknown)
	total(descRefused, st.Keys.Refused)
	total(descUndecided, st.Keys.Failures+st.Policies.Failures)
}
