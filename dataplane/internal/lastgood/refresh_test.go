package lastgood

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefreshReplacesWhatIsThereAndAddsNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.Save(Keys, "there", []byte("old"))
	run(t, s)
	s.Refresh(Keys, "there", []byte("new"))
	s.Refresh(Keys, "never", []byte("x"))
	s.Save(Keys, "saved", []byte("1"))
	s.Refresh(Keys, "saved", []byte("2"))
	s.Save(Keys, "removed", []byte("1"))
	s.Remove(Keys, "removed")
	s.Refresh(Keys, "removed", []byte("2"))
	run(t, s)
	for name, want := range map[string]string{"there": "new", "never": "", "saved": "2", "removed": ""} {
		body, err := open(t, dir, Options{}).Load(Keys, name)
		require.Equal(t, want, string(body), name)
		require.Equal(t, want == "", err != nil, name)
	}
}

func TestWhatWaitsToBeWrittenIsWhatIsLoaded(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	s.Save(Keys, "a", []byte("old"))
	run(t, s)
	s.Refresh(Keys, "a", []byte("new"))
	body, err := s.Load(Keys, "a")
	require.NoError(t, err)
	require.Equal(t, "new", string(body))
	s.Remove(Keys, "a")
	_, err = s.Load(Keys, "a")
	require.ErrorIs(t, err, ErrNone)
}

// What cannot be replaced is out of date, and none is better.
func TestWhatCannotBeReplacedIsRemoved(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.Save(Keys, "a", []byte("old"))
	s.Save(Keys, "b", []byte("old"))
	run(t, s)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, string(Keys), "a"+temporary, "in the way"), 0o700))
	s.Save(Keys, "a", []byte("new"))
	s.flush()
	_, err := s.Load(Keys, "a")
	require.ErrorIs(t, err, ErrNone)
	require.EqualValues(t, 1, s.Counts().Failed)

	s.Save(Keys, "b", bytes.Repeat([]byte("x"), maxQueued+1))
	s.flush()
	_, err = s.Load(Keys, "b")
	require.ErrorIs(t, err, ErrNone)
	require.EqualValues(t, 1, s.Counts().Dropped)
}
