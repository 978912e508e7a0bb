package profile

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
	p := fill.Value[Profile](1)
	d := p.Published()
	require.Empty(t, fill.Zero(d))
	from, to := reflect.ValueOf(p), reflect.ValueOf(d)
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		require.Equal(t, from.FieldByName(name).Interface(), to.Field(i).Interface(), name)
	}
}

// The audit diff shows a change of every routing field, and nothing else.
func TestTheDiffForgetsNothing(t *testing.T) {
	all := fill.Value[Profile](1)
	seen := map[string]bool{"name": true}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			field := v.Field(i)
			if field.Kind() == reflect.Struct {
				walk(field)
				continue
			}
			kept := reflect.New(field.Type()).Elem()
			kept.Set(field)
			field.SetZero()
			changes := diff(fill.Value[Profile](1), all)
			require.Len(t, changes, 1, v.Type().Field(i).Name)
			require.False(t, seen[changes[0].Path], changes[0].Path)
			seen[changes[0].Path] = true
			field.Set(kept)
		}
	}
	walk(reflect.ValueOf(&all.Routing).Elem())
	require.Len(t, diff(Profile{}, all), len(seen))
	require.Empty(t, diff(all, all))
}

func TestInUseNamesWhatUsesIt(t *testing.T) {
	ids := id.SystemSource()
	key, department := id.New[id.KeyKind](ids), id.New[id.DepartmentKind](ids)
	err := fault.Of(inUse(Bindings{Workspace: true, Departments: []id.Department{department}, Keys: []id.Key{key, key, key}, More: 4}))
	require.Equal(t, fault.Conflict, err.Code)
	require.Len(t, err.Violations, 5)
	require.Equal(t, "The routing profile is bound to the whole workspace, the department "+department.String()+
		", the API key "+key.String()+" and 6 more. Unbind it there first.", err.Message)
	require.False(t, Bindings{}.Any())
}
