package jsonappend_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

func TestMembersAndCommas(t *testing.T) {
	var b jsonappend.Buffer
	b.Open('{')
	b.StringIf("none", "")
	b.IntIf("none", 0)
	b.BoolIf("none", false)
	b.FloatIf("none", 0)
	b.Strings("none", nil)
	b.Raw("none", nil)
	b.String("s", "x")
	b.Int("i", -5)
	b.Uint("u", math.MaxUint64)
	b.Float("f", 0.25)
	b.Float("nan", math.NaN())
	b.Bool("t", true)
	b.Time("at", time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC))
	b.Strings("l", []string{"a", "b"})
	b.Raw("r", []byte(`{"x":1}`))
	jsonappend.Text(&b, "id", word("w"))
	b.Name("o")
	b.Open('{')
	b.Close('}')
	b.Close('}')
	require.JSONEq(t, `{"s":"x","i":-5,"u":18446744073709551615,"f":0.25,"nan":0,"t":true,"at":"2026-03-01T12:00:00.000000005Z","l":["a","b"],"r":{"x":1},"id":"w","o":{}}`, string(b))
}

// word appends itself.
type word string

func (w word) AppendTo(dst []byte) []byte { return append(dst, w...) }

func FuzzString(f *testing.F) {
	for _, seed := range []string{"", "plain", "quote\" slash\\ line\n tab\t nul\x00", "北京🙂é", "bad \xff\xc0 utf8", "\u2028<>&"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		theirs, err := json.Marshal(s)
		require.NoError(t, err)
		var want, got string
		require.NoError(t, json.Unmarshal(theirs, &want))
		require.NoError(t, json.Unmarshal(jsonappend.AppendString(nil, s), &got))
		require.Equal(t, want, got)
	})
}
