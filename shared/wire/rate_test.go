package wire

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
)

func TestRateMinuteIsOneNumber(t *testing.T) {
	for text, want := range map[string]RateMinute{
		"0":                            {},
		"7":                            {29: 7},
		"10000000000":                  {28: 1},
		"200000000000000000003":        {27: 2, 29: 3},
		"99999999990000000001":         {28: 9999999999, 29: 1},
		"5" + strings.Repeat("0", 290): {0: 5},
	} {
		got, err := ParseRate(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
		require.Equal(t, text, want.Text())
	}
	rapid.Check(t, func(r *rapid.T) {
		var a, b, both RateMinute
		for i := range a {
			if rapid.Bool().Draw(r, "used") {
				a[i] = rapid.Int64Range(0, 49*MaxRateCount).Draw(r, "a")
				b[i] = rapid.Int64Range(0, 49*MaxRateCount).Draw(r, "b")
			}
			both[i] = a[i] + b[i]
		}
		sum, ok := new(big.Int).SetString(a.Text(), 10)
		require.True(r, ok)
		addend, ok := new(big.Int).SetString(b.Text(), 10)
		require.True(r, ok)
		got, err := ParseRateBody([]byte(`{"val":"` + sum.Add(sum, addend).String() + `"}`))
		require.NoError(r, err)
		require.Equal(r, both, got, "numbers add slot by slot")
	})
}

func TestRateBeyondItsRange(t *testing.T) {
	for _, value := range []string{"", "-", "1.5", "0x1", "+1", " 1"} {
		_, err := ParseRate(value)
		require.ErrorIs(t, err, ErrCounter, value)
		_, err = ParseRateEpoch(value)
		require.ErrorIs(t, err, ErrCounter, value)
	}
	got, err := ParseRate("-12")
	require.NoError(t, err)
	require.Zero(t, got)
	got, err = ParseRate(strings.Repeat("9", 2*rateDigits*RateSlots))
	require.NoError(t, err)
	require.EqualValues(t, 9_999_999_999, got[0])
	epoch, err := ParseRateMark([]byte(`{"val":"41"}`))
	require.NoError(t, err)
	require.Equal(t, uint64(41), epoch)
	_, err = ParseRateMark([]byte(`{"val":"-1"}`))
	require.ErrorIs(t, err, ErrCounter)
}

// TestRateSubjects: a counter has its place.
func TestRateSubjects(t *testing.T) {
	workspace := id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z")
	require.Equal(t, "rate.a."+workspace.String()+".b.7", RateIn(10, workspace, "b", 7))
}
