package lastgood

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string, o Options) *Store {
	o.Log = slog.New(slog.DiscardHandler)
	s, err := Open(dir, o)
	require.NoError(t, err)
	return s
}

// run runs the store once: what was queued is written when it returns.
func run(t *testing.T, s *Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Run(ctx))
}

func TestSavedDocumentsComeBack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.Save(Keys, "a", []byte("old"))
	s.Save(Keys, "a", []byte("new"))
	s.Save(Workspaces, "a", []byte("other"))
	s.Save(Keys, "b", []byte("gone"))
	s.Remove(Keys, "b")
	run(t, s)
	s = open(t, dir, Options{})
	body, err := s.Load(Keys, "a")
	require.NoError(t, err)
	require.Equal(t, "new", string(body))
	body, err = s.Load(Workspaces, "a")
	require.NoError(t, err)
	require.Equal(t, "other", string(body))
	_, err = s.Load(Keys, "b")
	require.ErrorIs(t, err, ErrNone)
}

func TestDamagedFilesAreIgnoredAndCounted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.Save(Keys, "a", []byte("the document"))
	run(t, s)
	path := filepath.Join(dir, string(Keys), "a")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, damage := range map[string][]byte{
		"cut":      good[:len(good)-3],
		"empty":    {},
		"flipped":  append(append([]byte{}, good[:len(good)-1]...), 'X'),
		"headless": []byte("the document"),
		"foreign":  []byte("something else\nthe document"),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, dir, Options{})
			require.NoError(t, os.WriteFile(path, damage, 0o600))
			_, err := s.Load(Keys, "a")
			require.ErrorIs(t, err, ErrNone)
			require.EqualValues(t, 1, s.Counts().Corrupt)
		})
	}
}

func TestFilesAreForTheProcessOnly(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.Save(Keys, "a", []byte("x"))
	run(t, s)
	info, err := os.Stat(filepath.Join(dir, string(Keys), "a"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestTheOldestGoFirstAndUnfinishedOnesToo(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 10 {
		s.Save(Keys, strconv.Itoa(i), []byte("x"))
	}
	run(t, s)
	for i := range 10 {
		at := time.Unix(int64(1000+i), 0)
		require.NoError(t, os.Chtimes(filepath.Join(dir, string(Keys), strconv.Itoa(i)), at, at))
	}
	unfinished := filepath.Join(dir, string(Keys), "z"+temporary)
	require.NoError(t, os.WriteFile(unfinished, nil, 0o600))
	s = open(t, dir, Options{Kept: 4})
	run(t, s)
	require.NoFileExists(t, unfinished)
	for i := range 10 {
		_, err := s.Load(Keys, strconv.Itoa(i))
		require.Equal(t, i < 6, err != nil, "document %d", i)
	}
}

func TestADiskThatCannotFollowDropsAndCounts(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	big := make([]byte, maxQueued/4)
	for i := range 6 {
		s.Save(Workspaces, strconv.Itoa(i), big)
	}
	require.EqualValues(t, 2, s.Counts().Dropped)
	require.Equal(t, 6, s.Counts().Waiting, "what is on the disk of the dropped ones must go")
}

func TestRunWritesWhileItRuns(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	s.Save(Catalog, "current", []byte("x"))
	require.Eventually(t, func() bool { return s.Counts().Written == 1 }, 10*time.Second, time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}
