package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/dataplane/internal/feed"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
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

// readiness is what /readyz?verbose answers: what the gateway serves and how
// fresh it is.
type readiness struct {
	httpserver.Readiness
	Gateway         string     `json:"gateway"`
	Version         string     `json:"version"`
	CatalogRevision int64      `json:"catalog_revision"`
	WorkspacesHeld  int        `json:"workspaces_held"`
	WorkspacesStale int        `json:"workspaces_stale"`
	KeysHeld        int        `json:"keys_held"`
	KeysStale       int        `json:"keys_stale"`
	CaughtUpAt      *time.Time `json:"caught_up_at"` // null: not since the start
	SpoolPending    int64      `json:"spool_pending"`
	SpoolBytes      int64      `json:"spool_bytes"`
	SpoolHeld       int64      `json:"spool_held"` // records that the disk refused and memory keeps
}

func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	err := s.app.Ready()
	status, word := http.StatusOK, "ready\n"
	if err != nil {
		status, word = http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n"
	}
	if !r.URL.Query().Has("verbose") {
		plain(w, status, word)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(s.app.readiness(err)) // a caller that left needs no answer
}

func (a *App) readiness(err error) readiness {
	st, sp := a.feed.Status(), a.spool.Status()
	serving := httpserver.CheckResult{Name: "serving", OK: err == nil, Required: true, Detail: "has a catalog and can look keys up"}
	if err != nil {
		serving.Detail = err.Error()
	}
	r := readiness{
		Readiness: httpserver.Readiness{Ready: err == nil, Checks: []httpserver.CheckResult{
			serving,
			{Name: "nats", OK: st.Connected, Detail: word(st.Connected, "connected", "away")},
			{Name: "policy", OK: !st.Stale(), Detail: word(st.Stale(), "stale: served from the last-known-good copy, not confirmed by NATS", "fresh")},
			{Name: "spool", OK: sp.Held == 0, Detail: word(sp.Held == 0, "takes usage", "the disk refuses usage; memory keeps it")},
		}},
		Gateway: a.spool.GatewayID().String(), Version: a.deps.Version,
		CatalogRevision: st.Policies.CatalogRevision,
		WorkspacesHeld:  int(st.Policies.Workspaces), WorkspacesStale: int(st.Policies.Stale),
		KeysHeld: int(st.Keys.Held), KeysStale: int(st.Keys.Stale),
		SpoolPending: int64(sp.Pending), SpoolBytes: int64(sp.Bytes), SpoolHeld: int64(sp.Held),
	}
	if !st.CaughtUpAt.IsZero() {
		at := st.CaughtUpAt.UTC()
		r.CaughtUpAt = &at
	}
	return r
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
