package page_test

import (
	"encoding/base64"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestSize(t *testing.T) {
	for limit, want := range map[int]int{-1: 50, 0: 50, 1: 1, 250: 250, 251: 250} {
		require.Equal(t, want, page.Query{Limit: limit}.Size())
	}
}

func TestCursors(t *testing.T) {
	u := uuid.Must(uuid.NewV7())
	got, err := page.Query{Cursor: page.Cursor(u)}.After()
	require.NoError(t, err)
	require.Equal(t, u, got)
	got, err = page.Query{}.After()
	require.NoError(t, err)
	require.Equal(t, uuid.Nil, got)
	for name, cursor := range map[string]string{
		"not base64": "*", "too short": "AAAA", "too long": page.Cursor(u) + "AA", "padded": page.Cursor(u) + "==",
		"nil": base64.RawURLEncoding.EncodeToString(uuid.Nil[:]),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := page.Query{Cursor: cursor}.After()
			require.True(t, fault.Is(err, fault.ValidationError))
			require.Equal(t, "cursor", fault.Of(err).Violations[0].Path)
		})
	}
}

func TestCut(t *testing.T) {
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	self := func(u uuid.UUID) uuid.UUID { return u }
	require.Equal(t, page.Result[uuid.UUID]{Items: ids}, page.Cut(ids, 3, self))
	require.Equal(t, page.Result[uuid.UUID]{Items: ids[:2], Next: page.Cursor(ids[1])}, page.Cut(ids, 2, self))
	require.Equal(t, page.Result[uuid.UUID]{}, page.Cut[uuid.UUID](nil, 2, self))
}

func FuzzCursor(f *testing.F) {
	f.Add(page.Cursor(uuid.Must(uuid.NewV7())))
	f.Add("")
	f.Fuzz(func(t *testing.T, cursor string) {
		u, err := page.Query{Cursor: cursor}.After()
		if err == nil && cursor != "" && page.Cursor(u) != cursor {
			t.Fatal("a cursor has two spellings")
		}
	})
}
