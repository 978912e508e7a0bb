package preset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/dataplane/internal/preset"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var (
	ids    = id.SystemSource()
	ours   = id.New[id.WorkspaceKind](ids)
	theirs = id.New[id.WorkspaceKind](ids)
	team   = id.New[id.PresetKind](ids)
	secret = id.New[id.PresetKind](ids)
	open   = id.New[id.PresetKind](ids)
	ada    = id.New[id.UserKind](ids)
	bob    = id.New[id.UserKind](ids)

	errAway = errors.New("nats is away")
)

// bucket is a Source of what the test puts in it.
type bucket struct {
	mu      sync.Mutex
	any     map[string][]byte
	leader  map[string][]byte // else any
	err     error
	asked   []string
	waiting chan struct{} // reads wait for it; nil: they do not
}

func (b *bucket) PresetDocument(ctx context.Context, key string) ([]byte, error) {
	b.mu.Lock()
	wait := b.waiting
	b.asked = append(b.asked, key)
	body, err := b.any[key], b.err
	b.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return given(body, err)
}

func (b *bucket) PresetDocumentAtLeader(_ context.Context, key string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, "leader "+key)
	body, ok := b.leader[key]
	if !ok {
		body = b.any[key]
	}
	return given(body, b.err)
}

func given(body []byte, err error) ([]byte, error) {
	if err == nil && body == nil {
		err = fault.New(fault.NotFound, "none")
	}
	return body, err
}

func (b *bucket) reads() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.asked)
}

func (b *bucket) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *bucket) put(key string, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.any[key] = body
}

func (b *bucket) version(v policy.PresetVersion) { b.put(wire.PresetVersion(v.Preset, v.Version), v) }

func version(ws id.Workspace, p id.Preset, slug string, n int) policy.PresetVersion {
	return policy.PresetVersion{
		Schema: policy.Schema, Workspace: ws, Preset: p, Slug: slug, Version: n,
		Config: policy.PresetConfig{SystemPrompt: fmt.Sprintf("%s %d", slug, n)},
	}
}

func public(n int, revision int64, versions ...int) policy.PublicPreset {
	return policy.PublicPreset{
		Schema: policy.Schema, Workspace: theirs, Preset: open, Version: n, Versions: versions, Revision: revision,
	}
}

// world is a store, its source and what it is asked with.
type world struct {
	*preset.Store
	t      *testing.T
	source *bucket
	disk   *lastgood.Store
	view   *policy.View
	now    time.Time
	change func(*preset.Options)
}

func newWorld(t *testing.T, change func(*preset.Options)) *world {
	view, err := policy.Compile(policy.Snapshot{
		Workspace: ours, Revision: 1, Status: policy.WorkspaceActive,
		Presets: []policy.Preset{{ID: secret, Slug: "secret", Version: 1, Owner: ada}, {ID: team, Slug: "team", Version: 3}},
	}.Versioned())
	require.NoError(t, err)
	disk, err := lastgood.Open(t.TempDir(), lastgood.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	w := &world{t: t, source: &bucket{any: map[string][]byte{}, leader: map[string][]byte{}}, disk: disk, view: view, now: time.Unix(1e9, 0), change: change}
	for n := range 4 {
		w.source.version(version(ours, team, "team", n+1))
		w.source.version(version(theirs, open, "open", n+1))
	}
	w.source.version(version(ours, secret, "secret", 1))
	w.source.put(wire.PublicPreset("acme", "open"), public(3, 5, 2, 3))
	w.restart()
	return w
}

// restart forgets everything but the disk.
func (w *world) restart() {
	o := preset.Options{Source: w.source, Disk: w.disk, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler)}
	if w.change != nil {
		w.change(&o)
	}
	w.Store = preset.New(o)
}

// find is the prompt of what a name stands for, or the reason why nothing.
func (w *world) find(owner id.User, name string) string {
	w.t.Helper()
	v, err := w.Find(w.t.Context(), w.view, owner, name)
	if err == nil {
		return v.Config.SystemPrompt
	}
	f := fault.Of(err)
	switch {
	case errors.Is(err, preset.ErrUnknown):
		require.Equal(w.t, fault.ModelNotFound, f.Code)
		require.Equal(w.t, fault.PresetNotFound, f.Reason)
		return "unknown"
	case errors.Is(err, preset.ErrUndetermined):
		require.Equal(w.t, fault.UpstreamUndetermined, f.Code)
		require.Positive(w.t, f.RetryAfter)
		return "undetermined"
	}
	w.t.Fatalf("unexpected: %v", err)
	return ""
}
