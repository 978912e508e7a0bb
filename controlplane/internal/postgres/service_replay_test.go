package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// reads is a graph that asks for something of the metadata, and avoids a
// provider where it is "pro".
func reads(path, provider string) []byte {
	return fmt.Appendf(nil, `{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"c"},
		{"id":"c","type":"condition","when":{"source":"metadata","path":%q,"op":"equals","value":"pro"},"true":"m","false":"e"},
		{"id":"m","type":"model","provider":{"ignore":[%q]},"next":"e"},{"id":"e","type":"end"}]}`, path, provider)
}

func input(path string) flow.Input { return flow.Input{Source: condition.Metadata, Path: path} }

// What gateways record follows the versions that may be replayed: a draft as
// soon as it is saved.
func TestWhatIsRecordedFollowsTheVersions(t *testing.T) {
	s := openServices(t)
	created, other := s.create(t, "acme"), s.create(t, "other")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	require.Empty(t, s.snapshot(t, ws).Recordings)
	require.Empty(t, s.snapshot(t, ws).ReplayKey, "nobody needs it")
	out, err := s.routes.Create(t.Context(), ws, by, dynamicroute.NewRoute{Name: "plans", Config: reads("one", "north")})
	require.NoError(t, err)
	r := out.Detail.Route
	recorded := func(reads ...flow.Input) {
		t.Helper()
		require.Equal(t, []policy.Recording{{Route: r.ID, Reads: reads}}, s.snapshot(t, ws).Recordings)
	}
	recorded(input("one"))
	before := s.snapshot(t, ws)
	require.Len(t, before.ReplayKey, policy.ReplayKeyLen)
	require.Equal(t, policy.Schema, before.Schema, "who does not know it only keeps less")
	s.deployed(t, r, 1)
	recorded(input("one"))
	s.save(t, r, reads("two", "north"))
	recorded(input("one"), input("two"))
	s.save(t, r, reads("three", "north"))
	recorded(input("one"), input("three"))
	s.deployed(t, r, 3)
	recorded(input("three"))
	s.save(t, r, reads("four", "north"))
	paused := dynamicroute.Paused
	_, err = s.routes.Update(t.Context(), ws, r.ID, operator, dynamicroute.Patch{Status: &paused})
	require.NoError(t, err)
	recorded(input("three"), input("four"))
	require.Equal(t, before.ReplayKey, s.snapshot(t, ws).ReplayKey, "it never changes")

	s.route(t, other.Workspace.ID, operator, "theirs")
	require.NotEqual(t, before.ReplayKey, s.snapshot(t, other.Workspace.ID).ReplayKey, "each workspace has its own")
	_, err = s.routes.Delete(t.Context(), ws, r.ID, operator, r.Name, nil)
	require.NoError(t, err)
	require.Empty(t, s.snapshot(t, ws).Recordings)
}

// replayBench is a workspace with a route whose deployed version avoids south,
// and whose second avoids north.
type replayBench struct {
	*services
	t       *testing.T
	ws      id.Workspace
	route   dynamicroute.Route
	key     id.Key
	usage   *UsageStore
	service *replay.Service
	last    uint64
}

func newReplayBench(t *testing.T) *replayBench {
	s := openServices(t)
	created := s.create(t, "acme")
	b := &replayBench{services: s, t: t, ws: created.Workspace.ID, key: s.key(t, created, "one").ID}
	out, err := s.routes.Create(t.Context(), b.ws, operator, dynamicroute.NewRoute{Name: "plans", Config: reads("plan", "south")})
	require.NoError(t, err)
	b.route = out.Detail.Route
	_, err = s.routes.SetKeys(t.Context(), b.ws, b.route.ID, operator, []id.Key{b.key}, nil)
	require.NoError(t, err)
	s.deployed(t, b.route, 1)
	s.save(t, b.route, reads("plan", "north"))
	b.usage = NewUsageStore(s.db, testIDs, s.clock.now)
	b.service = replay.NewService(replay.Deps{
		Runner: s.db.Runner(), Routes: NewRouteStore(), Versions: NewRouteVersionStore(), Keys: NewRouteKeys(), Policies: NewCompiler(s.db),
		Log: NewReplayLog(), Source: source{keyless()}, Now: s.clock.now,
	})
	return b
}

// keyless is the offered catalog with providers that need no key.
func keyless() catalog.Catalog {
	c := offered()
	for i := range c.Providers {
		c.Providers[i].Keyless = true
	}
	return c
}

