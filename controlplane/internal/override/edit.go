package override

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Replace makes a document the whole of the overrides. Keys of providers that
// stay are kept where the document has none.
func (s *Service) Replace(ctx context.Context, o Options, document json.RawMessage) (Changed, error) {
	return s.change(ctx, o, edit{
		action: "catalog.replace", kind: "catalog", target: "catalog",
		apply: func(st *State) error {
			d, err := parse(document)
			if err != nil {
				return err
			}
			st.Document = Document{Models: d.Models}
			for i, e := range d.Providers {
				if err := s.takeKey(st, e, slugName(e), fmt.Sprintf("providers[%d].api_key", i)); err != nil {
					return err
				}
				st.Document.Providers = append(st.Document.Providers, e)
			}
			return nil
		},
	})
}

// PutProvider makes e the override of a provider. Without an api_key the one
// that it has stays; null takes it away.
func (s *Service) PutProvider(ctx context.Context, o Options, slug string, e Entry) (Changed, error) {
	return s.change(ctx, o, edit{
		action: "provider.put", kind: "provider", target: slug,
		where: func(st *State) string {
			return fmt.Sprintf("providers[%d]", find(st.Document.Providers, slugName, slug))
		},
		apply: func(st *State) error {
			e := maps.Clone(e) // the change may run again
			if err := e.mustBe("slug", slug); err != nil {
				return err
			}
			if err := s.takeKey(st, e, slug, "api_key"); err != nil {
				return err
			}
			st.Document.Providers = put(st.Document.Providers, slugName, e)
			return nil
		},
	})
}

// RemoveProvider takes a provider's override and key away. It fails with
// not_found.
func (s *Service) RemoveProvider(ctx context.Context, o Options, slug string) (Changed, error) {
	return s.change(ctx, o, edit{action: "provider.remove", kind: "provider", target: slug, apply: func(st *State) (err error) {
		var ok bool
		if st.Document.Providers, ok = without(st.Document.Providers, slugName, slug); !ok {
			err = noSuch("provider")
		}
		return err
	}})
}

// PutModel makes e the override of a model, with its endpoints and rules.
func (s *Service) PutModel(ctx context.Context, o Options, model string, e Entry) (Changed, error) {
	return s.change(ctx, o, edit{
		action: "model.put", kind: "model", target: model, where: modelAt(model, "", nil, ""),
		apply: func(st *State) error {
			e := maps.Clone(e) // the change may run again
			if err := e.mustBe("id", model); err != nil {
				return err
			}
			st.Document.Models = put(st.Document.Models, modelName, e)
			return nil
		},
	})
}

// RemoveModel takes a model's override away, with its endpoints and rules. It
// fails with not_found.
func (s *Service) RemoveModel(ctx context.Context, o Options, model string) (Changed, error) {
	return s.change(ctx, o, edit{action: "model.remove", kind: "model", target: model, apply: func(st *State) (err error) {
		var ok bool
		if st.Document.Models, ok = without(st.Document.Models, modelName, model); !ok {
			err = noSuch("model")
		}
		return err
	}})
}

// PutEndpoint makes e the override of a model's endpoint, named by provider or
// provider@region.
func (s *Service) PutEndpoint(ctx context.Context, o Options, model, endpoint string, e Entry) (Changed, error) {
	return s.change(ctx, o, edit{
		action: "endpoint.put", kind: "endpoint", target: model + " " + endpoint,
		where: modelAt(model, "endpoints", endpointName, endpoint),
		apply: func(st *State) error {
			e := maps.Clone(e)
			provider, region, _ := strings.Cut(endpoint, "@")
			if err := e.mustBe("provider", provider); err != nil {
				return err
			}
			if region != "" || e["region"] != nil {
				if err := e.mustBe("region", region); err != nil {
					return err
				}
			}
			m := st.Document.model(model)
			m.setEntries("endpoints", put(m.entries("endpoints"), endpointName, e))
			st.Document.setModel(m)
			return nil
		},
	})
}

// RemoveEndpoint takes the override of an endpoint away. It fails with
// not_found.
func (s *Service) RemoveEndpoint(ctx context.Context, o Options, model, endpoint string) (Changed, error) {
	return s.remove(ctx, o, item{"endpoint", "endpoints", endpointName, model, endpoint})
}

// RemoveRule takes the override of a rule away. It fails with not_found.
func (s *Service) RemoveRule(ctx context.Context, o Options, model, name string) (Changed, error) {
	return s.remove(ctx, o, item{"rule", "rules", ruleName, model, name})
}

// item is one entry of a list of a model's.
type item struct {
	kind, list  string
	named       func(Entry) string
	model, name string
}

func (s *Service) remove(ctx context.Context, o Options, i item) (Changed, error) {
	return s.change(ctx, o, edit{action: i.kind + ".remove", kind: i.kind, target: i.model + " " + i.name, apply: func(st *State) error {
		m := st.Document.model(i.model)
		left, ok := without(m.entries(i.list), i.named, i.name)
		if !ok {
			return noSuch(i.kind)
		}
		m.setEntries(i.list, left)
		st.Document.setModel(m)
		return nil
	}})
}

