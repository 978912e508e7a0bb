package department

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// Every field of the published form is set, each from the field of the same
// name.
func TestPublishedForgetsNothing(t *testing.T) {
	d := fill.Value[Department](1)
	published := d.Published()
	require.Empty(t, fill.Zero(published))
	from, to := reflect.ValueOf(d), reflect.ValueOf(published)
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		require.Equal(t, from.FieldByName(name).Interface(), to.Field(i).Interface(), name)
	}
	require.Len(t, diff(Department{}, d), 2)
	require.Empty(t, diff(d, d))
}

func TestPeopledNamesTheKeys(t *testing.T) {
	key := id.New[id.KeyKind](id.SystemSource())
	err := fault.Of(peopled(Members{Keys: []id.Key{key}}))
	require.Equal(t, "API keys belong to the department: "+key.String()+". Take each out of it first (signalbox departments remove-key KEY_ID), move it to another department, or revoke it.", err.Message)
	err = fault.Of(peopled(Members{Keys: []id.Key{key, key, key, key}, More: 2}))
	require.Len(t, err.Violations, 4)
	require.Contains(t, err.Message, "and 3 more")
}
