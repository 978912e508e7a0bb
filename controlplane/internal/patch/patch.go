// Package patch owns how the optional fields of a change meet the fields that
// they change. It knows nothing of any resource.
package patch

// Set gives field the value, where there is one.
func Set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Map is the value as fn makes it, where there is one.
func Map[T any](value *T, fn func(T) T) *T {
	if value == nil {
		return nil
	}
	made := fn(*value)
	return &made
}
