package dynamicroute

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Warning is something about a graph that is worth a second look.
type Warning = flow.Problem

// pathConfig is where a graph stands in what a caller sends.
const pathConfig = "config"

// read makes a graph of what a caller sent, or notes everything that is wrong
// with it.
func (s *Service) read(ctx context.Context, ws id.Workspace, v *rule.Violations, config []byte) (flow.Graph, []Warning, error) {
	names, err := s.names(ctx, ws)
	if err != nil {
		return flow.Graph{}, nil, err
	}
	g, report := flow.Read(config, names)
	if err := names.Err(); err != nil {
		return flow.Graph{}, nil, err
	}
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

// fits refuses a saved version that the catalog and the workspace's presets of
// now do not allow any more, with every problem. It is called inside a
// transaction.
func (s *Service) fits(ctx context.Context, v Version, names *routing.Names) ([]Warning, error) {
	names = names.Within(ctx, s.d.Presets, v.Workspace)
	report := flow.Check(v.Graph, names)
	if err := names.Err(); err != nil {
		return nil, err
	}
	if report.OK() {
		return under(report.Warnings), nil
	}
	e := fault.Newf(fault.Conflict, "Version %d does not fit the catalog and the presets as they are now. Nothing was changed; save a version without what is wrong, and deploy that.", v.Number)
	for _, p := range report.Problems {
		e.Violations = append(e.Violations, place(p))
	}
	return nil, e
}
