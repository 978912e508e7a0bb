package flow_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

// outcome is what want.json holds.
type outcome struct {
	Visited  []string       `json:"visited"`
	Action   map[string]any `json:"action"` // the fields that are set
	Warnings []string       `json:"warnings,omitempty"`
}

// set is what is set of an action, by the names of its fields.
func set(a flow.Action) map[string]any {
	fields := map[string]any{}
	v := reflect.ValueOf(a)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			fields[v.Type().Field(i).Name] = v.Field(i).Interface()
		}
	}
	return fields
}

// TestCases evaluates the golden graphs. Each also survives being written and
// read, and gives the same on the facts of a record that hides nothing.
func TestCases(t *testing.T) {
	for _, dir := range cases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			raw := read(t, dir+"/graph.json")
			g, report := flow.Read(raw, names{})
			require.Empty(t, report.Problems)
			facts := factsOf(t, read(t, dir+"/facts.json"))
			slots := flow.Derive(g, nil)
			action, visited := compiled(t, g, slots).Evaluate(facts, nil)

			got, err := json.MarshalIndent(outcome{visited, set(action), lines(report.Warnings)}, "", "  ")
			require.NoError(t, err)
			golden(t, dir+"/want.json", append(got, '\n'))

			body, err := json.Marshal(g)
			require.NoError(t, err)
			require.JSONEq(t, string(raw), string(body), "nothing is dropped")
			var back flow.Graph
			require.NoError(t, json.Unmarshal(body, &back))
			require.Equal(t, g, back)
			again, path := compiled(t, back, slots).Evaluate(facts, nil)
			require.Equal(t, action, again)
			require.Equal(t, visited, path)

			if !strings.Contains(dir, "unknown") { // of a bucket, which a record must have
				replayed, path, unknownAt := compiled(t, g, slots).Replay(facts, condition.NewHider([]byte("k")), nil)
				require.Empty(t, unknownAt)
				require.Equal(t, action, replayed)
				require.Equal(t, visited, path)
			}
		})
	}
}

// TestBad lists everything that is wrong with each graph of testdata/bad. What
// was submitted as a value says "canary" and is in no message.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			g, report := flow.Read(read(t, file), names{})
			require.False(t, report.OK())
			text := strings.Join(lines(report.Problems), "\n") + "\n"
			require.NotContains(t, text, "canary")
			golden(t, strings.TrimSuffix(file, ".json")+".txt", []byte(text))
			if _, wrong := flow.Decode(read(t, file)); len(wrong) > 0 {
				return
			}
			_, err := flow.Compile(aRoute, g, flow.Derive(g, nil))
			if !flow.Check(g, nil).OK() {
				require.ErrorIs(t, err, flow.ErrInvalid)
			}
		})
	}
}
