package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// routed publishes a route that begins with the first of some nodes, attaches it
// to the platform's key, and publishes a preset @p with content.
func (p *platform) routed(nodes ...flow.Node) {
	p.t.Helper()
	graph := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: append([]flow.Node{
		{ID: "start", Type: flow.Start, Next: nodes[0].ID}, {ID: "end", Type: flow.End},
	}, nodes...)}
	require.Empty(p.t, flow.Check(graph, nil).Problems)
	route, preset := id.New[id.RouteKind](p.ids), id.New[id.PresetKind](p.ids)
	_, err := p.write.PresetVersion(p.t.Context(), policy.PresetVersion{
		Schema: policy.Schema, Workspace: p.workspace, Preset: preset, Slug: "p", Version: 1,
		Config: policy.PresetConfig{
			SystemPrompt: canary, Model: "acme/large", Routing: policy.Routing{FallbackModels: []string{"acme/small"}},
			Params: map[string]json.RawMessage{"stop": json.RawMessage(`["` + canary + `"]`), "custom": json.RawMessage(`"` + canary + `"`)},
		},
	})
	require.NoError(p.t, err)
	p.publishPolicy(policy.Snapshot{
		Revision: 2, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings(),
		Routes:  []policy.Route{{ID: route, Name: canary, RouteVersion: policy.RouteVersion{Version: 1, Graph: graph, Slots: flow.Derive(graph, nil)}}},
		Presets: []policy.Preset{{ID: preset, Slug: "p", Version: 1}},
	})
	p.key.Route, p.key.Revision, p.key.MinRevision = route, 2, 2
	p.publishKey(p.key.Versioned())
}

func whenIs(nodeID string, source condition.Source, path, value, yes, no string) flow.Node {
	return flow.Node{ID: nodeID, Type: flow.When, True: yes, False: no, When: &condition.Condition{
		Source: source, Path: path, Op: condition.Contains, Value: condition.One(condition.Text(value)),
	}}
}

// TestTheAccountOfARouteAndAPresetHoldsNoContent: nor has the account of what a
// route looked at, of what a reject node tells its callers, or of what a preset
// adds.
func TestTheAccountOfARouteAndAPresetHoldsNoContent(t *testing.T) {
	p := newPlatform(t)
	p.routed(
		whenIs("body", condition.Body, "messages.0.content", canary, "header", "gemini"),
		whenIs("gemini", condition.Body, "contents.0.parts.0.text", canary, "header", "end"),
		whenIs("header", condition.Header, "x-custom", canary, "user", "end"),
		whenIs("user", condition.Metadata, "a", canary, "set", "turned"),
		whenIs("turned", condition.Body, "temperature", "0.5", "no", "set"),
		flow.Node{ID: "set", Type: flow.Model, RoutingMode: "price", Next: "end"},
		flow.Node{ID: "no", Type: flow.Reject, Status: 418, Code: "not_here", Message: "Go away, " + canary + "."},
	)
	g := p.gateway()
	for name, c := range map[string]struct {
		path, body string
		status     int
		nodes      string
	}{
		"chat":            {"/v1/chat/completions", `{"model":"@p","messages":[{"role":"user","content":"` + canary + `"}],"metadata":{"a":"` + canary + `"}}`, 200, "start body header user set end"},
		"streamed":        {"/v1/chat/completions", `{"model":"@P#1","stream":true,"messages":[{"role":"user","content":"` + canary + `"}],"metadata":{"a":"` + canary + `"}}`, 200, "start body header user set end"},
		"messages":        {"/v1/messages", `{"model":"@p","max_tokens":9,"messages":[{"role":"user","content":"` + canary + `"}]}`, 200, "start body header user turned set end"},
		"gemini":          {"/v1beta/models/@p:generateContent", `{"contents":[{"parts":[{"text":"` + canary + `"}]}]}`, 200, "start body gemini header user turned set end"},
		"gemini streamed": {"/v1beta/models/@p:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"` + canary + `"}]}]}`, 200, "start body gemini header user turned set end"},
		"rejected":        {"/v1/chat/completions", `{"model":"@p","temperature":0.5,"messages":[{"role":"user","content":"` + canary + `"}]}`, 418, "start body header user turned no"},
		"rejected stream": {"/v1/messages", `{"model":"@p","stream":true,"max_tokens":9,"temperature":0.5,"messages":[{"role":"user","content":"` + canary + `"}]}`, 418, "start body header user turned no"},
	} {
		t.Run(name, func(t *testing.T) {
			a := g.do(http.MethodPost, c.path, p.token, c.body, "x-custom", canary)
			require.Equal(t, c.status, a.status, a.body)
			for header, values := range a.header {
				require.NotContains(t, strings.Join(values, ","), canary, header)
			}
			if c.status == 418 {
				require.Contains(t, a.body, "Go away, "+canary+".", "which is for the caller")
				require.Equal(t, "application/json", strings.Split(a.header.Get("content-type"), ";")[0])
			}
			rid := a.header.Get("x-signalbox-request-id")
			line, err := json.Marshal(g.line(rid))
			require.NoError(t, err)
			require.NotContains(t, string(line), canary)
			for _, event := range p.events(rid, 1) {
				text, err := json.Marshal(event)
				require.NoError(t, err)
				require.NotContains(t, string(text), canary)
				var record decide.Record
				require.NoError(t, json.Unmarshal(event.Decision, &record))
				require.Equal(t, c.nodes, strings.Join(record.Route.Nodes, " "))
			}
			require.NotContains(t, g.do(http.MethodGet, "/v1/generations/"+rid, p.token, "").body, canary)
		})
	}
	require.NotContains(t, g.probe("/metrics").body, canary)
	require.NotContains(t, g.log.String(), canary)
}
