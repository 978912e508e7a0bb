package wire

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

func TestSpendIsOneNumber(t *testing.T) {
	for text, want := range map[string]Spend{
		"0":                             {},
		"4500":                          {Cost: 4500},
		"1000000000000000000004500":     {Requests: 1, Cost: 4500},
		"12000000009223372036854775807": {Requests: 12000, Cost: math.MaxInt64},
	} {
		got, err := ParseSpend([]byte(`{"val":"` + text + `"}`))
		require.NoError(t, err)
		require.Equal(t, want, got, text)
		require.Equal(t, text, want.Text())
	}
	rapid.Check(t, func(r *rapid.T) {
		s := Spend{Requests: rapid.Int64Min(0).Draw(r, "requests"), Cost: money.Nanos(rapid.Int64Min(0).Draw(r, "cost"))}
		got, err := ParseSpend([]byte(`{"val":"` + s.Text() + `"}`))
		require.NoError(r, err)
		require.Equal(r, s, got)
	})
}

func TestSpendBeyondItsRange(t *testing.T) {
	largest := Spend{Requests: math.MaxInt64, Cost: math.MaxInt64}
	got, err := ParseSpend([]byte(`{"val":"99999999999999999999999999999999999999999999999999"}`))
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

func TestSpendOfAnEvent(t *testing.T) {
	ids := id.SystemSource()
	first, next := id.New[id.RequestKind](ids), id.New[id.RequestKind](ids)
	for name, c := range map[string]struct {
		event UsageEvent
		want  Spend
	}{
		"a request":              {UsageEvent{ID: first, PrimaryID: first, Outcome: Success, Cost: meter.Cost{Total: 7}}, Spend{1, 7}},
		"one that failed":        {UsageEvent{ID: first, PrimaryID: first, Outcome: Failed}, Spend{1, 0}},
		"one of a dead gateway":  {UsageEvent{ID: first, PrimaryID: first, Outcome: Unknown, Cost: meter.Cost{Total: 3}}, Spend{1, 3}},
		"another model of one":   {UsageEvent{ID: next, PrimaryID: first, Outcome: Success, Cost: meter.Cost{Total: 7}}, Spend{0, 7}},
		"what was refused":       {UsageEvent{ID: first, PrimaryID: first, Outcome: Refused, Cost: meter.Cost{Total: 7}}, Spend{}},
		"what a classifier cost": {UsageEvent{ID: next, PrimaryID: first, Purpose: "classifier", Outcome: Success, Cost: meter.Cost{Total: 2}}, Spend{0, 2}},
	} {
		require.Equal(t, c.want, c.event.Spend(), name)
	}
}

func TestSpendSubjects(t *testing.T) {
	ids := id.SystemSource()
	ws, key, gw := id.New[id.WorkspaceKind](ids), id.New[id.KeyKind](ids), id.New[id.GatewayKind](ids)
	at := time.Date(2026, 3, 1, 1, 0, 0, 0, time.FixedZone("east", 2*3600))
	require.Equal(t, "spend.epoch.e1", SpendEpoch("e1"))
	require.Equal(t, "spend.e1.at."+gw.String(), SpendAt("e1", gw))
	require.Equal(t, "spend.e1.day.20260228."+ws.String()+"."+key.String(), SpendOn("e1", at, ws, key))
	require.Equal(t, "spend.*.day.20260228.>", SpendOfDay(at))
	require.Equal(t, "spend.e1.>", SpendOfEpoch("e1"))
}