// ask decides a request as a gateway does.
func (b *replayBench) ask(plan string) []byte {
	b.t.Helper()
	view, err := policy.Compile(b.snapshot(b.t, b.ws))
	require.NoError(b.t, err)
	offered, err := catalog.Compile(keyless())
	require.NoError(b.t, err)
	decided := decide.Decide(decide.Input{Policy: view, Catalog: offered, Health: idle{}, Seed: 7, Facts: decide.Facts{
		Now: b.clock.now(), Surface: catalog.Chat, Model: "acme/small", Metadata: map[string]any{"plan": plan},
		Key: decide.KeyFacts{ID: b.key, Route: b.route.ID},
	}})
	raw, err := decided.Record.Encode()
	require.NoError(b.t, err)
	return raw
}

type idle struct{}

func (idle) Endpoint(string) decide.EndpointHealth            { return decide.EndpointHealth{} }
func (idle) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }

// logged writes a request to the log.
func (b *replayBench) logged(ws id.Workspace, at time.Time, change func(*usage.Entry)) {
	b.t.Helper()
	b.last++
	req := id.New[id.RequestKind](id.NewSource(func() time.Time { return at }, usageRandom{}))
	e := usage.Entry{
		ID: req, PrimaryID: req, Workspace: ws, Key: b.key, Gateway: id.New[id.GatewayKind](testIDs), Sequence: b.last, StartedAt: req.Time(),
		Surface: catalog.Chat, Outcome: wire.Success, Status: 200, DecidedModel: "acme/small", Provider: "north",
		Endpoint: catalog.EndpointID("north", "acme/small", ""), Duration: time.Second, Attempts: 1, Usage: meter.Usage{Input: 10},
	}
	change(&e)
	_, err := b.usage.WriteUsage(b.t.Context(), usage.Batch{Entries: []usage.Entry{e}})
	require.NoError(b.t, err)
}

// TestReplayReadsTheLog: the callers' requests of the attached keys count, in the
// time that is asked for, and no others.
func TestReplayReadsTheLog(t *testing.T) {
	b := newReplayBench(t)
	pro, free, at := b.ask("pro"), b.ask("free"), b.clock.now().Add(-time.Hour)
	require.NotContains(t, string(pro), `"pro"`)
	for i, decision := range [][]byte{pro, free, pro, nil} {
		b.logged(b.ws, at.Add(time.Duration(i)*time.Minute), func(e *usage.Entry) { e.Decision = decision })
	}
	south := catalog.EndpointID("south", "acme/small", "")
	for _, change := range []func(*usage.Entry){
		func(e *usage.Entry) { e.Key = id.New[id.KeyKind](testIDs) },
		func(e *usage.Entry) { e.Purpose = "classifier" },
		func(e *usage.Entry) { e.PrimaryID = id.New[id.RequestKind](testIDs) },
		func(e *usage.Entry) { e.Purpose, e.Endpoint, e.Duration = "health", south, 3*time.Second },
		func(e *usage.Entry) {
			e.Purpose, e.Endpoint, e.Duration, e.Outcome = "health", south, time.Minute, wire.Failed
		},
	} {
		b.logged(b.ws, at, func(e *usage.Entry) { e.Decision = pro; change(e) })
	}
	b.logged(b.ws, b.clock.now().Add(-25*time.Hour), func(e *usage.Entry) { e.Decision = pro })
	theirs := b.create(t, "theirs")
	b.logged(theirs.Workspace.ID, at, func(e *usage.Entry) { e.Decision = pro })

	r, err := b.service.Replay(t.Context(), b.ws, b.route.ID, 2, replay.Query{})
	require.NoError(t, err)
	require.Equal(t, []int{2, 1, 4, 3, 2, 0}, []int{r.Version, r.Baseline, r.Requests, r.Comparable, r.Moved, r.Remodeled})
	require.Equal(t, []replay.Unknown{{Reason: replay.NotRecorded, Requests: 1}}, r.Unknown)
	require.Equal(t, replay.Latency{Requests: 2, Before: time.Second, After: 3 * time.Second}, r.Latency)
	require.Equal(t, at.Truncate(time.Millisecond), r.Oldest)

	r, err = b.service.Replay(t.Context(), b.ws, b.route.ID, 2, replay.Query{Limit: 2, Since: b.clock.now().Add(-30 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, []int{2, 1, 1}, []int{r.Requests, r.Comparable, r.Moved}, "the newest")
	require.True(t, r.Limited)

	_, err = b.service.Replay(t.Context(), theirs.Workspace.ID, b.route.ID, 2, replay.Query{})
	require.True(t, fault.Is(err, fault.NotFound))
	require.NoError(t, b.db.Runner().Read(t.Context(), theirs.Workspace.ID, func(ctx context.Context) error {
		keys, err := NewRouteKeys().Documents(ctx, theirs.Workspace.ID, b.route.ID)
		require.Empty(t, keys)
		return err
	}))
}
