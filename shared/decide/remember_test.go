package decide_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// answered is a plan that a provider answered.
func (w *world) answered(t *testing.T, c decide.Conversation, facts decide.Facts, by string, change func(*decide.Turn)) (decide.Memory, *decide.AffinityTrace) {
	t.Helper()
	plan := w.turn(t, c, facts)
	require.Nil(t, plan.Refusal)
	for _, step := range plan.Chain {
		for _, candidate := range step.Candidates {
			if candidate.Provider.Slug != by {
				continue
			}
			turn := decide.Turn{Conversation: c, Named: facts.Model != "" || len(facts.Models) > 0, Model: step.Model, Candidate: candidate}
			if change != nil {
				change(&turn)
			}
			before := *plan.Record.Affinity
			m, trace := decide.Remember(plan.Record.Affinity, turn)
			require.Equal(t, before, *plan.Record.Affinity, "the plan's own account stays")
			return m, trace
		}
	}
	require.FailNow(t, "no candidate", by)
	return decide.Memory{}, nil
}

var smallAt = func(slug string) decide.Pin {
	return decide.Pin{Model: "acme/small", Provider: slug, Endpoint: slug + ":acme/small"}
}

func failed(slug string, status int, credential decide.CredentialSource) func(*decide.Turn) {
	return func(t *decide.Turn) {
		t.Attempts = []decide.AttemptRecord{{Provider: slug, Endpoint: slug + ":acme/small", Failure: "x", Status: status, Credential: credential}, {Provider: "north"}}
	}
}

func TestWhenAPinIsMadeKeptAndMoved(t *testing.T) {
	small := decide.Facts{Model: "acme/small"}
	sort := decide.Facts{Model: "acme/small", Provider: decide.Preferences{Sort: "price"}}
	standIn := &catalog.Model{ID: "acme/small"}
	open := func(w *world) { w.health["south:acme/small"] = decide.EndpointHealth{Open: true} }
	for name, c := range map[string]struct {
		world  func(*world)
		pins   decide.Conversation
		facts  decide.Facts
		turn   func(*decide.Turn)
		pin    decide.Pin
		was    string
		broken decide.CacheBreak
		moved  string
	}{
		"the first answer of a session": {pins: pinned(), facts: small, pin: smallAt("north")},
		"a later one":                   {pins: pinned("north"), facts: small, pin: smallAt("north")},
		"got round a 500 once":          {pins: pinned("south"), facts: small, turn: failed("south", 500, decide.CredentialManaged)},
		"got round a 429": {
			pins: pinned("south"), facts: small, turn: failed("south", 429, decide.CredentialManaged),
			pin: smallAt("north"), was: "south:acme/small", broken: decide.BreakQuota, moved: "north:acme/small",
		},
		"got round a 402": {
			pins: pinned("south"), facts: small, turn: failed("south", 402, decide.CredentialManaged),
			pin: smallAt("north"), was: "south:acme/small", broken: decide.BreakQuota, moved: "north:acme/small",
		},
		"got round a 429 of the workspace's own key": {pins: pinned("south"), facts: small, turn: failed("south", 429, decide.CredentialBYOK)},
		"the breaker was open": {
			world: open, pins: pinned("south"), facts: small,
			pin: smallAt("north"), was: "south:acme/small", broken: decide.BreakOpen, moved: "north:acme/small",
		},
		"the breaker was open, and only it answered": {world: func(w *world) {
			w.health["north:acme/small"] = decide.EndpointHealth{Open: true}
		}, pins: pinned("north"), facts: small, pin: smallAt("north")},
		"sorted otherwise": {pins: pinned("south"), facts: sort},
		"the pin of one that stood in found its quota used up": {
			pins: pinned("north:acme/big", "east"), facts: decide.Facts{Model: "acme/big", Models: []string{"acme/small"}},
			turn: func(turn *decide.Turn) {
				turn.Attempts = []decide.AttemptRecord{{Provider: "east", Endpoint: "east:acme/small", Failure: "x", Status: 429}, {Provider: "north"}}
				turn.Model = standIn
				turn.Candidate.Endpoint = &catalog.Endpoint{ID: "north:acme/small"}
			},
			pin: smallAt("north"), was: "east:acme/small",
		},
		"of another model": {pins: pinned("north:acme/big"), facts: small, pin: smallAt("north")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if c.world != nil {
				c.world(w)
			}
			m, trace := w.answered(t, c.pins, c.facts, "north", c.turn)
			require.Equal(t, c.pin, m.Pin)
			require.Equal(t, c.was, m.Was)
			require.Equal(t, c.broken, trace.Break)
			require.Equal(t, c.moved, trace.MovedTo)
			require.False(t, trace.MovedTo != "" && trace.Break == "", "a move has its reason")
			require.Equal(t, c.pin != decide.Pin{}, m.Lifetime > 0)
		})
	}
}

