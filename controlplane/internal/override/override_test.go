package override

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func stateOf(t *testing.T, document string) *State {
	t.Helper()
	var s State
	require.NoError(t, json.Unmarshal([]byte(document), &s.Document))
	return &s
}

func TestDiffNamesWhatChanged(t *testing.T) {
	before := stateOf(t, `{"providers":[{"slug":"north","retry":{"max":1}}],"models":[
		{"id":"acme/small","endpoints":[{"provider":"north","region":"eu","price":{"input":"1"}}],"rules":[{"name":"a","when":{"op":"x","source":"y"}},{"name":"b"}]}]}`)
	before.Keys = map[string]secret.Sealed{"north": secret.Sealed("1")}
	after := stateOf(t, `{"providers":[{"retry":{"max":2},"slug":"north"}],"models":[
		{"id":"acme/small","endpoints":[{"provider":"north","region":"eu","price":{"input":"2"}}],"rules":[{"name":"b"},{"name":"a","when":{"source":"y","op":"x"}}]}]}`)
	after.Keys = map[string]secret.Sealed{"north": secret.Sealed("2")}
	require.Equal(t, []audit.Change{
		{Path: "models.acme/small.endpoints.north@eu.price.input", Before: `"1"`, After: `"2"`},
		{Path: "models.acme/small.rules", Before: `["a","b"]`, After: `["b","a"]`},
		{Path: "providers.north.retry.max", Before: "1", After: "2"},
		{Path: "providers.north.api_key", After: "changed"},
	}, diff(before, after))
	require.Empty(t, diff(before, before))

	long := strings.Repeat("x", 2*maxShown)
	a := stateOf(t, `{"providers":[{"slug":"n","name":"`+long+`a"}]}`)
	b := stateOf(t, `{"providers":[{"slug":"n","name":"`+long+`b"}]}`)
	changes := diff(a, b)
	require.Len(t, changes, 1, "a difference beyond what is shown is one")
	require.Less(t, len(changes[0].After), 2*maxShown)
}

// TestEditsKeepTheOtherEntries: putting and removing an entry touches no other,
// and removing what was put gives what was there.
func TestEditsKeepTheOtherEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,4}`), 0, 6, rapid.ID[string]).Draw(t, "names")
		var list []Entry
		for _, n := range names {
			e := Entry{}
			e.set("name", n)
			list = append(list, e)
		}
		fresh := Entry{}
		fresh.set("name", rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "new"))
		fresh.set("disabled", true)
		had := find(list, ruleName, ruleName(fresh)) >= 0
		with := put(list, ruleName, fresh)
		require.Len(t, list, len(names), "the list before is left alone")
		for _, n := range names {
			require.GreaterOrEqual(t, find(with, ruleName, n), 0)
		}
		require.Equal(t, fresh, with[find(with, ruleName, ruleName(fresh))])
		left, ok := without(with, ruleName, ruleName(fresh))
		require.True(t, ok)
		if !had {
			require.Len(t, left, len(list))
		}
		_, ok = without(left, ruleName, ruleName(fresh))
		require.False(t, ok)
	})
}

func TestAModelThatOverridesNothingGoes(t *testing.T) {
	var d Document
	m := d.model("acme/small")
	m.setEntries("rules", []Entry{{}})
	d.setModel(m)
	require.Len(t, d.Models, 1)
	m = d.model("acme/small")
	m.setEntries("rules", nil)
	d.setModel(m)
	require.Empty(t, d.Models)
}
