package postgres

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// straight is a graph that sends everything to acme/small; label tells one
// from another.
func straight(label string) []byte {
	return fmt.Appendf(nil, `{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},
		{"id":"m","type":"model","label":%q,"model":"acme/small","next":"e"},{"id":"e","type":"end"}]}`, label)
}

// split is a graph with a percentage.
func split(trial int) []byte {
	return fmt.Appendf(nil, `{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"p"},
		{"id":"p","type":"percentage","branches":[{"id":"stable","percent":%d,"next":"m"},{"id":"trial","percent":%d,"next":"e"}]},
		{"id":"m","type":"model","model":"acme/small","next":"e"},{"id":"e","type":"end"}]}`, 100-trial, trial)
}

// route creates a dynamic route with a graph as version 1.
func (s *services) route(t *testing.T, ws id.Workspace, by audit.By, name string) dynamicroute.Route {
	t.Helper()
	out, err := s.routes.Create(t.Context(), ws, by, dynamicroute.NewRoute{Name: name, Config: straight("1")})
	require.NoError(t, err)
	return out.Detail.Route
}

// save saves a graph that no other has and returns its number.
func (s *services) save(t *testing.T, r dynamicroute.Route, config []byte) int {
	t.Helper()
	out, err := s.routes.Save(t.Context(), r.Workspace, r.ID, operator, dynamicroute.NewVersion{Config: config})
	require.NoError(t, err)
	require.False(t, out.Unchanged)
	return out.Version.Number
}

func (s *services) deployed(t *testing.T, r dynamicroute.Route, number int) dynamicroute.Outcome {
	t.Helper()
	out, err := s.routes.Deploy(t.Context(), r.Workspace, r.ID, number, operator, nil)
	require.NoError(t, err)
	require.Equal(t, number, out.Detail.Deployed)
	return out
}

func (s *services) statuses(t *testing.T, r dynamicroute.Route) (list []string) {
	t.Helper()
	found, err := s.routes.History(t.Context(), r.Workspace, r.ID, page.Query{})
	require.NoError(t, err)
	for _, v := range found.Items {
		require.Empty(t, v.Graph.Nodes, "a list has no graphs")
		list = append(list, fmt.Sprintf("%d %s", v.Number, v.Status))
	}
	return list
}

