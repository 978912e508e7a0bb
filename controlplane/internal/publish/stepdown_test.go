package publish_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// terms elects this control plane for as many terms as are asked for.
type terms struct {
	begin chan context.Context
	ended chan struct{}
}

func (e terms) Lead(ctx context.Context, work func(context.Context, <-chan struct{}) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case term := <-e.begin:
			_ = work(term, nil) // its end is no failure
			e.ended <- struct{}{}
		}
	}
}

// fickle gives a catalog, or says what is wrong with it.
type fickle struct{ wrong atomic.Bool }

func (*fickle) Published(context.Context, int64, int64, time.Time) error { return nil }

func (f *fickle) Catalog(context.Context) (catalog.Catalog, int64, error) {
	if f.wrong.Load() {
		return catalog.Catalog{}, 1, catalog.Problems{{Path: "models[0]", Message: "is wrong"}}
	}
	return anyCatalog(), 0, nil
}

// TestAFormerLeaderSaysNothingOfTheCatalog: what it found wrong may be mended
// by now, which only the leader sees.
func TestAFormerLeaderSaysNothingOfTheCatalog(t *testing.T) {
	w := newWorld(t)
	elector, source := terms{make(chan context.Context), make(chan struct{})}, &fickle{}
	p := w.start(func(d *publish.Deps) { d.Elector, d.Catalog = elector, source })
	term := func(until func() bool, text string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		elector.begin <- ctx
		w.eventually(until, text)
		require.True(t, p.Status().Leading)
		cancel()
		<-elector.ended
		status := p.Status()
		require.False(t, status.Leading)
		require.Empty(t, status.Refused)
		require.Zero(t, status.Catalog)
	}
	source.wrong.Store(true)
	term(func() bool { return len(p.Status().Refused) == 1 }, "the leader must say what is wrong")
	source.wrong.Store(false)
	term(func() bool { return p.Status().Catalog > 0 }, "the catalog must be published")
}
