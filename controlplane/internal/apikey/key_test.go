package apikey_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// Every field of the document is set, each from the field of the same name.
func TestDocumentForgetsNothing(t *testing.T) {
	k := fill.Value[apikey.Key](1)
	d := apikey.Document(k)
	require.Empty(t, fill.Zero(d))
	from, to := reflect.ValueOf(k), reflect.ValueOf(d)
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		if name == "Schema" {
			require.Equal(t, policy.Schema+2, d.Schema, "it has limits")
			continue
		}
		require.Equal(t, from.FieldByName(name).Interface(), to.Field(i).Interface(), name)
	}
	body, _, err := policy.Encode(d)
	require.NoError(t, err)
	back, err := policy.DecodeKey(body)
	require.NoError(t, err)
	require.Equal(t, d, back)
}
