// Package endpointhealth owns what a workspace is told of the health of the
// endpoints that it may use: what the gateways measured together, once there is
// enough of it. It measures nothing, and knows nothing of NATS, SQL or HTTP.
package endpointhealth

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Reports gives what gateways publish of endpoints. It fails with unavailable
// when none of them answers.
type Reports interface {
	Report(ctx context.Context) (wire.HealthReport, error)
}

// Reader runs fn in one read-only transaction of the workspace.
type Reader interface {
	Read(ctx context.Context, ws id.Workspace, fn func(ctx context.Context) error) error
}

// Policies compiles committed policy. It is called inside a transaction of ws.
type Policies interface {
	Policy(ctx context.Context, ws id.Workspace) (policy.Snapshot, error)
}

// Deps are what a Service works with.
type Deps struct {
	Runner   Reader
	Policies Policies
	Reports  Reports
	Source   routing.Source
	Now      func() time.Time
}

// Service joins reports with what a workspace may see.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Filter narrows the endpoints; zero fields do not.
type Filter struct {
	Model    string // an id, an alias or a bare name
	Provider string // a slug or an alias
}

// Endpoint is one endpoint with its health.
type Endpoint struct {
	catalog.Offer
	Health *wire.ReportedHealth // nil: too few requests to tell
}

// Listing is what was asked for, and when it was worked out.
type Listing struct {
	Endpoints []Endpoint // by model and then in the catalog's order
	MadeAt    time.Time
}

// List returns the endpoints that a request of the workspace may go to. Without a
// filter, those of which there is something to tell.
func (s *Service) List(ctx context.Context, ws id.Workspace, f Filter) (Listing, error) {
	view, err := s.d.Source.View(ctx)
	if err != nil {
		return Listing{}, fmt.Errorf("read the offered catalog: %w", err)
	}
	var snapshot policy.Snapshot
	err = s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		snapshot, err = s.d.Policies.Policy(ctx, ws)
		return err
	})
	if err != nil {
		return Listing{}, err
	}
	own, err := policy.Compile(snapshot)
	if err != nil {
		return Listing{}, fmt.Errorf("resolve the policy: %w", err)
	}
	report, err := s.d.Reports.Report(ctx)
	if err != nil {
		return Listing{}, err
	}
	known := make(map[string]*wire.ReportedHealth, len(report.Endpoints))
	for i := range report.Endpoints {
		known[report.Endpoints[i].ID] = &report.Endpoints[i]
	}
	list := Listing{MadeAt: report.MadeAt}
	for _, o := range s.visible(asked(view, f, known), view, own, f) {
		health := known[o.Endpoint.ID]
		if health != nil || f != (Filter{}) {
			list.Endpoints = append(list.Endpoints, Endpoint{Offer: o, Health: health})
		}
	}
	return list, nil
}

// visible are the endpoints that the filter asks for and a request of the
// workspace may go to on some surface, as GET /v1/models of a gateway lists them.
func (s *Service) visible(models []*catalog.Model, view *catalog.View, own *policy.View, f Filter) (visible []catalog.Offer) {
	in := decide.Input{Policy: own, Catalog: view, Facts: decide.Facts{Now: s.d.Now()}}
	in.Ladder = decide.Climb(&in) // once for all of them
	for _, m := range models {
		var found []catalog.Offer
		for _, offers := range decide.Usable(in, m, served(view.Offers(m))) {
			for _, o := range offers {
				if !slices.Contains(found, o) && named(view, o.Provider, f) {
					found = append(found, o)
				}
			}
		}
		visible = append(visible, found...)
	}
	return visible
}

// asked are the models that the filter names; without one for models, those with
// an endpoint of the provider, or of which there is something to tell.
func asked(view *catalog.View, f Filter, known map[string]*wire.ReportedHealth) (models []*catalog.Model) {
	if f.Model != "" {
		return view.Resolve(f.Model)
	}
	all := view.Models()
	for i := range all {
		if slices.ContainsFunc(view.Offers(&all[i]), func(o catalog.Offer) bool {
			return known[o.Endpoint.ID] != nil || f.Provider != "" && named(view, o.Provider, f)
		}) {
			models = append(models, &all[i])
		}
	}
	return models
}

// served are the surfaces that some of a model's endpoints serve.
func served(offers []catalog.Offer) (surfaces []catalog.Surface) {
	for _, surface := range catalog.Surfaces() {
		if slices.ContainsFunc(offers, func(o catalog.Offer) bool { return decide.Serves(&o, surface) }) {
			surfaces = append(surfaces, surface)
		}
	}
	return surfaces
}

// named reports that the filter lets a provider pass.
func named(view *catalog.View, p *catalog.Provider, f Filter) bool {
	if f.Provider == "" {
		return true
	}
	wanted, ok := view.Provider(f.Provider)
	return ok && wanted == p
}