// PutRule makes e the rule of a name on a model. position is its place among
// the operator's rules of the model, from 0; nil leaves it where it is, and
// puts a new one at the end. It fails with not_found for a model that is not
// offered: a rule makes none.
func (s *Service) PutRule(ctx context.Context, o Options, model, name string, e Entry, position *int) (Changed, error) {
	return s.change(ctx, o, edit{
		action: "rule.put", kind: "rule", target: model + " " + name, where: modelAt(model, "rules", ruleName, name),
		apply: func(st *State) error {
			e := maps.Clone(e) // the change may run again
			if err := e.mustBe("name", name); err != nil {
				return err
			}
			if err := s.offered(st, model); err != nil {
				return err
			}
			m := st.Document.model(model)
			rules := put(m.entries("rules"), ruleName, e)
			if position != nil {
				rules, _ = without(rules, ruleName, name)
				rules = slices.Insert(rules, min(*position, len(rules)), e)
			}
			m.setEntries("rules", rules)
			st.Document.setModel(m)
			return nil
		},
	})
}

// OrderRules puts a model's rules in the order of names, which are all of the
// operator's. It fails with not_found for a model that is not offered.
func (s *Service) OrderRules(ctx context.Context, o Options, model string, names []string) (Changed, error) {
	return s.change(ctx, o, edit{action: "rule.order", kind: "model", target: model, apply: func(st *State) error {
		if err := s.offered(st, model); err != nil {
			return err
		}
		m := st.Document.model(model)
		rules := m.entries("rules")
		ordered := make([]Entry, 0, len(rules))
		for _, name := range names {
			if at := find(rules, ruleName, name); at >= 0 && find(ordered, ruleName, name) < 0 {
				ordered = append(ordered, rules[at])
			}
		}
		if len(ordered) != len(rules) || len(names) != len(rules) {
			return fault.Invalid(fault.Violation{Path: "order", Code: rule.NotAllowed, Message: "want the name of each of the operator's rules on this model once"})
		}
		m.setEntries("rules", ordered)
		st.Document.setModel(m)
		return nil
	}})
}

// mustBe sets the member that the path of the call names already; another
// value in the body is a contradiction.
func (e Entry) mustBe(name, want string) error {
	if raw, there := e[name]; there && e.text(name) != want && string(raw) != "null" {
		return fault.Invalid(fault.Violation{Path: name, Code: rule.NotAllowed, Message: "differs from the one in the path"})
	}
	e.set(name, want)
	return nil
}

// takeKey moves a provider's api_key out of its entry, sealed.
func (s *Service) takeKey(st *State, e Entry, slug, path string) error {
	delete(e, "api_key_set") // of an earlier answer
	raw, there := e["api_key"]
	delete(e, "api_key")
	text := ""
	switch {
	case !there:
		return nil
	case string(raw) == "null":
		delete(st.Keys, slug)
		return nil
	case json.Unmarshal(raw, &text) != nil || text == "" || strings.Contains(text, "${"):
		return fault.Invalid(fault.Violation{Path: path, Code: rule.Malformed, Message: "want the key itself as text, or null to take it away; only catalog files may name environment variables"})
	}
	key := secret.NewString(text)
	if err := s.fits(e, slug, path, key); err != nil {
		return err
	}
	if s.d.Sealer == nil {
		return fault.Invalid(fault.Violation{Path: path, Code: rule.NotAllowed, Message: "this control plane has no keyring to seal it with; set keyring_file"})
	}
	sealed, err := s.d.Sealer.Seal(key, "platform", slug)
	if err != nil {
		return fmt.Errorf("seal the key of a provider: %w", err)
	}
	st.Keys[slug] = sealed
	return nil
}

// modelAt is the path of a model's entry, or of an item of one of its lists.
func modelAt(model, list string, named func(Entry) string, name string) func(*State) string {
	return func(st *State) string {
		at := find(st.Document.Models, modelName, model)
		path := fmt.Sprintf("models[%d]", at)
		if list == "" || at < 0 {
			return path
		}
		return fmt.Sprintf("%s.%s[%d]", path, list, find(st.Document.Models[at].entries(list), named, name))
	}
}

// refused words what is wrong with the merged catalog. Paths within what the
// caller sent are relative to it; others are of the whole document.
func refused(err error, where func(*State) string, after *State) error {
	problems := problemsOf(err)
	if problems == nil {
		return err
	}
	prefix := ""
	if where != nil {
		prefix = where(after)
	}
	list := make([]fault.Violation, len(problems))
	for i, p := range problems {
		path := p.Path
		if inner, ok := strings.CutPrefix(path, prefix); ok && prefix != "" {
			path = strings.TrimPrefix(inner, ".")
		}
		list[i] = fault.Violation{Path: path, Code: rule.Malformed, Message: p.Message}
	}
	return fault.Invalid(list...)
}

func problemsOf(err error) catalog.Problems {
	problems, _ := errors.AsType[catalog.Problems](err)
	return problems
}
