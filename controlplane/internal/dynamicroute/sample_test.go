package dynamicroute_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/condition"
)

// A sample answers conditions as a gateway does for a request.
func TestASampleHasWhatARequestHas(t *testing.T) {
	facts, err := dynamicroute.Sample{
		Body: []byte(`{"model":"acme/small","tools":[{"type":"function"}],"stop":null,"n":1.50,"metadata":{"plan":"pro","a.b":1}}`),
	}.Facts()
	require.NoError(t, err)
	number, _ := condition.Number("1.50")
	one, _ := condition.Number("1")
	for _, c := range []struct {
		source condition.Source
		path   string
		want   []condition.Value
	}{
		{condition.Body, "tools", []condition.Value{condition.Compound()}},
		{condition.Body, "tools.0", []condition.Value{condition.Compound()}},
		{condition.Body, "tools.0.type", []condition.Value{condition.Text("function")}},
		{condition.Body, "tools.1", nil},
		{condition.Body, "tools.+0", nil},
		{condition.Body, "tools.type", nil},
		{condition.Body, "stop", []condition.Value{condition.Null()}},
		{condition.Body, "n", []condition.Value{number}},
		{condition.Body, "n.0", nil},
		{condition.Body, "gone", nil},
		{condition.Metadata, "plan", []condition.Value{condition.Text("pro")}},
		{condition.Metadata, "a.b", []condition.Value{one}},
		{condition.Metadata, "gone", nil},
		{condition.Model, "", []condition.Value{condition.Text("acme/small")}},
		{condition.SessionID, "", nil},
	} {
		require.Equal(t, c.want, facts.Request.Look(c.source, c.path), "%s %s", c.source, c.path)
	}
}
