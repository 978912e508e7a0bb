// Package jsonappendtest holds hand-written JSON to encoding/json's: the same
// members, for values in which every field is set and for the zero value, so
// that a field which was forgotten fails a test.
package jsonappendtest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// Appender writes itself.
type Appender interface {
	AppendJSON(b *jsonappend.Buffer)
}

// Same compares, for a pointer to a struct.
func Same(t *testing.T, v Appender) {
	t.Helper()
	compare(t, reflect.New(reflect.TypeOf(v).Elem()).Interface())
	n := 0
	fill(reflect.ValueOf(v).Elem(), &n)
	compare(t, v)
}

func compare(t *testing.T, v any) {
	t.Helper()
	appender, ok := v.(Appender)
	require.True(t, ok)
	want, err := json.Marshal(v)
	require.NoError(t, err)
	var b jsonappend.Buffer
	appender.AppendJSON(&b)
	require.JSONEq(t, string(want), string(b))
}

// fill sets every field to a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(*n), int64(*n)).UTC()))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`{"raw":true}`)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)) + `"\`)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n) << 40)
	case reflect.Float64:
		v.SetFloat(float64(*n) / 8)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		if text, ok := v.Addr().Interface().(interface{ UnmarshalText([]byte) error }); ok {
			fillID(v, text, n)
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("jsonappendtest: cannot fill " + v.Type().String())
	}
}

// fillID sets a typed id, whichever kind it is of.
func fillID(v reflect.Value, into interface{ UnmarshalText([]byte) error }, n *int) {
	digits := "_" + strings.Repeat("0", 24) + string([]byte{'0' + byte(*n/8%8), '1' + byte(*n%8)})
	for _, prefix := range []string{"ws", "user", "key", "mk", "route", "pub", "audit", "req", "att", "gw", "profile", "dept", "byok", "guard", "rule", "rollout"} {
		if into.UnmarshalText([]byte(prefix+digits)) == nil {
			return
		}
	}
	panic("jsonappendtest: cannot fill " + v.Type().String())
}
