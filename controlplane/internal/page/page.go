// Package page owns cursor paging: what is asked for, what is given, and the
// opaque cursor between. Lists run newest first by their UUIDv7, so rows that
// appear meanwhile never shift a later page. It knows nothing of SQL or HTTP.
package page

import (
	"crypto/sha256"
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
	List   string // which list this is: another list's cursors are refused
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
// page. A cursor that was not made for this list is a validation_error.
func (q Query) After() (uuid.UUID, error) {
	if q.Cursor == "" {
		return uuid.Nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil && len(raw) >= len(uuid.Nil) {
		u := uuid.UUID(raw[:len(uuid.Nil)])
		// Compared whole, for the list, and because base64 has several
		// spellings of the same bytes.
		if u != uuid.Nil && q.cursor(u) == q.Cursor {
			return u, nil
		}
	}
	return uuid.Nil, fault.Invalid(fault.Violation{
		Path: "cursor", Code: "invalid_cursor", Message: "is not a cursor of this list: use next_cursor of the page before, unchanged",
	})
}

// cursor is the cursor of the page after last. It ends with a mark of its list.
func (q Query) cursor(last uuid.UUID) string {
	const mark = 4
	list := sha256.Sum256([]byte(q.List))
	return base64.RawURLEncoding.EncodeToString(append(last[:], list[:mark]...))
}

// Cut makes the page that q asks for of rows, which were read with one more
// than its size so that the last page is known. key is what After compares
// with.
func Cut[T any](rows []T, q Query, key func(T) uuid.UUID) Result[T] {
	size := q.Size()
	if len(rows) <= size {
		return Result[T]{Items: rows}
	}
	rows = rows[:size:size]
	return Result[T]{Items: rows, Next: q.cursor(key(rows[size-1]))}
}
