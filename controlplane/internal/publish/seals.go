package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Catalogs reads the published catalog, as gateways do.
type Catalogs struct{ read *document.Reader }

// NewCatalogs reads over conn.
func NewCatalogs(conn *natsconn.Conn) *Catalogs { return &Catalogs{document.NewReader(conn)} }

// Seals implements reseal.Catalog.
func (c *Catalogs) Seals(ctx context.Context) (revision int64, seals reseal.Count, err error) {
	there, err := c.read.Leader(ctx, wire.BucketCatalog, wire.CatalogPointer)
	if errors.Is(err, document.ErrAbsent) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	var pointer policy.Pointer
	if err := json.Unmarshal(there.Data, &pointer); err != nil {
		return 0, nil, fmt.Errorf("decode the catalog's pointer: %w", err)
	}
	body, err := c.read.Body(ctx, wire.BucketCatalog, pointer)
	if err != nil {
		return 0, nil, err
	}
	var published catalog.Catalog
	if err := json.Unmarshal(body, &published); err != nil {
		return 0, nil, fmt.Errorf("decode the published catalog: %w", err)
	}
	seals = make(reseal.Count)
	for _, p := range published.Providers {
		if !p.Credential.IsZero() {
			seals.Add(p.Credential)
		}
	}
	return pointer.Revision, seals, nil
}

var _ reseal.Catalog = (*Catalogs)(nil)
