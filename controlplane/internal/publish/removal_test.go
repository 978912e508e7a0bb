package publish_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// foreign writes documents of a database that w's is not.
func (w *world) foreign(keys, workspaces int) (kids []string, pointers []string) {
	w.nats.Ensure(w.nats.Connect())
	for i := range workspaces {
		ws := id.New[id.WorkspaceKind](ids)
		pointers = append(pointers, wire.PolicyPointer(ws))
		_, err := w.writer.Pointer(w.t.Context(), wire.BucketPolicy, pointers[i], policy.Pointer{Schema: 1, Revision: 3})
		require.NoError(w.t, err)
	}
	for i := range keys {
		kids = append(kids, fmt.Sprintf("%02dforeignkey%04d", i%100, i))
		_, err := w.writer.Key(w.t.Context(), policy.Key{KID: kids[i], Workspace: id.New[id.WorkspaceKind](ids), Revision: 3})
		require.NoError(w.t, err)
	}
	return kids, pointers
}

func (w *world) left(kids, pointers []string) (n int) {
	for _, kid := range kids {
		if _, err := w.reader.Leader(w.t.Context(), wire.BucketKeys, kid); err == nil {
			n++
		}
	}
	for _, p := range pointers {
		if _, there := w.pointer(wire.BucketPolicy, p); there {
			n++
		}
	}
	return n
}

// journal is a log that may be read while it is written.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func TestTheWrongDatabaseRemovesNothing(t *testing.T) {
	cases := map[string]struct {
		own              int // workspaces of the database, each with a key
		keys, workspaces int // of another database
		kept             bool
	}{
		"an empty database":               {0, 2, 1, true},
		"mostly unknown keys":             {1, 110, 1, true},
		"mostly unknown workspaces":       {1, 1, 110, true},
		"half of less than a hundred":     {1, 30, 20, false},
		"a few beside an honest database": {2, 1, 1, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for range c.own {
				w.key(w.workspace())
			}
			kids, pointers := w.foreign(c.keys, c.workspaces)
			var log journal
			p := w.start(func(d *publish.Deps) { d.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			w.eventually(func() bool { return p.Status().Reconciled > 0 }, "it must compare")
			if !c.kept {
				require.Zero(t, w.left(kids, pointers))
				require.Zero(t, p.Status().Kept)
				return
			}
			require.Equal(t, c.keys+c.workspaces, w.left(kids, pointers), "nothing may be removed, of neither bucket")
			require.EqualValues(t, c.keys+c.workspaces, p.Status().Kept)
			require.Contains(t, log.String(), "level=ERROR")
			require.Contains(t, log.String(), "publish.allow_mass_removal")
			p.stop()

			// The operator says that this is the database.
			p = w.start(func(d *publish.Deps) { d.AllowMassRemoval = true })
			w.eventually(func() bool { return p.Status().Reconciled > 0 }, "it must compare")
			require.Zero(t, w.left(kids, pointers))
			require.EqualValues(t, c.keys+c.workspaces, p.Status().Removed)
		})
	}
}

// TestARefusalLasts fills the empty database up after the refusal: a few new
// workspaces do not make it the right one.
func TestARefusalLasts(t *testing.T) {
	w := newWorld(t)
	kids, pointers := w.foreign(3, 1)
	p := w.start(nil)
	w.eventually(func() bool { return p.Status().Kept == 4 }, "the removal must be refused")
	k, pub := w.key(w.workspace())
	w.published(k.Workspace, pub.Revision)
	compared := p.Status().Reconciled
	w.nats.Restart() // compares in full
	w.eventually(func() bool { return p.Status().Reconciled > compared }, "it must compare again")
	w.eventually(w.reader.Connected, "the test's own connection must be back")
	require.Equal(t, 4, w.left(kids, pointers))
}