func TestOnlySeenCachingPinsAnOpeningWithoutMarks(t *testing.T) {
	opening := decide.Conversation{Source: decide.FromOpening}
	small := decide.Facts{Model: "acme/small"}
	price := func(cached string) func(*world) {
		return func(w *world) { w.model("acme/small").Endpoints[0].Price.CachedInput = perMillion(cached) }
	}
	for name, c := range map[string]struct {
		world func(*world)
		usage meter.Usage
		want  bool
	}{
		"nothing cached":           {price("0.1"), meter.Usage{Input: 10}, false},
		"read":                     {price("0.1"), meter.Usage{Input: 10, CachedRead: 5}, true},
		"written for five minutes": {price("0.1"), meter.Usage{CacheWrite5m: 1}, true},
		"written for an hour":      {price("0.1"), meter.Usage{CacheWrite1h: 1}, true},
		"no cheaper":               {price("1"), meter.Usage{CachedRead: 5}, false},
		"price not known":          {func(*world) {}, meter.Usage{CachedRead: 5}, false},
		"no price":                 {func(w *world) { w.model("acme/small").Endpoints[0].Price = nil }, meter.Usage{CachedRead: 5}, false},
		"estimated":                {price("0.1"), meter.Usage{CachedRead: 5, Estimated: true}, false},
	} {
		w := newWorld()
		c.world(w)
		m, _ := w.answered(t, opening, small, "north", func(turn *decide.Turn) { turn.Usage = c.usage })
		require.Equal(t, c.want, m.Pin == smallAt("north"), name)
		marked := opening
		marked.Sure = true
		m, _ = w.answered(t, marked, small, "north", func(turn *decide.Turn) { turn.Usage = c.usage })
		require.Equal(t, smallAt("north"), m.Pin, name)
	}
}

func TestLifetimes(t *testing.T) {
	small := decide.Facts{Model: "acme/small"}
	key := decide.Conversation{Source: decide.FromCacheKey, Sure: true}
	for name, c := range map[string]struct {
		pins decide.Conversation
		kind catalog.ProviderType
		turn func(*decide.Turn)
		want time.Duration
	}{
		"a session":           {pinned(), catalog.OpenAICompatible, nil, 24 * time.Hour},
		"the type's":          {key, catalog.OpenAI, nil, time.Hour},
		"the least":           {key, catalog.OpenAICompatible, nil, 15 * time.Minute},
		"asked for":           {key, catalog.OpenAI, func(t *decide.Turn) { t.CacheAsked = 24 * time.Hour }, 24 * time.Hour},
		"asked for too much":  {key, catalog.OpenAI, func(t *decide.Turn) { t.CacheAsked = 48 * time.Hour }, 24 * time.Hour},
		"written for an hour": {key, catalog.Anthropic, func(t *decide.Turn) { t.Usage.CacheWrite1h = 1 }, time.Hour},
	} {
		w := newWorld()
		w.provider("north").Type = c.kind
		m, _ := w.answered(t, c.pins, small, "north", c.turn)
		require.Equal(t, c.want, m.Lifetime, name)
	}
}

func TestOnlyTurnsWithoutAModelPinOne(t *testing.T) {
	w := newWorld()
	w.settings.DefaultModel, w.settings.FallbackModels = "acme/small", []string{"acme/big"}
	m, _ := w.answered(t, pinned(), decide.Facts{}, "north", nil)
	require.Equal(t, "acme/small", m.Model)
	m, _ = w.answered(t, pinned(), decide.Facts{Model: "acme/small"}, "north", nil)
	require.Empty(t, m.Model)
	w.settings.ModelsWithoutModel = "use_first"
	m, _ = w.answered(t, pinned(), decide.Facts{Models: []string{"acme/small"}}, "north", nil)
	require.Empty(t, m.Model, "models names one")
	key := decide.Conversation{Source: decide.FromCacheKey, Sure: true}
	m, _ = w.answered(t, key, decide.Facts{}, "north", nil)
	require.Empty(t, m.Model, "of a session alone")

	session := pinned()
	session.Model = "acme/small"
	fell := func(turn *decide.Turn) { turn.Model = w.model("acme/big") }
	m, trace := w.answered(t, session, decide.Facts{}, "north", fell)
	require.Equal(t, "acme/big", m.Model)
	require.Equal(t, "acme/small", m.ModelWas)
	require.Equal(t, decide.BreakFailed, trace.ModelBreak)
}

func TestNothingIsRememberedOfNoConversation(t *testing.T) {
	m, trace := decide.Remember(nil, decide.Turn{})
	require.Zero(t, m)
	require.Nil(t, trace)
	off := &decide.AffinityTrace{Off: "provider.cache_aware_routing"}
	m, trace = decide.Remember(off, decide.Turn{})
	require.Zero(t, m)
	require.Equal(t, off, trace)
}
