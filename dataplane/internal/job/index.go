package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Index lists what a workspace has made: a provider's own list would show what
// all workspaces have made with the same credential. It is kept for 30 days and
// is no more than a list: a name that is missing here is still found.
type Index struct {
	reader *document.Reader
	writer *document.Writer
}

// NewIndex keeps the index over conn.
func NewIndex(conn *natsconn.Conn) *Index {
	return &Index{reader: document.NewReader(conn), writer: document.NewWriter(conn)}
}

// Put lists a name.
func (i *Index) Put(ctx context.Context, ws id.Workspace, s catalog.Surface, name string) error {
	return i.writer.Mark(ctx, wire.BucketJobs, key(ws, s, name), []byte(name))
}

// Drop takes a name off the list.
func (i *Index) Drop(ctx context.Context, ws id.Workspace, s catalog.Surface, name string) error {
	k := key(ws, s, name)
	e, err := i.reader.Leader(ctx, wire.BucketJobs, k)
	switch {
	case errors.Is(err, document.ErrAbsent):
		return nil
	case err != nil:
		return err
	}
	return i.writer.Remove(ctx, wire.BucketJobs, k, e.Sequence)
}

// List returns the names of a workspace, the newest first.
func (i *Index) List(ctx context.Context, ws id.Workspace, s catalog.Surface) ([]string, error) {
	var names []string
	err := i.reader.Since(ctx, wire.BucketJobs, prefix(ws, s)+"*", 0, func(e document.Entry) error {
		if !e.Deleted {
			names = append(names, string(e.Data))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s, err)
	}
	slices.Reverse(names)
	return names, nil
}

func prefix(ws id.Workspace, s catalog.Surface) string { return string(s) + "." + ws.String() + "." }

// key has a digest in place of the name, whose letters a subject may not have.
func key(ws id.Workspace, s catalog.Surface, name string) string {
	digest := sha256.Sum256([]byte(name))
	return prefix(ws, s) + hex.EncodeToString(digest[:16])
}
