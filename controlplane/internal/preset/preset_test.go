package preset

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// A document says everything of its version that a gateway may know.
func TestDocumentsForgetNothing(t *testing.T) {
	v := fill.Value[Version](1)
	d := v.Document("slug")
	require.Empty(t, fill.Zero(d))
	require.Equal(t, policy.PresetVersion{Schema: policy.Schema, Workspace: v.Workspace, Preset: v.Preset, Slug: "slug", Version: v.Number, Config: v.Config}, d)

	p := fill.Value[Preset](1)
	p.Visibility, p.ArchivedAt = Public, nil
	require.Empty(t, fill.Zero(p.PublicDocument([]int{1})))
	p.Visibility = Private
	require.Empty(t, fill.Zero(p.Published()))
	require.Empty(t, p.PublicDocument([]int{1}).Versions)
}

// The audit diff shows a change of every field, but for those that are told by
// another one.
func TestTheDiffForgetsNothing(t *testing.T) {
	all := fill.Value[Preset](1)
	told := []string{"ID", "Workspace", "Draft", "CreatedBy", "LatestDigest", "Ancestry", "PublicRevision", "Version", "CreatedAt", "UpdatedAt"}
	v := reflect.ValueOf(&all).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		kept := reflect.New(v.Field(i).Type()).Elem()
		kept.Set(v.Field(i))
		v.Field(i).SetZero()
		require.Equal(t, !slices.Contains(told, name), len(diff(fill.Value[Preset](1), all)) == 1, name)
		v.Field(i).Set(kept)
	}
	require.Empty(t, diff(all, all))
}

// Walking back is taking deployments off a stack: what was rolled back never
// comes again, and the start is the start.
func TestWalkingBackIsAStack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var history []Deployment
		var stack []int
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			var present Deployment
			if len(history) > 0 {
				present = history[len(history)-1]
			}
			if rapid.Bool().Draw(t, "back") {
				require.Equal(t, len(stack) < 2, present.Beneath == 0, "a rollback is there when something is beneath")
				if present.Beneath == 0 {
					continue
				}
				history = append(history, present.Back(history[present.Beneath-1]))
				stack = stack[:len(stack)-1]
			} else {
				n := rapid.IntRange(1, 5).Draw(t, "version")
				history = append(history, present.Above(n))
				stack = append(stack, n)
			}
			last := history[len(history)-1]
			require.Equal(t, len(history), last.Seq)
			require.Equal(t, stack[len(stack)-1], last.Version)
		}
	})
}

func TestSemVerIsOrdered(t *testing.T) {
	// The examples of semver.org, section 11.
	list := []string{
		"0.0.1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
		"1.0.0", "1.0.1-0", "1.0.1", "1.9.0", "1.10.0", "2.0.0-x-y.7", "18446744073709551615.0.0",
	}
	for i, a := range list {
		va, ok := parseSemVer(a)
		require.True(t, ok, a)
		for j, b := range list {
			vb, _ := parseSemVer(b)
			require.Equal(t, i < j, va.compare(vb) < 0, "%s %s", a, b)
			require.Equal(t, i == j, va.compare(vb) == 0, "%s %s", a, b)
		}
	}
	for _, bad := range []string{
		"", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.03", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3-a_b", "1.2.3+build", "1.2.-3", "+1.2.3",
		"1.2.3 ", "18446744073709551616.0.0", "1.2.3-" + strings.Repeat("a", maxLabel),
	} {
		_, ok := parseSemVer(bad)
		require.False(t, ok, bad)
	}
}

func TestLabels(t *testing.T) {
	now := time.Date(2031, 3, 4, 23, 59, 0, 0, time.FixedZone("east", -3600)) // the fifth in UTC
	for name, c := range map[string]struct {
		how     Versioning
		given   string
		earlier []string
		want    string // "" for a violation
	}{
		"sequential":                      {Sequential, "", []string{"v6"}, "v7"},
		"sequential after another way":    {Sequential, "", []string{"9.9.9"}, "v7"},
		"sequential given":                {Sequential, "v9", nil, ""},
		"the first of a day":              {Date, "", []string{"2031.03.04.2", "2031.03.04"}, "2031.03.05"},
		"the second of a day":             {Date, "", []string{"2031.03.05"}, "2031.03.05.2"},
		"the eleventh of a day":           {Date, "", []string{"2031.03.05.10", "2031.03.05.9", "2031.03.05"}, "2031.03.05.11"},
		"a date given":                    {Date, "2031.01.01", nil, ""},
		"semver":                          {SemVer, "1.2.0", []string{"1.1.9", "v2", "2030.01.01"}, "1.2.0"},
		"semver below one that is beside": {SemVer, "1.2.0", []string{"1.1.9", "1.3.0"}, ""},
		"semver of no number":             {SemVer, "", []string{"1.0.0"}, ""},
	} {
		var v rule.Violations
		got := label(&v, c.how, 7, c.given, c.earlier, now)
		require.Equal(t, c.want == "", v.Err() != nil, "%s: %v", name, v.Err())
		if c.want != "" {
			require.Equal(t, c.want, got, name)
		}
	}
	var v rule.Violations
	require.Equal(t, "1.0.0", label(&v, SemVer, 1, "", nil, now))
	require.NoError(t, v.Err())
}