func TestARouteLivesAndDies(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	out, err := s.routes.Create(t.Context(), ws, by, dynamicroute.NewRoute{Name: "Plan: paying?", Config: straight("1"), Note: "first"})
	require.NoError(t, err)
	r := out.Detail
	require.Equal(t, []any{"plan-paying", 1, 0, dynamicroute.Active}, []any{r.Slug, r.Latest, r.Deployed, r.Status})
	require.Equal(t, []any{"first", by.User, dynamicroute.Draft, 0}, []any{r.Newest.Note, r.Newest.CreatedBy, r.Newest.Status, r.Newest.Parent})
	require.Equal(t, "route.create", s.lastEvent(t, ws).Action)
	require.Empty(t, s.snapshot(t, ws).Routes, "a draft is not for gateways")
	got, err := s.routes.Get(t.Context(), ws, r.ID)
	require.NoError(t, err)
	require.Equal(t, r, got)

	deployed := s.deployed(t, r.Route, 1)
	require.Equal(t, "route.deploy", s.lastEvent(t, ws).Action)
	require.Equal(t, []audit.Change{{Path: "deployed_version", Before: "", After: "1"}}, s.lastEvent(t, ws).Diff)
	require.Equal(t, []policy.Route{{ID: r.ID, Name: r.Name, RouteVersion: r.Newest.Published()}}, s.snapshot(t, ws).Routes)
	require.Greater(t, s.snapshot(t, ws).Schema, policy.Schema)
	require.Equal(t, deployed.Publication.Revision, s.snapshot(t, ws).Revision)
	again := s.deployed(t, r.Route, 1)
	require.True(t, again.Unchanged, "what is deployed is not deployed again")
	require.Equal(t, deployed.Detail.Version, again.Detail.Version)
	require.Equal(t, deployed.Publication.Revision, s.snapshot(t, ws).Revision)

	require.Equal(t, 2, s.save(t, r.Route, straight("2")))
	require.Equal(t, 1, s.snapshot(t, ws).Routes[0].Version, "a draft replaces nothing")
	s.deployed(t, r.Route, 2)
	require.Equal(t, []string{"2 deployed", "1 superseded"}, s.statuses(t, r.Route))
	require.Equal(t, 2, s.snapshot(t, ws).Routes[0].Version)

	paused, err := s.routes.Update(t.Context(), ws, r.ID, by, dynamicroute.Patch{Status: ptr(dynamicroute.Paused), Description: ptr("for later")})
	require.NoError(t, err)
	require.Equal(t, 2, paused.Detail.Latest, "no version for what is no graph")
	require.Empty(t, s.snapshot(t, ws).Routes)
	_, err = s.routes.Update(t.Context(), ws, r.ID, by, dynamicroute.Patch{Status: ptr(dynamicroute.Active), Name: ptr("renamed")})
	require.NoError(t, err)
	require.Equal(t, "renamed", s.snapshot(t, ws).Routes[0].Name)

	_, err = s.routes.Delete(t.Context(), ws, r.ID, by, "Renamed", nil)
	require.True(t, fault.Is(err, fault.ValidationError))
	_, err = s.routes.Delete(t.Context(), ws, r.ID, by, "renamed", nil)
	require.NoError(t, err)
	require.Empty(t, s.snapshot(t, ws).Routes)
	_, err = s.routes.Get(t.Context(), ws, r.ID)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.routes.Deploy(t.Context(), ws, r.ID, 1, by, nil)
	require.True(t, fault.Is(err, fault.NotFound))
	require.Equal(t, []string{"2 deployed", "1 superseded"}, s.statuses(t, r.Route), "its history stays readable")
	v, err := s.routes.Version(t.Context(), ws, r.ID, 1)
	require.NoError(t, err)
	require.Equal(t, r.Newest.Graph, v.Graph)
	s.route(t, ws, by, "Renamed") // the name is free again
}

// Saving an unchanged graph makes nothing; what differs in blanks, in the order
// of members or in the spelling of a percent is unchanged.
func TestAnUnchangedGraphMakesNoVersion(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	require.Equal(t, 2, s.save(t, r, split(10)))
	revision := s.snapshot(t, ws).Revision
	var members map[string]any
	require.NoError(t, json.Unmarshal(split(10), &members))
	respelled, err := json.MarshalIndent(members, "", " ")
	require.NoError(t, err)
	for _, config := range [][]byte{split(10), respelled} {
		out, err := s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: config, Note: "again"})
		require.NoError(t, err)
		require.True(t, out.Unchanged)
		require.Equal(t, []any{2, ""}, []any{out.Version.Number, out.Version.Note})
	}
	updated, err := s.routes.Update(t.Context(), ws, r.ID, operator, dynamicroute.Patch{Config: respelled})
	require.NoError(t, err)
	require.Equal(t, 2, updated.Detail.Latest)
	require.Equal(t, revision+1, s.snapshot(t, ws).Revision)
	require.Equal(t, 3, s.save(t, r, straight("1")), "what an older version had is a new version")
}

// Slots are kept with a version, derived from the newest one or from the parent
// that is named.
func TestSlotsFollowTheParent(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	for i, trial := range []int{10, 20} {
		require.Equal(t, i+2, s.save(t, r, split(trial)))
	}
	out, err := s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: split(30), Parent: ptr(2)})
	require.NoError(t, err)
	require.Equal(t, 2, out.Version.Parent)
	total := 0
	stored, err := s.routes.Version(t.Context(), ws, r.ID, out.Version.Number)
	require.NoError(t, err)
	for _, run := range stored.Slots["p"] {
		if run.Branch == "trial" {
			total += run.Slots
		}
	}
	require.Equal(t, 3000, total)
	require.Equal(t, out.Version, stored)
	_, err = s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: split(40), Parent: ptr(9)})
	require.Equal(t, "parent", fault.Of(err).Violations[0].Path)
}

