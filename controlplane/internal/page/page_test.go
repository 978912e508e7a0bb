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

// next is the cursor that q's list gives after last.
func next(q page.Query, last uuid.UUID) string {
	q.Limit = 1
	return page.Cut([]uuid.UUID{last, uuid.New()}, q, func(u uuid.UUID) uuid.UUID { return u }).Next
}

func TestCursors(t *testing.T) {
	u := uuid.Must(uuid.NewV7())
	keys := page.Query{List: "keys"}
	cursor := next(keys, u)
	got, err := page.Query{List: "keys", Cursor: cursor}.After()
	require.NoError(t, err)
	require.Equal(t, u, got)
	got, err = keys.After()
	require.NoError(t, err)
	require.Equal(t, uuid.Nil, got)
	for name, cursor := range map[string]string{
		"not base64": "*", "too short": "AAAA", "too long": cursor + "AA", "padded": cursor + "==",
		"nil": next(keys, uuid.Nil), "unmarked": base64.RawURLEncoding.EncodeToString(u[:]),
		"of another list": next(page.Query{List: "logs"}, u), "of no list": next(page.Query{}, u),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := page.Query{List: "keys", Cursor: cursor}.After()
			require.True(t, fault.Is(err, fault.ValidationError))
			require.Equal(t, "cursor", fault.Of(err).Violations[0].Path)
		})
	}
}

func TestCut(t *testing.T) {
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	self := func(u uuid.UUID) uuid.UUID { return u }
	three, two := page.Query{Limit: 3}, page.Query{Limit: 2}
	require.Equal(t, page.Result[uuid.UUID]{Items: ids}, page.Cut(ids, three, self))
	require.Equal(t, page.Result[uuid.UUID]{Items: ids[:2], Next: next(two, ids[1])}, page.Cut(ids, two, self))
	require.Equal(t, page.Result[uuid.UUID]{}, page.Cut[uuid.UUID](nil, two, self))
}

func FuzzCursor(f *testing.F) {
	f.Add(next(page.Query{}, uuid.Must(uuid.NewV7())))
	f.Add("")
	f.Fuzz(func(t *testing.T, cursor string) {
		u, err := page.Query{Cursor: cursor}.After()
		if err == nil && cursor != "" && next(page.Query{}, u) != cursor {
			t.Fatal("a cursor has two spellings")
		}
	})
}
