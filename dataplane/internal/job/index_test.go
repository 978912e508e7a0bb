package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/job"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

func TestTheIndexListsWhatAWorkspaceMade(t *testing.T) {
	conn := natstest.New(t).Ready()
	index := job.NewIndex(conn)
	ctx := t.Context()
	for _, name := range []string{"file-a", "file-b", "file-c", "file-a"} {
		require.NoError(t, index.Put(ctx, ours, catalog.Files, name))
	}
	require.NoError(t, index.Put(ctx, theirs, catalog.Files, "file-theirs"))
	require.NoError(t, index.Put(ctx, ours, catalog.Batches, "batch_x"))

	names, err := index.List(ctx, ours, catalog.Files)
	require.NoError(t, err)
	require.Equal(t, []string{"file-c", "file-b", "file-a"}, names)

	require.NoError(t, index.Drop(ctx, ours, catalog.Files, "file-b"))
	require.NoError(t, index.Drop(ctx, ours, catalog.Files, "file-never"))
	require.NoError(t, index.Drop(ctx, theirs, catalog.Files, "file-a"))
	names, err = index.List(ctx, ours, catalog.Files)
	require.NoError(t, err)
	require.Equal(t, []string{"file-c", "file-a"}, names)

	names, err = index.List(ctx, theirs, catalog.Videos)
	require.NoError(t, err)
	require.Empty(t, names)
}
