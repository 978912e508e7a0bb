package decide_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

var now = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// world is a catalog, a workspace and what is known of endpoints.
type world struct {
	catalog  catalog.Catalog
	settings policy.Settings
	tags     []string
	health   health
	own      []policy.Credential // of the workspace's own
	cooling  []id.Credential     // of them
	auto     *policy.Auto
	guards   []policy.Guardrail
	rungs    map[decide.Rung]policy.Routing // set by profiles, a preset and a dynamic route
	route    *policy.Route                  // attached to the caller's key
	presets  map[string]*policy.PresetVersion
}

// The ids that the rungs' profiles get.
var (
	department = id.MustParse[id.DepartmentKind]("dept_01kb7n0z1v8q5r2m3t4w5x6y7a")
	profiles   = map[decide.Rung]id.Profile{
		decide.RungWorkspaceProfile: id.MustParse[id.ProfileKind]("profile_01kb7n0z1v8q5r2m3t4w5x6y7b"),
		decide.RungDepartment:       id.MustParse[id.ProfileKind]("profile_01kb7n0z1v8q5r2m3t4w5x6y7c"),
		decide.RungKey:              id.MustParse[id.ProfileKind]("profile_01kb7n0z1v8q5r2m3t4w5x6y7d"),
	}
)

// snapshot is the workspace's policy; key is what its key is bound to.
func (w *world) snapshot(key *decide.KeyFacts) policy.Snapshot {
	s := policy.Snapshot{
		Schema: policy.Schema, Workspace: id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z"),
		Revision: 3, Status: policy.WorkspaceActive, Settings: w.settings, Tags: w.tags, Credentials: w.own, Auto: w.auto,
		Guardrails: w.guards,
	}
	for _, rung := range []decide.Rung{decide.RungWorkspaceProfile, decide.RungDepartment, decide.RungKey} {
		set, ok := w.rungs[rung]
		if !ok {
			continue
		}
		s.Profiles = append(s.Profiles, policy.Profile{ID: profiles[rung], Name: rung.String(), Routing: set})
		switch rung {
		case decide.RungWorkspaceProfile:
			s.Profile = profiles[rung]
		case decide.RungDepartment:
			s.Departments = []policy.Department{{ID: department, Profile: profiles[rung]}}
			key.Department = department
		default:
			key.Profile = profiles[rung]
		}
	}
	if route := w.route; route != nil {
		s.Routes, key.Route = []policy.Route{*route}, route.ID
	} else if set, ok := w.rungs[decide.RungRoute]; ok {
		key.Route = routeID
		s.Routes = []policy.Route{routeOf(setting(set)...)}
	}
	return s
}

// under puts what the facts ask for under a preset that sets the rung's fields
// and stands for the model that was asked for.
func (w *world) under(set policy.Routing, f *decide.Facts) {
	name := &f.Model
	if f.Model == "" && len(f.Models) > 0 {
		f.Models = slices.Clone(f.Models)
		name = &f.Models[0]
	}
	if w.presets = maps.Clone(w.presets); w.presets == nil {
		w.presets = map[string]*policy.PresetVersion{}
	}
	w.presets["rung"] = preset("rung", policy.PresetConfig{Model: *name, Routing: set})
	*name = "@rung"
}

type health map[string]decide.EndpointHealth

func (h health) Endpoint(endpointID string) decide.EndpointHealth { return h[endpointID] }

func (health) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }

// known is health with the credentials that cool until a minute from now.
type known struct {
	health
	cooling []id.Credential
}

func (k known) Credential(credential id.Credential) decide.CredentialHealth {
	if slices.Contains(k.cooling, credential) {
		return decide.CredentialHealth{CoolingUntil: now.Add(time.Minute)}
	}
	return decide.CredentialHealth{}
}

