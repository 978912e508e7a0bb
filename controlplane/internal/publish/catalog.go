package publish

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const (
	lookAtCatalog = 10 * time.Second
	catalogWithin = 30 * time.Second
	retryCatalog  = 200 * time.Millisecond
)

// catalog publishes the catalog now, when its source gives another one, and
// after NATS came back.
func (l *leader) catalog(ctx context.Context) {
	published := ""
	trouble := trouble{log: l.d.Log, what: "publishing the catalog fails"}
	for {
		pause := lookAtCatalog
		digest, err := l.publishCatalog(ctx, published)
		if trouble.met(ctx, l.d.Now(), err) {
			pause = retryCatalog
		} else {
			published = digest
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-l.naming:
			published = ""
		case <-timer.C:
		}
		timer.Stop()
	}
}

// publishCatalog publishes the source's catalog unless its content is the one
// already published, and returns the content's digest.
func (l *leader) publishCatalog(ctx context.Context, published string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	if err := l.d.Conn.Ready(); err != nil {
		return "", err
	}
	c := l.d.Catalog.Catalog()
	c.Revision = 0
	_, content, err := policy.Encode(c)
	if err != nil || content == published {
		return content, err
	}
	there, err := l.read.Leader(ctx, wire.BucketCatalog, wire.CatalogPointer)
	if err != nil && !errors.Is(err, document.ErrAbsent) {
		return "", err
	}
	if c.Revision, err = l.d.Revisions.Of(ctx, content, max(0, revisionOf(there)), l.d.Now().UTC()); err != nil {
		return "", err
	}
	body, digest, err := policy.Encode(c)
	if err != nil {
		return "", err
	}
	name := wire.CatalogBody(digest)
	where, err := l.write.Body(ctx, wire.BucketCatalog, name, body)
	if err != nil {
		return "", err
	}
	_, err = l.write.Pointer(ctx, wire.BucketCatalog, wire.CatalogPointer, policy.Pointer{
		Schema: policy.Schema, Revision: c.Revision, Digest: digest, Size: len(body), Where: where, Name: name,
		Published: l.d.Now().UTC(),
	})
	if err == nil {
		l.metrics.catalog.Store(c.Revision)
	}
	return content, err
}
