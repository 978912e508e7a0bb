package postgres

import (
	"encoding/binary"
	"math"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
)

// fresh starts a new chain from a prepared one, so that conditions added to
// one use do not show in the next.
var fresh = &gorm.Session{}

// newestFirst orders by a UUIDv7 column and takes the page that q asks for,
// with one row more so that the last page is known.
func newestFirst(db *gorm.DB, column string, q page.Query) (*gorm.DB, error) {
	after, err := q.After()
	if err != nil {
		return nil, err
	}
	if after != uuid.Nil {
		db = db.Where(clause.Lt{Column: clause.Column{Name: column}, Value: after})
	}
	return db.Order(clause.OrderByColumn{Column: clause.Column{Name: column}, Desc: true}).Limit(q.Size() + 1), nil
}

// highestFirst selects a page of versions, and one more, by their numbers.
func highestFirst(db *gorm.DB, q page.Query) (*gorm.DB, error) {
	after, err := q.After()
	if err != nil {
		return nil, err
	}
	if after != uuid.Nil {
		db = db.Where("number < ?", numberAt(after))
	}
	return db.Order("number DESC").Limit(q.Size() + 1), nil
}

// placeOf writes a number where a cursor has an id, and numberAt reads it. No
// number is 0, which would be the first page.
func placeOf(number int) uuid.UUID {
	var u uuid.UUID
	binary.BigEndian.PutUint32(u[12:], uint32(number))
	return u
}

func numberAt(place uuid.UUID) int {
	return int(min(binary.BigEndian.Uint32(place[12:]), math.MaxInt32))
}

// newest reads the page of selected that q asks for, newest first by column,
// which key reads of a row. what is for the log.
func newest[R, T any](
	selected *gorm.DB, column string, q page.Query, key func(R) uuid.UUID, domain func(R) T, what string,
) (page.Result[T], error) {
	db, err := newestFirst(selected, column, q)
	if err != nil {
		return page.Result[T]{}, err
	}
	return paged(db, q, key, domain, what)
}

// paged reads the page that db selects, as newestFirst and highestFirst have it.
func paged[R, T any](db *gorm.DB, q page.Query, key func(R) uuid.UUID, domain func(R) T, what string) (page.Result[T], error) {
	var rows []R
	if err := db.Find(&rows).Error; err != nil {
		return page.Result[T]{}, translate(err, what)
	}
	return cut(rows, q, key, domain), nil
}

// called narrows to a name, whatever the letter case; "" does not.
func called(db *gorm.DB, name string) *gorm.DB {
	if name == "" {
		return db
	}
	return db.Where("lower(name) = lower(?)", name)
}

// counted is how many rows are selected.
func counted(selected *gorm.DB, what string) (int, error) {
	var n int64
	err := selected.Count(&n).Error
	return int(n), translate(err, what)
}

// cut makes the page of domain values.
func cut[R, T any](rows []R, q page.Query, key func(R) uuid.UUID, domain func(R) T) page.Result[T] {
	rowPage := page.Cut(rows, q, key)
	items := make([]T, len(rowPage.Items))
	for i, r := range rowPage.Items {
		items[i] = domain(r)
	}
	return page.Result[T]{Items: items, Next: rowPage.Next}
}
