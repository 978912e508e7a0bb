package main

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// chooser puts the providers in the order in which a request tries them. All
// of them fail over, and all put what is open or cooling last.
type chooser func(q request, v view) []int

// The policies' names.
const (
	balanced   = "balanced"
	roundRobin = "round-robin"
	latency    = "least latency"
	price      = "lowest price"
	oracle     = "oracle"
	// sluggish is balanced with times of half an hour where there are recent ones.
	sluggish = "balanced, half-hour times"
)

func policies() []string { return []string{balanced, sluggish, roundRobin, latency, price, oracle} }

func (s *simulation) chooser(name string) chooser {
	switch name {
	case roundRobin:
		turn := 0
		return func(_ request, v view) []int {
			turn++
			order := make([]int, len(s.scene.providers))
			for i := range order {
				order[i] = (turn + i) % len(order)
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last(v.behind(a)), last(v.behind(b))) })
			return order
		}
	case latency:
		return s.kernel(decide.Preferences{Sort: policy.Latency})
	case price:
		return s.kernel(decide.Preferences{Sort: policy.Price})
	case oracle:
		return s.oracle
	default:
		return s.kernel(decide.Preferences{})
	}
}

func last(b bool) int {
	if b {
		return 1
	}
	return 0
}

// kernel asks the product's own function.
func (s *simulation) kernel(p decide.Preferences) chooser {
	return func(q request, v view) []int {
		plan := decide.Decide(decide.Input{
			Policy: s.policy, Catalog: s.catalogAt(q.at), Health: v, Seed: q.seed,
			Facts: decide.Facts{
				Now: epoch.Add(q.at), Surface: catalog.Chat, Model: modelID, Provider: p,
				InputTokens: int64(q.input),
			},
		})
		if plan.Refusal != nil {
			panic(plan.Refusal) // the scene has no restriction
		}
		order := make([]int, 0, len(s.scene.providers))
		for _, c := range plan.Chain[0].Candidates {
			order = append(order, v.index[c.Endpoint.ID])
		}
		return order
	}
}

// oracle knows every condition as it is, and takes the least expected cost of
// an answer.
func (s *simulation) oracle(q request, _ view) []int {
	costs := make([]float64, len(s.scene.providers))
	order := make([]int, len(costs))
	for p := range costs {
		c := s.scene.at(p, q.at)
		good := outcome{firstByte: c.firstByte, took: c.firstByte + float64(q.output)/c.rate}
		lost := c.fails * c.firstByte // until the failure is seen
		costs[p] = (s.cost(q, c, good) + lost*s.perSecondLost()) / (1 - c.fails - c.limited)
		order[p] = p
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
	return order
}

const modelID = "acme/model"

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// catalogAt is the catalog with the prices of a moment.
func (s *simulation) catalogAt(now time.Duration) *catalog.View {
	key := ""
	for p := range s.scene.providers {
		c := s.scene.at(p, now)
		key += strconv.FormatFloat(c.input, 'g', -1, 64) + " " + strconv.FormatFloat(c.output, 'g', -1, 64) + " "
	}
	if v, ok := s.catalogs[key]; ok {
		return v
	}
	all := catalog.Catalog{Schema: catalog.Schema, Revision: 1}
	m := catalog.Model{ID: modelID, Author: "acme", Context: 1_000_000}
	for p, slug := range s.scene.providers {
		c := s.scene.at(p, now)
		all.Providers = append(all.Providers, catalog.Provider{
			Slug: slug, Type: catalog.OpenAICompatible, BaseURL: "https://" + slug + ".example/v1", Credential: secret.Sealed("none"),
		})
		in, out := money.PerMillion(c.input*1e9), money.PerMillion(c.output*1e9)
		m.Endpoints = append(m.Endpoints, catalog.Endpoint{
			ID: endpointID(slug), Provider: slug, UpstreamModel: "model", Price: &catalog.Price{Input: &in, Output: &out},
		})
	}
	all.Models = []catalog.Model{m}
	v, err := catalog.Compile(all)
	if err != nil {
		panic(err) // the scene is part of the program
	}
	s.catalogs[key] = v
	return v
}

func endpointID(slug string) string { return catalog.EndpointID(slug, modelID, "") }

func workspacePolicy() *policy.View {
	v, err := policy.Compile(policy.Snapshot{
		Schema: policy.Schema, Workspace: id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z"),
		Revision: 1, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings(),
	})
	if err != nil {
		panic(err) // the scene is part of the program
	}
	return v
}