// Every mistake is listed at once, with its node, and nothing is stored.
func TestABadGraphIsRefusedWhole(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	before := s.snapshot(t, ws).Revision
	bad := []byte(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"p"},
		{"id":"p","type":"percentage","branches":[{"id":"a","percent":50,"next":"m"},{"id":"b","percent":49.99,"next":"nowhere"}]},
		{"id":"m","type":"model","model":"acme/none","provider":{"only":["nobody"]},"next":"e"},{"id":"e","type":"end"}]}`)
	_, err := s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: bad, Note: "\x00"})
	require.Equal(t, fault.ValidationError, fault.CodeOf(err))
	nodes := map[string]bool{}
	for _, v := range fault.Of(err).Violations {
		nodes[v.Node+" "+v.Path] = true
		require.NotContains(t, v.Message, "acme/none")
	}
	for _, want := range []string{" note", "p config.nodes[1].branches", "p config.nodes[1].branches[1].next", "m config.nodes[2].model", "m config.nodes[2].provider.only[0]"} {
		require.True(t, nodes[want], "%s in %v", want, nodes)
	}
	_, err = s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: "b", Config: bad})
	require.Equal(t, fault.ValidationError, fault.CodeOf(err))
	require.Equal(t, before, s.snapshot(t, ws).Revision)
	require.Equal(t, []string{"1 draft"}, s.statuses(t, r))
}

// over are the routes over another catalog.
func (s *services) over(c catalog.Catalog) *dynamicroute.Service {
	return dynamicroute.NewService(dynamicroute.Deps{
		Runner: s.db.Runner(), Store: NewRouteStore(), Directory: NewRouteStore(), Versions: NewRouteVersionStore(), Deployments: NewRouteDeploymentStore(),
		Keys: NewRouteKeys(), Rollouts: NewRolloutStore(), Mutator: s.mutator, Offered: source{c}, Presets: s.standings, IDs: testIDs, Now: s.clock.now,
	})
}

// A version that no longer fits the catalog is neither deployed nor rolled back
// to; every problem is told and nothing changes.
func TestWhatDoesNotFitTheCatalogIsNotDeployed(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	s.save(t, r, []byte(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},
		{"id":"m","type":"model","model":"acme/small","provider":{"only":["north"]},"next":"e"},{"id":"e","type":"end"}]}`))
	s.deployed(t, r, 1)
	s.deployed(t, r, 2)
	changed := offered()
	changed.Providers = changed.Providers[1:]
	changed.Models[0].ID, changed.Models[0].Endpoints = "acme/other", changed.Models[0].Endpoints[1:]
	changed.Models[0].Endpoints[0].ID = catalog.EndpointID("south", "acme/other", "")
	later := s.over(changed)
	before := s.snapshot(t, ws)
	third := s.save(t, r, []byte(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},
		{"id":"m","type":"model","model":"acme/small","provider":{"ignore":["north"]},"next":"e"},{"id":"e","type":"end"}]}`))
	_, err := later.Deploy(t.Context(), ws, r.ID, third, operator, nil)
	require.Equal(t, fault.Conflict, fault.CodeOf(err))
	require.Len(t, fault.Of(err).Violations, 2)
	require.Equal(t, "m", fault.Of(err).Violations[0].Node)
	_, err = later.Rollback(t.Context(), ws, r.ID, operator, nil)
	require.Equal(t, fault.Conflict, fault.CodeOf(err))
	require.Len(t, fault.Of(err).Violations, 1)
	require.Equal(t, []string{"3 draft", "2 deployed", "1 superseded"}, s.statuses(t, r))
	require.Equal(t, before.Routes, s.snapshot(t, ws).Routes)
	out, err := later.Deploy(t.Context(), ws, r.ID, 2, operator, nil)
	require.NoError(t, err, "what is deployed stays so, and is no change")
	require.True(t, out.Unchanged)
}

// A stale ETag is refused by every change, with the present version.
func TestStaleChangesOfARouteAreRefused(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	s.deployed(t, r, 1)
	revision, stale := s.snapshot(t, ws).Revision, ptr(int64(1))
	for what, call := range map[string]func() error{
		"update": func() error {
			_, err := s.routes.Update(t.Context(), ws, r.ID, operator, dynamicroute.Patch{Name: ptr("b"), IfMatch: stale})
			return err
		},
		"save": func() error {
			_, err := s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: straight("2"), IfMatch: stale})
			return err
		},
		"save what is there": func() error {
			_, err := s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: straight("1"), IfMatch: stale})
			return err
		},
		"deploy what is there": func() error { _, err := s.routes.Deploy(t.Context(), ws, r.ID, 1, operator, stale); return err },
		"rollback":             func() error { _, err := s.routes.Rollback(t.Context(), ws, r.ID, operator, stale); return err },
		"keys":                 func() error { _, err := s.routes.SetKeys(t.Context(), ws, r.ID, operator, nil, stale); return err },
		"delete":               func() error { _, err := s.routes.Delete(t.Context(), ws, r.ID, operator, "a", stale); return err },
	} {
		err := call()
		require.Equal(t, fault.PreconditionFailed, fault.CodeOf(err), what)
		require.Equal(t, int64(2), fault.Of(err).Fields["version"], what)
	}
	require.Equal(t, revision, s.snapshot(t, ws).Revision)
}

// Attaching a route publishes the documents of the keys, which ask for the
// snapshot that has it and are not for gateways that know no routes.
func TestKeysMoveBetweenRoutes(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	a, b := s.route(t, ws, by, "a"), s.route(t, ws, by, "b")
	var keys []apikey.Key
	for _, name := range []string{"one", "two", "three"} {
		k, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: name})
		require.NoError(t, err)
		keys = append(keys, k)
	}
	one, two, three := keys[0].ID, keys[1].ID, keys[2].ID
	document := func(k id.Key) policy.Key {
		got, err := s.keys.Get(t.Context(), ws, k)
		require.NoError(t, err)
		return apikey.Document(got)
	}
	set := func(r dynamicroute.Route, keys ...id.Key) dynamicroute.Outcome {
		out, err := s.routes.SetKeys(t.Context(), ws, r.ID, by, keys, nil)
		require.NoError(t, err)
		return out
	}
	out := set(a, two, one)
	require.Equal(t, []id.Key{one, two}, out.Detail.Keys)
	require.ElementsMatch(t, []string{keys[0].KID, keys[1].KID}, s.stored(t, out.Publication).KIDs)
	require.Equal(t, []any{a.ID, out.Publication.Revision, policy.Schema + 1}, []any{document(one).Route, document(one).MinRevision, document(one).Schema})
	require.True(t, set(a, one, two).Unchanged)

	s.clock.advance(time.Second)
	moved := set(b, two, three)
	require.Equal(t, []dynamicroute.Attachment{{Key: two, Route: a.ID}}, moved.Moved)
	require.Equal(t, b.ID, document(two).Route)
	require.Equal(t, moved.Publication.Revision, document(two).MinRevision)
	left, err := s.routes.Get(t.Context(), ws, a.ID)
	require.NoError(t, err)
	require.Equal(t, []id.Key{one}, left.Keys)
	require.Equal(t, out.Detail.Version+1, left.Version, "the other route is not what it was")
	require.Equal(t, "keys", s.lastEvent(t, ws).Diff[0].Path)

	gone := set(b, three)
	require.Equal(t, []any{id.Route{}, moved.Publication.Revision, policy.Schema}, []any{document(two).Route, document(two).MinRevision, document(two).Schema})
	require.Equal(t, gone.Publication.Revision, document(two).Revision)

	listed, err := s.routes.List(t.Context(), ws, page.Query{}, dynamicroute.Filter{})
	require.NoError(t, err)
	require.Equal(t, []any{"b", 1, "a", 1}, []any{listed.Items[0].Name, listed.Items[0].Keys, listed.Items[1].Name, listed.Items[1].Keys})
	_, _, err = s.keys.Revoke(t.Context(), ws, three, by, nil)
	require.NoError(t, err)
	after, err := s.routes.Get(t.Context(), ws, b.ID)
	require.NoError(t, err)
	require.Empty(t, after.Keys)
	require.Equal(t, gone.Detail.Version+1, after.Version)
	require.Contains(t, s.lastEvent(t, ws).Diff, audit.Change{Path: "dynamic_route_id", Before: b.ID.String()})

	pub, err := s.routes.Delete(t.Context(), ws, a.ID, by, "a", nil)
	require.NoError(t, err)
	require.Equal(t, []string{keys[0].KID}, s.stored(t, pub).KIDs)
	require.True(t, document(one).Route.IsZero())
}

// A key of another workspace, a revoked one and one that is there twice are
// refused together with all others.
func TestOnlyOwnKeysAreAttached(t *testing.T) {
	s := openServices(t)
	mine, theirs := s.create(t, "mine"), s.create(t, "theirs")
	ws, by := mine.Workspace.ID, byMember(mine.Owner)
	r := s.route(t, ws, by, "a")
	own, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "own"})
	require.NoError(t, err)
	revoked, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "revoked"})
	require.NoError(t, err)
	_, _, err = s.keys.Revoke(t.Context(), ws, revoked.ID, by, nil)
	require.NoError(t, err)
	other, _, _, err := s.keys.Create(t.Context(), theirs.Workspace.ID, byMember(theirs.Owner), apikey.NewKey{Name: "theirs"})
	require.NoError(t, err)
	paths := func(keys ...id.Key) (list []string) {
		_, err := s.routes.SetKeys(t.Context(), ws, r.ID, by, keys, nil)
		for _, v := range fault.Of(err).Violations {
			list = append(list, v.Path+" "+v.Code)
		}
		return list
	}
	require.Equal(t, []string{"key_ids[1] not_allowed", "key_ids[2] not_allowed"}, paths(own.ID, other.ID, revoked.ID))
	require.Equal(t, []string{"key_ids[1] duplicate"}, paths(own.ID, own.ID))
	got, err := s.keys.Get(t.Context(), ws, own.ID)
	require.NoError(t, err)
	require.Equal(t, own, got)
	foreign, err := s.keys.Get(t.Context(), theirs.Workspace.ID, other.ID)
	require.NoError(t, err)
	require.Equal(t, other, foreign)
}

// Names and slugs are unique among what is not deleted; a slug that was not
// asked for gives way.
func TestNamesOfRoutes(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	first := s.route(t, ws, operator, "Night shift")
	_, err := s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: "NIGHT SHIFT"})
	require.Equal(t, "name", fault.Of(err).Violations[0].Path)
	_, err = s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: "x", Slug: first.Slug})
	require.Equal(t, "slug", fault.Of(err).Violations[0].Path)
	like := s.route(t, ws, operator, "night-shift")
	require.Regexp(t, `^night-shift-.{8}$`, like.Slug)
	require.Regexp(t, `^route$`, s.route(t, ws, operator, "夜").Slug)
	_, err = s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: " ", Slug: "-", Description: string(make([]rune, 501)), Status: "off"})
	require.Len(t, fault.Of(err).Violations, 4)
	for _, text := range []string{"night SHIFT", "night-shift"} {
		found, err := s.routes.List(t.Context(), ws, page.Query{}, dynamicroute.Filter{Name: text})
		require.NoError(t, err)
		require.NotEmpty(t, found.Items, text)
	}
	empty, err := s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: "empty"})
	require.NoError(t, err)
	require.Zero(t, empty.Detail.Latest)
	_, err = s.routes.Deploy(t.Context(), ws, empty.Detail.ID, 1, operator, nil)
	require.Equal(t, fault.NotFound, fault.CodeOf(err))
	require.Equal(t, 1, s.save(t, empty.Detail.Route, straight("1")))
}

// A list runs by the last change, and pages neither repeat nor lose what stays
// as it is.
func TestRoutesRunByTheirLastChange(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	a, _, c := s.route(t, ws, operator, "a"), s.route(t, ws, operator, "b"), s.route(t, ws, operator, "c")
	s.deployed(t, a, 1)
	var names []string
	for q := (page.Query{Limit: 1}); ; {
		found, err := s.routes.List(t.Context(), ws, q, dynamicroute.Filter{})
		require.NoError(t, err)
		names = append(names, found.Items[0].Name)
		if len(names) == 1 {
			s.deployed(t, c, 1) // moves to the front, behind the reader
		}
		if q.Cursor = found.Next; q.Cursor == "" {
			break
		}
	}
	require.Equal(t, []string{"a", "b"}, names)
}

func TestTestingAVersion(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	number := s.save(t, r, []byte(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"c"},
		{"id":"c","type":"condition","when":{"source":"metadata","path":"plan","op":"equals","value":"pro"},"true":"m","false":"x"},
		{"id":"m","type":"model","model":"acme/small","routing_mode":"latency","next":"e"},
		{"id":"x","type":"reject","status":402,"code":"no_plan","message":"Buy a plan."},{"id":"e","type":"end"}]}`))
	trial, err := s.routes.Test(t.Context(), ws, r.ID, number, dynamicroute.Sample{Body: []byte(`{"metadata":{"plan":"Pro"}}`)})
	require.NoError(t, err)
	require.Equal(t, []string{"s", "c", "m", "e"}, trial.Visited)
	require.Equal(t, []any{"acme/small", "latency"}, []any{trial.Action.Model, trial.Action.Mode})
	trial, err = s.routes.Test(t.Context(), ws, r.ID, number, dynamicroute.Sample{})
	require.NoError(t, err)
	require.Equal(t, 402, trial.Action.Reject.Status)
	_, err = s.routes.Test(t.Context(), ws, r.ID, number, dynamicroute.Sample{Headers: []byte(`{"a":1}`)})
	require.Equal(t, "facts.headers", fault.Of(err).Violations[0].Path)
}

