package wire_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func healthMessage() wire.Health {
	at := time.Date(2026, 10, 1, 12, 0, 0, 5e6, time.UTC)
	one, two := uuid.UUID{0: 1, 15: 1}, uuid.UUID{0: 1, 15: 2}
	return wire.Health{
		Instance: one, Sequence: 12, SentAt: at, Last: true, Settled: 178_000_000,
		Endpoints: []wire.EndpointHealth{
			{
				ID: "north:acme/small",
				Standing: wire.EndpointStanding{
					OpenUntil: at.Add(time.Minute), Opened: 2, ClosedThrough: at, CoolUntil: at.Add(time.Second), CoolStep: 20 * time.Second,
				},
				Cells: []wire.HealthCell{
					{Slot: 177_999_999, HealthCounts: wire.HealthCounts{Failed: 3}},
					{Origin: two, Slot: 178_000_001, HealthCounts: wire.HealthCounts{
						Succeeded: 300, Failed: 2, Limited: 1, Geo: 4, Measured: 299, Input: 70_000, CachedRead: 300, Output: 9_000,
						Samples: []wire.HealthSample{{Class: 0, Count: 1}, {Class: 150, Count: 299}, {Class: 1023, Count: 7}},
					}},
					{Origin: one, Slot: 178_000_001, HealthCounts: wire.HealthCounts{Succeeded: 1}},
				},
			},
			{ID: "south:acme/small", Standing: wire.EndpointStanding{CoolUntil: at}},
		},
		Credentials: []wire.CredentialStanding{
			{ID: id.MustParse[id.CredentialKind]("byok_01kb7n0z1v8q5r2m3t4w5x6y7z"), CoolUntil: at, CoolStep: time.Second, Refused: 2, At: at},
		},
	}
}

func TestHealthMessageIsReadAsItWasWritten(t *testing.T) {
	want := healthMessage()
	body := kept(t, "testdata/health-1.bin", wire.AppendHealth(nil, &want))
	require.Equal(t, body, wire.AppendHealth(nil, &want), "another form needs another version")
	got, err := wire.ParseHealth(body)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestHealthMessageThatBreaksOffIsRefused(t *testing.T) {
	m := healthMessage()
	body := wire.AppendHealth(nil, &m)
	for n := range body {
		_, err := wire.ParseHealth(body[:n])
		require.Error(t, err, n)
	}
	_, err := wire.ParseHealth(append(body, 0))
	require.Error(t, err)
}

func TestHealthMessagesThatCannotBe(t *testing.T) {
	for what, change := range map[string]func(*wire.Health){
		"nobody's":                 func(h *wire.Health) { h.Instance = uuid.Nil },
		"no endpoint":              func(h *wire.Health) { h.Endpoints[0].ID = "" },
		"a long name":              func(h *wire.Health) { h.Endpoints[0].ID = string(make([]byte, 513)) },
		"too many calls":           func(h *wire.Health) { h.Endpoints[0].Cells[0].Failed = 1<<24 + 1 },
		"more measured than there": func(h *wire.Health) { h.Endpoints[0].Cells[0].Measured = 1 },
		"sizes of nothing":         func(h *wire.Health) { h.Endpoints[0].Cells[0].Input = 1 },
		"more cached than read":    func(h *wire.Health) { h.Endpoints[0].Cells[1].CachedRead = 70_001 },
		"samples of nothing":       func(h *wire.Health) { h.Endpoints[0].Cells[1].Samples[0].Count = 0 },
		"too many samples":         func(h *wire.Health) { h.Endpoints[0].Cells[1].Samples[0].Count = 301 },
		"a class twice":            func(h *wire.Health) { h.Endpoints[0].Cells[1].Samples[1].Class = 0 },
		"a step of days":           func(h *wire.Health) { h.Endpoints[0].Standing.CoolStep = 25 * time.Hour },
		"opened for ever":          func(h *wire.Health) { h.Endpoints[0].Standing.Opened = 1 << 21 },
		"no credential":            func(h *wire.Health) { h.Credentials[0].ID = id.Credential{} },
		"refused for ever":         func(h *wire.Health) { h.Credentials[0].Refused = 1 << 21 },
		"a year that never comes":  func(h *wire.Health) { h.SentAt = time.Unix(1<<40, 0) },
	} {
		t.Run(what, func(t *testing.T) {
			m := healthMessage()
			change(&m)
			_, err := wire.ParseHealth(wire.AppendHealth(nil, &m))
			require.Error(t, err)
		})
	}
}

func TestHealthMessageOfAnotherVersion(t *testing.T) {
	_, err := wire.ParseHealth([]byte{2, 1, 1})
	require.ErrorIs(t, err, wire.ErrHealthVersion)
	_, err = wire.ParseHealth(make([]byte, wire.MaxHealth+1))
	require.Error(t, err)
	require.NotErrorIs(t, err, wire.ErrHealthVersion)
}

// FuzzHealth: whatever comes on the subject is refused, or is a message that
// means the same when it is written again.
func FuzzHealth(f *testing.F) {
	body, err := os.ReadFile("testdata/health-1.bin")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte{})
	f.Add([]byte(`{"gateway":"gw_01kb7n0z1v8q5r2m3t4w5x6y7z"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := wire.ParseHealth(body)
		if err != nil {
			return
		}
		again := wire.AppendHealth(nil, &m)
		require.LessOrEqual(t, len(again), len(body)+64)
		back, err := wire.ParseHealth(again)
		require.NoError(t, err)
		require.Equal(t, m, back)
	})
}

func BenchmarkParseHealth(b *testing.B) {
	m := healthMessage()
	body := wire.AppendHealth(nil, &m)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = wire.ParseHealth(body)
	}
}