// newWorld has acme/small at north, south and east (an aggregator), acme/big
// at north, acme/tiny:free at north and south, and acme/vec for embeddings.
func newWorld() *world {
	return &world{
		settings: policy.DefaultSettings(),
		health:   health{},
		presets:  map[string]*policy.PresetVersion{"mine": nil},
		catalog: catalog.Catalog{
			Schema: catalog.Schema, Revision: 7,
			Providers: []catalog.Provider{
				provider("north", func(p *catalog.Provider) {
					p.Aliases, p.Regions = []string{"nord"}, []string{"eu"}
					p.DataPolicy = catalog.DataPolicy{Trains: ptr(false), ZeroDataRetention: ptr(true)}
				}),
				provider("south", func(p *catalog.Provider) { p.Regions = []string{"us-east", "us-west"} }),
				provider("east", func(p *catalog.Provider) { p.Aggregator = true }),
				provider("anthropic", func(p *catalog.Provider) { p.Type = catalog.Anthropic }),
			},
			Models: []catalog.Model{
				model("acme/small", "north 1 4", "south 2 8", "east 3 9"),
				model("acme/big", "north 10 40"),
				model("acme/tiny:free", "north 0 0", "south 0 0"),
				model("acme/tiny", "north 0.1 0.2"),
				model("zeta/small", "south 1 1"),
				model("acme/vec", "north 0.01 0"),
			},
		},
	}
}

func provider(slug string, change func(*catalog.Provider)) catalog.Provider {
	p := catalog.Provider{
		Slug: slug, Type: catalog.OpenAICompatible, BaseURL: "https://" + slug + ".example/v1",
		Credential: secret.Sealed("sealed"),
	}
	if change != nil {
		change(&p)
	}
	return p
}

// model takes endpoints as "provider input output", prices in USD per million.
func model(modelID string, endpoints ...string) catalog.Model {
	author, name, _ := cut(modelID, '/')
	m := catalog.Model{ID: modelID, Author: author, Context: 100_000}
	if name == "vec" {
		m.Output = []catalog.Modality{catalog.Embedding}
	}
	for _, text := range endpoints {
		slug, prices, _ := cut(text, ' ')
		in, out, _ := cut(prices, ' ')
		m.Endpoints = append(m.Endpoints, catalog.Endpoint{
			ID: catalog.EndpointID(slug, modelID, ""), Provider: slug, UpstreamModel: name + "-v1",
			Price: &catalog.Price{Input: perMillion(in), Output: perMillion(out)},
		})
	}
	return m
}

func cut(text string, at byte) (before, after string, ok bool) {
	for i := range len(text) {
		if text[i] == at {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

func perMillion(usd string) *money.PerMillion {
	p, err := money.ParsePerMillion(usd)
	if err != nil {
		panic(err)
	}
	return &p
}

func ptr[T any](v T) *T { return &v }

// model gives the world's model for changing.
func (w *world) model(modelID string) *catalog.Model {
	for i := range w.catalog.Models {
		if w.catalog.Models[i].ID == modelID {
			return &w.catalog.Models[i]
		}
	}
	panic("no model " + modelID)
}

func (w *world) provider(slug string) *catalog.Provider {
	for i := range w.catalog.Providers {
		if w.catalog.Providers[i].Slug == slug {
			return &w.catalog.Providers[i]
		}
	}
	panic("no provider " + slug)
}

func (w *world) input(t require.TestingT, facts decide.Facts) decide.Input {
	view, err := catalog.Compile(w.catalog)
	require.NoError(t, err)
	pol, err := policy.Compile(w.snapshot(&facts.Key))
	require.NoError(t, err)
	if set, ok := w.rungs[decide.RungPreset]; ok {
		w.under(set, &facts)
	}
	if facts.Surface == "" {
		facts.Surface = catalog.Chat
	}
	facts.Now = now
	return decide.Input{Policy: pol, Catalog: view, Health: known{w.health, w.cooling}, Facts: facts, Presets: w.presets, Seed: 42}
}

func (w *world) decide(t testing.TB, facts decide.Facts) decide.Plan {
	t.Helper()
	return decide.Decide(w.input(t, facts))
}

// order is the plan's chain as endpoint ids.
func order(p decide.Plan) []string {
	var ids []string
	for _, step := range p.Chain {
		for _, c := range step.Candidates {
			ids = append(ids, c.Endpoint.ID)
		}
	}
	return ids
}