// What holds for a key names the route that it is attached to, whether that
// applies or not.
func TestEffectiveShowsTheRoute(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	k, r := s.key(t, created, "one"), s.route(t, ws, operator, "a")
	shown := func(key id.Key) *dynamicroute.Route {
		found, err := s.effective.Resolve(t.Context(), ws, key)
		require.NoError(t, err)
		return found.Route
	}
	require.Nil(t, shown(k.ID))
	_, err := s.routes.SetKeys(t.Context(), ws, r.ID, operator, []id.Key{k.ID}, nil)
	require.NoError(t, err)
	require.Equal(t, []any{r.ID, 0, false}, []any{shown(k.ID).ID, shown(k.ID).Deployed, shown(k.ID).Applies()})
	s.deployed(t, r, 1)
	require.Equal(t, []any{"a", 1, true}, []any{shown(k.ID).Name, shown(k.ID).Deployed, shown(k.ID).Applies()})
	_, err = s.routes.Update(t.Context(), ws, r.ID, operator, dynamicroute.Patch{Status: ptr(dynamicroute.Paused)})
	require.NoError(t, err)
	require.Equal(t, []any{1, false}, []any{shown(k.ID).Deployed, shown(k.ID).Applies()})
	require.Nil(t, shown(id.Key{}), "the workspace itself has none")
	_, err = s.routes.Delete(t.Context(), ws, r.ID, operator, "a", nil)
	require.NoError(t, err)
	require.Nil(t, shown(k.ID))
}
