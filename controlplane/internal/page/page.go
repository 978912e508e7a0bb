// Package page owns cursor paging: what is asked for, what is given, and the
// opaque cursor between. Lists run newest first by their UUIDv7, so rows that
// appear meanwhile never shift a later page. It knows nothing of SQL or HTTP.
package page

import (
	"encoding/base64"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// The sizes of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 250
)

// Query asks for one page.
type Query struct {
	Cursor string // Result.Next of the page before; "" for the first
	Limit  int    // 1 to MaxLimit; 0 means DefaultLimit
}

// Result is one page.
type Result[T any] struct {
	Items []T
	Next  string // "" on the last page
}

// Size is the limit to use.
func (q Query) Size() int {
	switch {
	case q.Limit <= 0:
		return DefaultLimit
	case q.Limit > MaxLimit:
		return MaxLimit
	default:
		return q.Limit
	}
}

// After is the id that the page before ended with, uuid.Nil for the first
// page. A cursor that was not made here is a validation_error.
func (q Query) After() (uuid.UUID, error) {
	if q.Cursor == "" {
		return uuid.Nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		var u uuid.UUID
		// Compared again because base64 has several spellings of the same bytes.
		if u, err = uuid.FromBytes(raw); err == nil && u != uuid.Nil && Cursor(u) == q.Cursor {
			return u, nil
		}
	}
	return uuid.Nil, fault.Invalid(fault.Violation{
		Path: "cursor", Code: "invalid_cursor", Message: "is not a cursor of this list: use next_cursor of the page before, unchanged",
	})
}

// Cursor is the cursor of the page after last.
func Cursor(last uuid.UUID) string { return base64.RawURLEncoding.EncodeToString(last[:]) }

// Cut makes a page of rows, which were read with one more than size so that
// the last page is known. key is what After compares with.
func Cut[T any](rows []T, size int, key func(T) uuid.UUID) Result[T] {
	if len(rows) <= size {
		return Result[T]{Items: rows}
	}
	rows = rows[:size:size]
	return Result[T]{Items: rows, Next: Cursor(key(rows[size-1]))}
}
