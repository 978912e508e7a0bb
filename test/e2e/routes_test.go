//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// route is a dynamic route of the platform's workspace. Its calls return when
// every gateway has what they changed.
type route struct {
	p    *harness.Platform
	path string
}

// newRoute makes a route with a graph, deploys that, and attaches keys.
func newRoute(p *harness.Platform, name, graph string, keys ...client.Key) route {
	made := p.Change(http.MethodPost, "/v1/routing/dynamic-routes", `{"name":"`+name+`","config":`+graph+`}`)
	r := route{p: p, path: "/v1/routing/dynamic-routes/" + made.Get("data.id").Str}
	r.deploy(1)
	r.attach(keys...)
	return r
}

// save keeps a graph as the next version, which it returns.
func (r route) save(graph string) int {
	return int(r.p.Change(http.MethodPost, r.path+"/versions", `{"config":`+graph+`}`).Get("data.version").Int())
}

func (r route) deploy(version int) client.Answer {
	return r.p.Change(http.MethodPost, r.path+"/versions/"+strconv.Itoa(version)+"/deploy", "")
}

func (r route) rollback() client.Answer { return r.p.Change(http.MethodPost, r.path+"/rollback", "") }

func (r route) attach(keys ...client.Key) {
	ids := make([]string, 0, len(keys))
	for _, key := range keys {
		ids = append(ids, key.ID)
	}
	raw, err := json.Marshal(map[string]any{"key_ids": ids})
	if err != nil {
		panic(err) // texts always encode
	}
	r.p.Change(http.MethodPut, r.path+"/keys", string(raw))
}

// graph is one of these nodes, which come after a start node and may lead to
// the node "end".
func graph(first, nodes string) string {
	return `{"schema_version":1,"entry":"start","nodes":[{"id":"start","type":"start","next":"` + first + `"},` + nodes + `,{"id":"end","type":"end"}]}`
}

// routedTo is what the log says of the route that a request took.
func routedTo(t *testing.T, p *harness.Platform, head http.Header) (version int, nodes []string) {
	t.Helper()
	taken := p.On(t).Logged(head).Get("decision.route")
	require.NotEmpty(t, taken.Get("id").Str, "the request took a route")
	for _, node := range taken.Get("nodes").Array() {
		nodes = append(nodes, node.Str)
	}
	return int(taken.Get("version").Int()), nodes
}
