package dynamicroute

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

// Warning is something about a graph that is worth a second look.
type Warning = flow.Problem

// pathConfig is where a graph stands in what a caller sends.
const pathConfig = "config"

// read makes a graph of what a caller sent, or notes everything that is wrong
// with it.
func (s *Service) read(ctx context.Context, v *rule.Violations, config []byte) (flow.Graph, []Warning, error) {
	offered, err := s.d.Offered.View(ctx)
	if err != nil {
		return flow.Graph{}, nil, err
	}
	g, report := flow.Read(config, routing.NewNames(offered, s.now()))
	for _, p := range report.Problems {
		v.Adopt(place(p))
	}
	return g, under(report.Warnings), nil
}

// place is a problem of a graph as a violation of what a caller sent.
func place(p flow.Problem) fault.Violation {
	return fault.Violation{Path: inConfig(p.Path), Node: p.Node, Code: p.Code, Message: p.Message}
}

func under(problems []flow.Problem) []Warning {
	list := make([]Warning, len(problems))
	for i, p := range problems {
		p.Path = inConfig(p.Path)
		list[i] = p
	}
	return list
}

func inConfig(path string) string {
	if path == "" {
		return pathConfig
	}
	return pathConfig + "." + path
}

// fits refuses a saved version that the catalog of now does not allow any
// more, with every problem.
func fits(v Version, names flow.Names) ([]Warning, error) {
	report := flow.Check(v.Graph, names)
	if report.OK() {
		return under(report.Warnings), nil
	}
	e := fault.Newf(fault.Conflict, "Version %d does not fit the catalog as it is now. Nothing was changed; save a version without what is wrong, and deploy that.", v.Number)
	for _, p := range report.Problems {
		e.Violations = append(e.Violations, place(p))
	}
	return nil, e
}
