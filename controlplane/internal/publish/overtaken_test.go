package publish_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// overtaken commits one more change after the outbox was read and before the
// workspace is compiled.
type overtaken struct {
	publish.Compiler
	change func()
}

func (o *overtaken) Compile(ctx context.Context, ws id.Workspace) (publish.Compiled, error) {
	o.change()
	return o.Compiler.Compile(ctx, ws)
}

// TestAChangeThatTheCompilationOvertookIsSettledToo looks at the account of a
// publication that never was in a batch of its own.
func TestAChangeThatTheCompilationOvertookIsSettledToo(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace()
	change := sync.OnceFunc(func() { w.touch(ws, "acme/small") })
	w.start(func(d *publish.Deps) { d.Compiler = &overtaken{d.Compiler, change} })
	conn, err := w.db.Direct(t.Context())
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	require.Eventually(t, func() bool {
		var published, settled int
		err := conn.QueryRow(t.Context(), "SELECT count(published_at), count(settled_at) FROM publications").Scan(&published, &settled)
		return err == nil && published == 2 && settled == 2
	}, soon, 20*time.Millisecond)
}
