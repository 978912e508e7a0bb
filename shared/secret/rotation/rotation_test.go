package rotation_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/rotation"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

type rig struct {
	*rotation.Keyring
	path  string
	log   *lines
	again chan os.Signal
}

func start(t *testing.T) *rig {
	t.Helper()
	r := &rig{path: filepath.Join(t.TempDir(), "keyring.json"), log: &lines{}, again: make(chan os.Signal)}
	_, err := seal.CreateFile(r.path)
	require.NoError(t, err)
	r.Keyring, err = rotation.Open(r.path, rotation.Options{Log: slog.New(slog.NewTextHandler(r.log, nil)), Again: r.again})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return r
}

// look has the file looked at, and returns when that is done: a second signal
// is taken only then.
func (r *rig) look() {
	r.again <- syscall.SIGHUP
	r.again <- syscall.SIGHUP
}

// change writes another keyring to the file.
func (r *rig) change(t *testing.T, change func(*seal.Keyring) (*seal.Keyring, error)) *seal.Keyring {
	t.Helper()
	ring, err := seal.LoadFile(r.path)
	require.NoError(t, err)
	ring, err = change(ring)
	require.NoError(t, err)
	require.NoError(t, ring.WriteFile(r.path))
	return ring
}

func TestAChangedFileIsTaken(t *testing.T) {
	r := start(t)
	old, err := r.Seal(secret.NewString("canary"), "a")
	require.NoError(t, err)
	name, err := r.Make([]byte("job"), "a")
	require.NoError(t, err)
	changed := r.Changed()

	rotated := r.change(t, (*seal.Keyring).Rotate)
	r.look()
	select {
	case <-changed:
	default:
		t.Fatal("who waits is told")
	}
	require.Equal(t, rotated.PrimaryID(), r.Current().PrimaryID())
	plain, err := r.Open(old, "a")
	require.NoError(t, err)
	require.Equal(t, "canary", plain.Reveal())
	value, err := r.Read(name, "a")
	require.NoError(t, err)
	require.Equal(t, "job", string(value))
	fresh, err := r.Seal(secret.NewString("canary"), "a")
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(fresh, rotated.Mark()))

	r.change(t, (*seal.Keyring).Drop)
	r.look()
	_, err = r.Open(old, "a")
	require.ErrorIs(t, err, seal.ErrUnknownKey)
	_, err = r.Read(name, "a")
	require.ErrorIs(t, err, seal.ErrOpen)
	require.Equal(t, 2, r.log.count("another keyring was taken"))
	r.look()
	require.Equal(t, 2, r.log.count("another keyring was taken"), "the same file is no news")
}

func TestABrokenFileIsRefusedAndTheKeyringStays(t *testing.T) {
	r := start(t)
	good, err := os.ReadFile(r.path)
	require.NoError(t, err)
	before := r.Current()
	stranger, err := seal.New()
	require.NoError(t, err)
	for name, spoil := range map[string]func() error{
		"no JSON":           func() error { return os.WriteFile(r.path, []byte(`{"canary`), 0o600) },
		"cut":               func() error { return os.WriteFile(r.path, good[:len(good)/2], 0o600) },
		"empty":             func() error { return os.WriteFile(r.path, nil, 0o600) },
		"gone":              func() error { return os.Remove(r.path) },
		"readable by all":   func() error { return os.Chmod(r.path, 0o644) },
		"another's keyring": func() error { return stranger.WriteFile(r.path) },
	} {
		t.Run(name, func(t *testing.T) {
			refused := r.log.count("cannot be taken")
			require.NoError(t, spoil())
			r.look()
			require.Same(t, before, r.Current())
			require.Equal(t, refused+1, r.log.count("cannot be taken"), "told once, however often it is looked at")
			require.True(t, r.failing(t))
			require.NoError(t, os.RemoveAll(r.path))
			require.NoError(t, os.WriteFile(r.path, good, 0o600))
			r.look()
			require.False(t, r.failing(t))
		})
	}
	require.Zero(t, r.log.count("canary"))
	rotated := r.change(t, (*seal.Keyring).Rotate)
	r.look()
	require.True(t, rotated.Equal(r.Current()), "a good one is taken after bad ones")
}

// failing is the metric that says that the file cannot be taken.
func (r *rig) failing(t *testing.T) bool {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Keyring)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "signalbox_keyring_failing" {
			return f.GetMetric()[0].GetGauge().GetValue() > 0
		}
	}
	t.Fatal("no such metric")
	return false
}

// What a newer key sealed has the file looked at, without a signal.
func TestAKeyThatIsMissedIsLookedFor(t *testing.T) {
	r := start(t)
	rotated := r.change(t, (*seal.Keyring).Rotate)
	sealed, err := rotated.Seal(secret.NewString("canary"), "a")
	require.NoError(t, err)
	changed := r.Changed()
	_, err = r.Open(sealed, "a")
	require.ErrorIs(t, err, seal.ErrUnknownKey)
	require.ErrorIs(t, err, seal.ErrOpen)
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Fatal("the file was not looked at")
	}
	plain, err := r.Open(sealed, "a")
	require.NoError(t, err)
	require.Equal(t, "canary", plain.Reveal())
}
