package postgres

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// present fails with not_found when nothing is selected. noun is what the
// caller of the API calls it.
func present(selected *gorm.DB, noun string) error {
	n, err := counted(selected, "look for a "+noun)
	if err == nil && n == 0 {
		return fault.Newf(fault.NotFound, "There is no such %s in this workspace.", noun)
	}
	return err
}

// named reads the ids of at most most of what is selected into list, in their
// order, and says how many there are beyond.
func named[K id.Kind](selected *gorm.DB, most int, list *[]id.ID[K]) (more int, err error) {
	return namedBy(selected, "id", most, list)
}

// namedBy is named where the ids are in another column.
func namedBy[K id.Kind](selected *gorm.DB, column string, most int, list *[]id.ID[K]) (more int, err error) {
	total, err := counted(selected.Session(fresh), "count what is bound")
	if err != nil {
		return 0, err
	}
	var ids []uuid.UUID
	if err := selected.Session(fresh).Order(column).Limit(most).Pluck(column, &ids).Error; err != nil {
		return 0, translate(err, "list what is bound")
	}
	for _, u := range ids {
		*list = append(*list, id.FromUUID[K](u))
	}
	return total - len(ids), nil
}

// release takes what is to be deleted off revoked keys, which no service may
// change any more. Their documents stay as they were published: they are
// refused before anything else in them is looked at.
func release(ctx context.Context, ws id.Workspace, column string, bound uuid.UUID) error {
	done := scoped(ctx, ws).Model(&apiKeyRow{}).Where("status = 'revoked'").Where(map[string]any{column: bound}).
		Updates(map[string]any{column: nil})
	return translate(done.Error, "release revoked keys")
}
