// Package fill gives every field of a value something distinct and not zero,
// so that a mapping that forgets a field shows in a comparison. It knows no
// particular type but time.Time.
package fill

import (
	"fmt"
	"reflect"
	"time"
	"unsafe"
)

// Value returns a T in which every field is set, also unexported ones and
// those of nested values. Different seeds give different values, except that
// bools are true for odd seeds and false for even ones.
func Value[T any](seed int) T {
	var v T
	f := filler{seed: seed * 1000}
	f.set(reflect.ValueOf(&v).Elem(), "")
	return v
}

type filler struct{ seed, n int }

func (f *filler) set(v reflect.Value, name string) {
	f.n++
	at := f.seed + f.n
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s-%d", name, at))
	case reflect.Bool:
		v.SetBool(f.seed/1000%2 == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(at))
	case reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(uint64(at))
	case reflect.Uint8:
		v.SetUint(uint64(at%255 + 1))
	case reflect.Float64:
		v.SetFloat(float64(at))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.set(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.set(v.Index(0), name)
		f.set(v.Index(1), name)
	case reflect.Array:
		for i := range v.Len() {
			f.set(v.Index(i), name)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.set(key, name)
		f.set(value, name)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		f.fields(v, at)
	default:
		panic("fill: cannot fill " + v.Type().String() + " of " + name)
	}
}

func (f *filler) fields(v reflect.Value, at int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		// Microseconds: what Postgres keeps.
		v.Set(reflect.ValueOf(time.Date(2031, 2, 3, 4, 5, 6, at%1000*1000, time.UTC).Add(time.Duration(at) * time.Minute)))
		return
	}
	for i := range v.NumField() {
		field := v.Field(i)
		if !field.CanSet() {
			field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
		}
		f.set(field, v.Type().Field(i).Name)
	}
}

// Zero lists the paths of v that are zero, to check that Value covers a type.
func Zero(v any) []string {
	var paths []string
	zero(reflect.ValueOf(v), "", &paths)
	return paths
}

func zero(v reflect.Value, path string, paths *[]string) {
	if v.IsZero() {
		*paths = append(*paths, path)
		return
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	for i := range v.NumField() {
		zero(v.Field(i), path+"."+v.Type().Field(i).Name, paths)
	}
}
