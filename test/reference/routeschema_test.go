package reference_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

var (
	routeSchema = filepath.Join(root, "docs", "reference", "dynamic-route.schema.json")
	routeData   = filepath.Join(root, "shared", "flow", "testdata")
)

// beyondSchema are the bad graphs that no schema tells from good ones.
var beyondSchema = []string{
	"back_to_start", "cycles", "duplicate_members", "entry_elsewhere", "percents", "starts_and_ends", "too_big", "unreachable",
}

// TestRouteSchema holds the schema against the graphs that the check knows to be
// good and bad.
func TestRouteSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(routeSchema)
	require.NoError(t, err)
	good, err := filepath.Glob(filepath.Join(routeData, "cases", "*", "graph.json"))
	require.NoError(t, err)
	require.NotEmpty(t, good)
	for _, file := range good {
		require.NoError(t, schema.Validate(parsedFile(t, file)), file)
	}
	bad, err := filepath.Glob(filepath.Join(routeData, "bad", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, bad)
	for _, file := range bad {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			continue // that is no JSON
		}
		require.Equal(t, slices.Contains(beyondSchema, name), schema.Validate(parsed) == nil, name)
	}
}

func parsedFile(t *testing.T, file string) any {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	return parsed
}

// TestRouteSchemaNamesEveryField: a field or a word that a graph may have is in
// the schema, and no other is.
func TestRouteSchemaNamesEveryField(t *testing.T) {
	whole, _ := parsedFile(t, routeSchema).(map[string]any)
	defs, _ := whole["$defs"].(map[string]any)
	properties := func(of any) []string {
		object, _ := of.(map[string]any)
		members, _ := object["properties"].(map[string]any)
		return slices.Sorted(maps.Keys(members))
	}
	provider, _ := defs["provider"].(map[string]any)
	inside, _ := provider["properties"].(map[string]any)
	for name, pair := range map[string]struct {
		schema any
		fields any
	}{
		"graph": {whole, flow.Graph{}}, "branch": {defs["branch"], flow.Branch{}}, "provider": {provider, flow.Provider{}},
		"max_price": {inside["max_price"], flow.MaxPrice{}}, "affinity": {defs["affinity"], flow.Affinity{}},
		"position": {defs["position"], flow.Position{}}, "when": {defs["when"], condition.Condition{}},
	} {
		require.Equal(t, fields(pair.fields), properties(pair.schema), name)
	}
	require.Equal(t, false, whole["additionalProperties"])
	for name, def := range defs {
		object, _ := def.(map[string]any)
		if object["properties"] != nil && name != "node" { // which leaves that to its types
			require.Equal(t, false, object["additionalProperties"], name)
		}
	}
	ofNodes := map[string]bool{}
	for _, kind := range flow.NodeTypes() {
		for _, name := range properties(defs[string(kind)]) {
			ofNodes[name] = true
		}
	}
	require.Equal(t, fields(flow.Node{}), slices.Sorted(maps.Keys(ofNodes)), "nodes")
	require.Equal(t, words(flow.NodeTypes()), enum(defs["node"], "type"))
	require.Equal(t, words(condition.Sources()), enum(defs["when"], "source"))
	require.Equal(t, words(condition.Ops()), enum(defs["when"], "op"))
}

// fields are the names of a struct's fields in JSON.
func fields(of any) []string {
	t := reflect.TypeOf(of)
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func words[T ~string](list []T) []any {
	out := make([]any, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// enum are the words that a property may be.
func enum(of any, property string) []any {
	object, _ := of.(map[string]any)
	members, _ := object["properties"].(map[string]any)
	member, _ := members[property].(map[string]any)
	list, _ := member["enum"].([]any)
	return list
}
