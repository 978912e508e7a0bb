package override

import (
	"context"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Rule is a model's rule with where it comes from.
type Rule struct {
	catalog.Rule
	Operators bool // in the overrides; else in a catalog file
}

// Rules are a model's rules in the order in which they are looked at, with the
// version of the overrides. It fails with not_found for a model that is not
// offered, and with conflict while the overrides do not fit the offered catalog.
func (s *Service) Rules(ctx context.Context, model string) (rules []Rule, version int64, err error) {
	st, problems, err := s.Get(ctx)
	if err != nil {
		return nil, 0, err
	}
	if len(problems) > 0 {
		return nil, 0, fault.New(fault.Conflict, "The operator's catalog does not fit the catalog of this control plane; GET /v1/platform/catalog lists the problems.")
	}
	offered, err := st.over(s.d.Base)
	if err != nil {
		return nil, 0, err
	}
	for i := range offered.Models {
		if offered.Models[i].ID != model {
			continue
		}
		m := st.Document.model(model)
		own := m.entries("rules")
		rules = make([]Rule, len(offered.Models[i].Rules))
		for j, r := range offered.Models[i].Rules {
			rules[j] = Rule{Rule: r, Operators: find(own, ruleName, r.Name) >= 0}
		}
		return rules, st.Version, nil
	}
	return nil, 0, noModel()
}

// offered fails with not_found where neither the offered catalog nor the
// overrides have the model.
func (s *Service) offered(st *State, model string) error {
	there := slices.ContainsFunc(s.d.Base.Models, func(m catalog.Model) bool { return m.ID == model })
	if there || find(st.Document.Models, modelName, model) >= 0 {
		return nil
	}
	return noModel()
}

func noModel() error { return fault.New(fault.NotFound, "The catalog has no such model.") }