func TestParams(t *testing.T) {
	deep := func(n int) json.RawMessage { return json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	many := make(map[string]json.RawMessage)
	for i := range maxParams + 1 {
		many[fmt.Sprint("p", i)] = json.RawMessage("1")
	}
	for name, c := range map[string]struct {
		params map[string]json.RawMessage
		path   string // "" for none
	}{
		"plain":          {map[string]json.RawMessage{"temperature": json.RawMessage("0.5"), "tools": json.RawMessage(`[{"a":{"b":[1]}}]`), "background": json.RawMessage(`"opaque"`)}, ""},
		"deep enough":    {map[string]json.RawMessage{"x": deep(maxParamDepth)}, ""},
		"too deep":       {map[string]json.RawMessage{"x": deep(maxParamDepth + 1)}, "params.x"},
		"large":          {map[string]json.RawMessage{"x": json.RawMessage(`"` + strings.Repeat("a", maxParamBytes) + `"`)}, "params.x"},
		"too many":       {many, "params"},
		"null":           {map[string]json.RawMessage{"x": json.RawMessage(" null ")}, "params.x"},
		"no JSON":        {map[string]json.RawMessage{"x": json.RawMessage("{")}, "params.x"},
		"the model":      {map[string]json.RawMessage{"model": json.RawMessage(`"x"`)}, "params.model"},
		"the stream":     {map[string]json.RawMessage{"stream": json.RawMessage(`true`)}, "params.stream"},
		"another case":   {map[string]json.RawMessage{"promptCacheKey": json.RawMessage(`"x"`)}, "params.promptCacheKey"},
		"metadata":       {map[string]json.RawMessage{"metadata": json.RawMessage(`{}`)}, "params.metadata"},
		"own ones in it": {map[string]json.RawMessage{"generationConfig": json.RawMessage(`{"topP":1,"model":"x"}`)}, "params.generationConfig[0]"},
		"no config":      {map[string]json.RawMessage{"generation_config": json.RawMessage(`1`)}, "params.generation_config"},
		"no name":        {map[string]json.RawMessage{"": json.RawMessage(`1`)}, "params[0]"},
		"a path":         {map[string]json.RawMessage{"a.b": json.RawMessage(`1`)}, "params[0]"},
		"a control name": {map[string]json.RawMessage{"a\nb": json.RawMessage(`1`)}, "params[0]"},
	} {
		var v rule.Violations
		checkParams(&v, "params", c.params)
		if c.path == "" {
			require.NoError(t, v.Err(), name)
			continue
		}
		found := fault.Of(v.Err())
		require.Len(t, found.Violations, 1, name)
		require.Equal(t, c.path, found.Violations[0].Path, name)
	}
}

func TestCompareNamesTheFields(t *testing.T) {
	as := func(c policy.PresetConfig) any {
		return map[string]any{"system_prompt": c.SystemPrompt, "provider": map[string]any{"only": c.Providers.Allow}, "params": c.Params}
	}
	before := policy.PresetConfig{SystemPrompt: "a", Params: map[string]json.RawMessage{"gone": json.RawMessage("1"), "same": json.RawMessage(`{"x":1}`)}}
	after := policy.PresetConfig{SystemPrompt: "b", Providers: policy.Lists{Allow: []string{"north"}}, Params: map[string]json.RawMessage{"same": json.RawMessage(`{"x":2}`)}}
	got, err := Compare(before, after, as)
	require.NoError(t, err)
	require.Equal(t, []FieldChange{
		{"params.gone", json.RawMessage("1"), nil},
		{"params.same", json.RawMessage(`{"x":1}`), json.RawMessage(`{"x":2}`)},
		{"provider.only", json.RawMessage("null"), json.RawMessage(`["north"]`)},
		{"system_prompt", json.RawMessage(`"a"`), json.RawMessage(`"b"`)},
	}, got)
	got, err = Compare(after, after, as)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestRefs(t *testing.T) {
	p := fill.Value[Preset](1).ID
	require.Equal(t, Ref{ID: p}, RefOf(p.String()))
	require.Equal(t, Ref{Slug: "help.desk:v1"}, RefOf("@Help.Desk:v1"))
	var v rule.Violations
	for _, bad := range []string{"", "Upper", "-x", ".x", "a b", "a/b", "@x", strings.Repeat("a", 81), "fork", "publisher", p.String()} {
		v = rule.Violations{}
		checkSlug(&v, bad)
		require.Error(t, v.Err(), bad)
	}
	v = rule.Violations{}
	checkSlug(&v, "a._:-9"+strings.Repeat("z", 74))
	require.NoError(t, v.Err())
}
