package id_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// rnd is an endless stream of one byte.
type rnd byte

func (r rnd) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

var at = time.Date(2026, 10, 1, 12, 0, 0, 123_456_789, time.UTC)

func TestWrittenForm(t *testing.T) {
	w := id.New[id.WorkspaceKind](id.NewSource(func() time.Time { return at }, rnd(0xab)))
	text := w.String()
	require.Len(t, text, len("ws_")+26)
	require.True(t, strings.HasPrefix(text, "ws_"))
	require.Equal(t, at.Truncate(time.Millisecond), w.Time())
	require.Equal(t, uuid.Version(7), w.UUID().Version())
	require.Equal(t, uuid.RFC4122, w.UUID().Variant())

	back, err := id.Parse[id.WorkspaceKind](text)
	require.NoError(t, err)
	require.Equal(t, w, back)
	require.Equal(t, w, id.FromUUID[id.WorkspaceKind](w.UUID()))
	// A known pair holds the spelling, which databases and clients keep.
	known := id.FromUUID[id.KeyKind](uuid.MustParse("019a0000-1234-7abc-8def-0123456789ab"))
	require.Equal(t, "key_01k80004hmfay8vvr14d2pf2db", known.String())
	parsed, err := id.Parse[id.KeyKind](known.String())
	require.NoError(t, err)
	require.Equal(t, known.UUID(), parsed.UUID())
}

func TestParseTakesOneSpellingOnly(t *testing.T) {
	text := id.New[id.WorkspaceKind](id.SystemSource()).String()
	for _, bad := range []string{
		"", "ws_", text[3:], strings.ToUpper(text), "key" + text[2:], text + "0", text[:len(text)-1], " " + text,
		"ws_8" + text[4:],               // more than 128 bits
		"ws_00000000000000000000000000", // none is the empty text
		text[:10] + "u" + text[11:], text[:10] + "i" + text[11:], "WS_" + text[3:],
	} {
		_, err := id.Parse[id.WorkspaceKind](bad)
		require.ErrorIs(t, err, id.ErrMalformed, bad)
		if len(bad) > 5 {
			require.NotContains(t, err.Error(), bad)
		}
	}
	require.Panics(t, func() { id.MustParse[id.UserKind](text) })
}

func TestZeroIsTheEmptyText(t *testing.T) {
	type doc struct {
		W id.Workspace `json:"w,omitzero"`
		U id.User      `json:"u"`
	}
	body, err := json.Marshal(doc{})
	require.NoError(t, err)
	require.JSONEq(t, `{"u":""}`, string(body))
	u := id.New[id.UserKind](id.SystemSource())
	var d doc
	d.U = u
	require.NoError(t, json.Unmarshal([]byte(`{"u":""}`), &d))
	require.True(t, d.U.IsZero(), "empty text clears")
	require.Error(t, json.Unmarshal([]byte(`{"u":"`+id.New[id.KeyKind](id.SystemSource()).String()+`"}`), &d), "another kind")
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var u uuid.UUID
		copy(u[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
		v := id.FromUUID[id.RequestKind](u)
		if v.IsZero() {
			return
		}
		back, err := id.Parse[id.RequestKind](v.String())
		require.NoError(t, err)
		require.Equal(t, v, back)
	})
}

func TestTexts(t *testing.T) {
	a, b := id.New[id.KeyKind](id.SystemSource()), id.New[id.KeyKind](id.SystemSource())
	require.Equal(t, []string{a.String(), b.String(), ""}, id.Texts([]id.Key{a, b, {}}))
	require.NotNil(t, id.Texts[id.KeyKind](nil))
}

func TestTextSortsLikeTime(t *testing.T) {
	now := at
	s := id.NewSource(func() time.Time { return now }, rnd(0xff))
	last := ""
	for i := range 20_000 {
		if i%1000 == 999 {
			now = now.Add(time.Duration(i%3-1) * time.Millisecond) // also backwards
		}
		text := id.New[id.RequestKind](s).String()
		require.Greater(t, text, last)
		last = text
	}
}

func TestSourceIsSafeForConcurrentUse(t *testing.T) {
	s := id.SystemSource()
	var mu sync.Mutex
	seen := make(map[id.Request]bool)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				v := id.New[id.RequestKind](s)
				mu.Lock()
				seen[v] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, 4000)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no entropy") }

func TestNoRandomnessIsFatal(t *testing.T) {
	require.Panics(t, func() { id.New[id.KeyKind](id.NewSource(time.Now, broken{})) })
}

func FuzzParse(f *testing.F) {
	f.Add("ws_01kb7n0z1v8q5r2m3t4w5x6y7z")
	f.Add("ws_7zzzzzzzzzzzzzzzzzzzzzzzzz")
	f.Add("key_")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := id.Parse[id.WorkspaceKind](text)
		if err == nil && !v.IsZero() && v.String() != text {
			t.Fatalf("two spellings of one id")
		}
	})
}

func BenchmarkNew(b *testing.B) {
	s := id.SystemSource()
	b.ReportAllocs()
	for b.Loop() {
		id.New[id.RequestKind](s)
	}
}

func BenchmarkString(b *testing.B) {
	v := id.New[id.RequestKind](id.NewSource(time.Now, bytes.NewReader(make([]byte, 1<<12))))
	b.ReportAllocs()
	for b.Loop() {
		_ = v.String()
	}
}
