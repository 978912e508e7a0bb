package postgres

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// textArray is a text[] column; nil is stored as an empty array.
type textArray []string

// Value implements driver.Valuer.
func (a textArray) Value() (driver.Value, error) {
	list := []string(a)
	if list == nil {
		list = []string{}
	}
	text, err := pgtype.NewMap().Encode(pgtype.TextArrayOID, pgtype.TextFormatCode, list, nil)
	return string(text), err
}

// Scan implements sql.Scanner.
func (a *textArray) Scan(src any) error {
	return pgtype.NewMap().SQLScanner((*[]string)(a)).Scan(src)
}

// list is nil when empty, as the domain has it.
func (a textArray) list() []string {
	if len(a) == 0 {
		return nil
	}
	return a
}

// jsonColumn is a jsonb column that holds a T.
type jsonColumn[T any] struct{ v T }

// Value implements driver.Valuer.
func (c jsonColumn[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(c.v)
	return string(text), err
}

// Scan implements sql.Scanner.
func (c *jsonColumn[T]) Scan(src any) error {
	switch text := src.(type) {
	case string:
		return json.Unmarshal([]byte(text), &c.v)
	case []byte:
		return json.Unmarshal(text, &c.v)
	default:
		return fmt.Errorf("scan a json column: unexpected %T", src)
	}
}

// hashBytes is nil for the zero hash.
func hashBytes(h secret.Hash) []byte {
	if h.IsZero() {
		return nil
	}
	return h[:]
}

func hashOf(b []byte) secret.Hash {
	var h secret.Hash
	copy(h[:], b)
	return h
}

// uuidPtr is nil for the zero id.
func uuidPtr(u uuid.UUID) *uuid.UUID {
	if u == uuid.Nil {
		return nil
	}
	return &u
}

func uuidOf(u *uuid.UUID) uuid.UUID {
	if u == nil {
		return uuid.Nil
	}
	return *u
}

// utc undoes the local zone that scanning gives.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
