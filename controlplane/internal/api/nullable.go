package api

import (
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// orNull writes what is zero as null.
func orNull[T comparable](v T) nullable.Nullable[T] {
	var zero T
	if v == zero {
		return nullable.NewNullNullable[T]()
	}
	return nullable.NewNullableWithValue(v)
}

// timeOrNull writes a time, or null for the zero one.
func timeOrNull(t time.Time) nullable.Nullable[time.Time] {
	if t.IsZero() {
		return nullable.NewNullNullable[time.Time]()
	}
	return nullable.NewNullableWithValue(t.UTC())
}

// patchNullable sets field where that is said, to nil with null.
func patchNullable[T any](field **T, said nullable.Nullable[T]) {
	if !said.IsSpecified() {
		return
	}
	*field = nil
	if v, err := said.Get(); err == nil {
		*field = &v
	}
}

// pointed writes nil as null.
func pointed[T any](v *T) nullable.Nullable[T] {
	if v == nil {
		return nullable.NewNullNullable[T]()
	}
	return nullable.NewNullableWithValue(*v)
}

// orZero reads what orNull writes; nil for an absent field.
func orZero[T any](field nullable.Nullable[T]) *T {
	if !field.IsSpecified() {
		return nil
	}
	if field.IsNull() {
		return new(T)
	}
	v, _ := field.Get() // it is there
	return &v
}

// patchID reads an id that a change sets: nil when the field is absent, the
// zero id when it is null.
func patchID[K id.Kind](field nullable.Nullable[string], path string) (*id.ID[K], error) {
	if !field.IsSpecified() {
		return nil, nil //nolint:nilnil // absent and no error is an answer here
	}
	if field.IsNull() {
		return &id.ID[K]{}, nil
	}
	text, _ := field.Get() // it is there
	parsed, err := filterID[K](&text, path)
	return &parsed, err
}
