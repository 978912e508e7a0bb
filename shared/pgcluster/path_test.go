package pgcluster

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAnyPathWillDo starts in a directory whose name means something to a URL,
// to a list of drivers' hosts, or to a setting of Postgres.
func TestAnyPathWillDo(t *testing.T) {
	c := start(t, Options{DataDir: filepath.Join(homeDir(t), `a b, "c" & $d%20'é+`)})
	require.Equal(t, "1", query(t, c, "SELECT '1'"))
}

func TestAnInterruptedStartSaysSo(t *testing.T) {
	dir := homeDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel) // initdb takes longer
	_, err := Start(ctx, Options{DataDir: dir})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrStart, "it did not fail by itself")
	start(t, Options{DataDir: dir})
}
