package publish

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const (
	lookAtCatalog = 10 * time.Second
	catalogWithin = 30 * time.Second
	retryCatalog  = 200 * time.Millisecond
)

// told is what was last published: the content's digest, its revision, and the
// version of the operator's overrides in it. The zero value is nothing.
type told struct {
	content  string
	revision int64
	version  int64
}

// catalog publishes the catalog now, when its source gives another one, and
// after NATS came back.
func (l *leader) catalog(ctx context.Context) {
	var published told
	trouble := trouble{log: l.d.Log, what: "publishing the catalog fails"}
	for {
		pause := lookAtCatalog
		next, err := l.publishCatalog(ctx, published)
		if trouble.met(ctx, l.d.Now(), err) {
			pause = retryCatalog
		} else {
			published = next
		}
		l.metrics.refused(err)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-l.naming:
			published = told{}
		case <-l.looking:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// publishCatalog publishes the source's catalog unless its content is the one
// already published.
func (l *leader) publishCatalog(ctx context.Context, published told) (told, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	if err := l.d.Conn.Ready(); err != nil {
		return told{}, err
	}
	c, version, err := l.d.Catalog.Catalog(ctx)
	if err != nil {
		return told{}, err
	}
	c.Revision = 0
	_, content, err := policy.Encode(c)
	switch {
	case err != nil:
		return told{}, err
	case content == published.content && version == published.version:
		return published, nil
	case content != published.content:
		if published.revision, err = l.writeCatalog(ctx, c, content); err != nil {
			return told{}, err
		}
	}
	next := told{content: content, revision: published.revision, version: version}
	return next, l.d.Catalog.Published(ctx, version, next.revision, l.d.Now().UTC())
}

// writeCatalog numbers the catalog and writes it, body first.
func (l *leader) writeCatalog(ctx context.Context, c catalog.Catalog, content string) (int64, error) {
	there, err := l.read.Leader(ctx, wire.BucketCatalog, wire.CatalogPointer)
	if err != nil && !errors.Is(err, document.ErrAbsent) {
		return 0, err
	}
	if c.Revision, err = l.d.Revisions.Of(ctx, content, max(0, revisionOf(there)), l.d.Now().UTC()); err != nil {
		return 0, err
	}
	body, digest, err := policy.Encode(c)
	if err != nil {
		return 0, err
	}
	name := wire.CatalogBody(digest)
	where, err := l.write.Body(ctx, wire.BucketCatalog, name, body)
	if err != nil {
		return 0, err
	}
	_, err = l.write.Pointer(ctx, wire.BucketCatalog, wire.CatalogPointer, policy.Pointer{
		Schema: policy.Schema, Revision: c.Revision, Digest: digest, Size: len(body), Where: where, Name: name,
		Published: l.d.Now().UTC(),
	})
	if err == nil {
		l.metrics.catalog.Store(c.Revision)
	}
	return c.Revision, err
}
