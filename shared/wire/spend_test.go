package wire

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

func TestSpendIsOneNumber(t *testing.T) {
	for text, want := range map[string]Spend{
		"0":                         {},
		"4500":                      {Cost: 4500},
		"4000000000000000000004500": {BYOK: 4, Cost: 4500},
		"1000000000000000000000000000000000000000000004500":     {Requests: 1, Cost: 4500},
		"12000000000000000000000000007000009223372036854775807": {Requests: 12000, BYOK: 7, Cost: math.MaxInt64},
		"12000000009223372036854775807000009223372036854775807": {Requests: 12000, BYOK: math.MaxInt64, Cost: math.MaxInt64},
	} {
		got, err := ParseSpend([]byte(`{"val":"` + text + `"}`))
		require.NoError(t, err)
		require.Equal(t, want, got, text)
		require.Equal(t, text, want.Text())
	}
	rapid.Check(t, func(r *rapid.T) {
		s := drawSpend(r)
		got, err := ParseSpend([]byte(`{"val":"` + s.Text() + `"}`))
		require.NoError(r, err)
		require.Equal(r, s, got)
	})
}

func drawSpend(r *rapid.T) Spend {
	return Spend{
		Requests: rapid.Int64Min(0).Draw(r, "requests"), Cost: money.Nanos(rapid.Int64Min(0).Draw(r, "cost")),
		BYOK: money.Nanos(rapid.Int64Min(0).Draw(r, "byok")),
	}
}

// What NATS adds up as numbers is what Add makes of the parts.
func TestSpendAddsUpAsItsNumber(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var sum big.Int
		var want Spend
		for _, s := range rapid.SliceOf(rapid.Custom(drawSpend)).Draw(r, "list") {
			n, ok := new(big.Int).SetString(s.Text(), 10)
			require.True(r, ok)
			sum.Add(&sum, n)
			want = want.Add(s)
		}
		got, err := ParseSpend([]byte(`{"val":"` + sum.String() + `"}`))
		require.NoError(r, err)
		require.Equal(r, want, got)
	})
}

func TestSpendBeyondItsRange(t *testing.T) {
	largest := Spend{Requests: math.MaxInt64, Cost: math.MaxInt64, BYOK: math.MaxInt64}
	got, err := ParseSpend([]byte(`{"val":"` + strings.Repeat("9", 80) + `"}`))
	require.NoError(t, err)
	require.Equal(t, largest, got)
	require.Equal(t, largest, largest.Add(largest))
	got, err = ParseSpend([]byte(`{"val":"-1000000000000000000000001"}`))
	require.NoError(t, err)
	require.Zero(t, got)
	for _, body := range []string{``, `{}`, `{"val":"1.5"}`, `{"val":"-"}`, `{"val":"0x10"}`, `[]`} {
		_, err := ParseSpend([]byte(body))
		require.ErrorIs(t, err, ErrCounter, body)
		_, err = ParsePosition([]byte(body))
		require.ErrorIs(t, err, ErrCounter, body)
	}
	_, err = ParsePosition([]byte(`{"val":"-1"}`))
	require.ErrorIs(t, err, ErrCounter)
	at, err := ParsePosition([]byte(`{"val":"41"}`))
	require.NoError(t, err)
	require.Equal(t, uint64(41), at)
}

func TestSpendWithout(t *testing.T) {
	s := Spend{Requests: 5, Cost: 100, BYOK: 30}
	require.Equal(t, money.Nanos(70), s.Counted(false))
	require.Equal(t, money.Nanos(100), s.Counted(true))
	require.Zero(t, Spend{Cost: 1, BYOK: 2}.Counted(false))
	require.Equal(t, Spend{Requests: 4, Cost: 90}, s.Less(Spend{Requests: 1, Cost: 10, BYOK: 40}))
}

func TestSpendSubjects(t *testing.T) {
	ids := id.SystemSource()
	ws, key, gw := id.New[id.WorkspaceKind](ids), KeyAccount(id.New[id.KeyKind](ids)), id.New[id.GatewayKind](ids)
	at := time.Date(2026, 3, 1, 1, 0, 0, 0, time.FixedZone("east", 2*3600))
	require.Equal(t, "spend.epoch.2.e1", SpendEpoch("e1"))
	require.Equal(t, "spend.epoch.begun.e1", SpendBegun("e1"))
	require.Equal(t, "spend.e1.at."+gw.String(), SpendAt("e1", gw))
	require.Equal(t, "spend.e1.day.20260228."+ws.String()+"."+string(key), SpendOn("e1", at, ws, key))
	require.Equal(t, "spend.e1.all."+ws.String()+".all", SpendEver("e1", ws, AccountWorkspace))
	require.Equal(t, "spend.*.day.20260228.>", SpendOfDay(at))
	require.Equal(t, "spend.e1.>", SpendOfEpoch("e1"))
}
