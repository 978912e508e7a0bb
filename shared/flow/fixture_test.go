package flow_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

var update = flag.Bool("update", false, "rewrite golden files")

// aRoute is the route of all tests: golden cases draw by its id.
var aRoute = id.MustParse[id.RouteKind]("route_01k80004hmfay8vvr14d2pf2db")

// aRollout is the rollout of all tests.
var aRollout = id.MustParse[id.RolloutKind]("rollout_01k80004hmfay8vvr14d2pf2db")

// names is a small world.
type names struct{}

func (names) Model(name string) flow.Standing {
	switch name {
	case "small":
		return flow.Unclear
	case "acme/old":
		return flow.Deprecates
	case "acme/retired":
		return flow.Retires
	case "@draft":
		return flow.Undeployed
	case "@mine":
		return flow.Confined
	case "acme/big", "acme/small", "acme/new", "acme/x", "north/other", "north:acme/small:fast", "@support", "@support#3":
		return flow.Known
	}
	if strings.HasPrefix(name, ":") {
		return flow.BadName
	}
	return flow.Missing
}

func (names) Provider(slug string) flow.Standing {
	switch slug {
	case "north", "south":
		return flow.Known
	case "off":
		return flow.SwitchedOff
	}
	return flow.Missing
}

func (names) Region(name string) flow.Standing {
	if name == "eu" {
		return flow.Known
	}
	return flow.Missing
}

func (names) Surfaces() []string { return []string{"chat", "responses", "messages"} }

// request is a request as facts.json writes it.
type request struct {
	Body          any               `json:"body"`
	Headers       map[string]string `json:"headers"`
	Metadata      map[string]any    `json:"metadata"`
	WorkspaceTags []string          `json:"workspace_tags"`
	KeyScopes     []string          `json:"key_scopes"`
	Endpoint      string            `json:"endpoint"`
	Model         string            `json:"model"`
	SessionID     string            `json:"session_id"`
	UserID        string            `json:"user_id"`
	Subject       string            `json:"subject"`
	Usage         struct {
		Daily, Weekly, Monthly *struct {
			Requests int64  `json:"requests"`
			CostUSD  string `json:"cost_usd"`
		}
	} `json:"usage"`
}

// Look implements condition.Facts.
func (r *request) Look(s condition.Source, path string) []condition.Value {
	switch s {
	case condition.Body:
		return one(part(r.Body, strings.Split(path, ".")))
	case condition.Header:
		v, ok := r.Headers[strings.ToLower(path)]
		return one(v, ok)
	case condition.Metadata:
		v, ok := r.Metadata[path]
		return one(v, ok)
	case condition.WorkspaceTag:
		return texts(r.WorkspaceTags...)
	case condition.KeyScope:
		return texts(r.KeyScopes...)
	case condition.Endpoint:
		return texts(r.Endpoint)
	case condition.Model:
		return texts(r.Model)
	case condition.SessionID:
		return texts(r.SessionID)
	case condition.UserID:
		return texts(r.UserID)
	}
	panic("a source that no test may name")
}

func one(v any, ok bool) []condition.Value {
	if !ok {
		return nil
	}
	value, ok := condition.Of(v)
	if !ok {
		return nil
	}
	return []condition.Value{value}
}

func texts(list ...string) []condition.Value {
	var values []condition.Value
	for _, s := range list {
		if s != "" {
			values = append(values, condition.Text(s))
		}
	}
	return values
}

func part(v any, path []string) (any, bool) {
	for _, segment := range path {
		switch in := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = in[segment]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(segment)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// factsOf reads facts.json.
func factsOf(t testing.TB, raw []byte) *flow.Facts {
	t.Helper()
	r := &request{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(r))
	f := &flow.Facts{Request: r, Subject: r.Subject}
	if u := r.Usage.Daily; u != nil {
		f.Usage.Daily = flow.Bucket{Known: true, Requests: u.Requests, Cost: cost(t, u.CostUSD)}
	}
	if u := r.Usage.Weekly; u != nil {
		f.Usage.Weekly = flow.Bucket{Known: true, Requests: u.Requests, Cost: cost(t, u.CostUSD)}
	}
	if u := r.Usage.Monthly; u != nil {
		f.Usage.Monthly = flow.Bucket{Known: true, Requests: u.Requests, Cost: cost(t, u.CostUSD)}
	}
	return f
}

func cost(t testing.TB, text string) money.Nanos {
	t.Helper()
	n, err := money.Parse(text)
	require.NoError(t, err)
	return n
}

// graphOf reads a graph in which nothing is wrong.
func graphOf(t testing.TB, raw []byte) flow.Graph {
	t.Helper()
	g, report := flow.Read(raw, names{})
	require.Empty(t, report.Problems)
	return g
}

func compiled(t testing.TB, g flow.Graph, slots flow.Slots) *flow.Program {
	t.Helper()
	p, err := flow.Compile(aRoute, g, slots)
	require.NoError(t, err)
	return p
}

// cases are the folders of testdata/cases.
func cases(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("testdata/cases")
	require.NoError(t, err)
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = "testdata/cases/" + e.Name()
	}
	require.NotEmpty(t, list)
	return list
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return raw
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	require.Equal(t, string(read(t, file)), string(got))
}

// lines writes problems as people read them.
func lines(problems []flow.Problem) []string {
	list := make([]string, len(problems))
	for i, p := range problems {
		list[i] = strings.Join(slices.DeleteFunc([]string{p.Code, p.Node, p.Path, p.Message}, func(s string) bool { return s == "" }), " | ")
	}
	return list
}
