package postgres

import (
	"fmt"

	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// changed turns the result of an update that must touch exactly one row into
// an error: gorm reports a missing row as success.
func changed(done *gorm.DB, what string) error {
	if done.Error != nil {
		return translate(done.Error, what)
	}
	if done.RowsAffected != 1 {
		return fault.Wrap(fmt.Errorf("%s: %d rows", what, done.RowsAffected), fault.NotFound, "There is no such thing here.")
	}
	return nil
}

// updated writes columns to what own selects, where the version that is stored is
// one less than version; else it fails as versioned does.
func updated(own *gorm.DB, version int64, columns map[string]any, what string) error {
	done := own.Session(fresh).Where("version = ?", version-1).Updates(columns)
	return versioned(done, own.Session(fresh), what)
}

// versioned is changed for an update that was conditional on the version: no
// row means that the thing is gone or has another version, which row tells.
// row selects the column version of the same thing.
func versioned(done, row *gorm.DB, what string) error {
	if done.Error != nil || done.RowsAffected == 1 {
		return translate(done.Error, what)
	}
	return stale(row, what)
}

// stale tells why a version was not found: what row selects is gone, or has
// another one.
func stale(row *gorm.DB, what string) error {
	var present int64
	if err := row.Select("version").Take(&present).Error; err != nil {
		return translate(err, what)
	}
	return txn.Stale(present)
}
