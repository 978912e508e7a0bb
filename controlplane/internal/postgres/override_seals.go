package postgres

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Keys implements override.Sealings.
func (*OverrideStore) Keys(ctx context.Context) ([]override.Keys, error) {
	var rows []overrideRow
	err := system(ctx).Select("version", "keys").Where("keys NOT IN ('{}', 'null')").Order("version").Find(&rows).Error
	list := make([]override.Keys, len(rows))
	for i, r := range rows {
		list[i] = override.Keys{Version: r.Version, Sealed: r.Keys.v}
	}
	return list, translate(err, "read the operator's sealed keys")
}

// ReplaceKeys implements override.Sealings.
func (*OverrideStore) ReplaceKeys(ctx context.Context, k override.Keys) error {
	return translate(system(ctx).Model(&overrideRow{}).Where("version = ?", k.Version).
		Updates(map[string]any{"keys": jsonColumn[map[string]secret.Sealed]{k.Sealed}}).Error, "seal the operator's keys anew")
}

var _ override.Sealings = (*OverrideStore)(nil)
