package cell

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

var gateways = []id.Gateway{
	id.MustParse[id.GatewayKind]("gw_01kb7n0z1v8q5r2m3t4w5x6y7z"), id.MustParse[id.GatewayKind]("gw_01kb7n0z1v8q5r2m3t4w5x6y80"),
}

func examples() map[string]document {
	return map[string]document{
		"minutes": {kind: minutes, epoch: 7, entries: []entry{
			{gateway: gateways[0], instance: 1, want: 1_795_000_000_300, buckets: []bucket{{1_795_000_000, 3}, {1_795_000_001, 1}, {1_795_000_060, 900}}},
			{gateway: gateways[1], instance: math.MaxUint64},
		}},
		"slots": {kind: slots, epoch: math.MaxUint64, entries: []entry{{gateway: gateways[0], slots: 3, lease: 1_795_000_030_000}, {gateway: gateways[1]}}},
		"held": {kind: holdings, entries: []entry{
			{gateway: gateways[0], held: 2 * money.USD, lease: 1_795_000_030_000, stated: 1_795_000_000_000, point: ledger.Point{Epoch: "e", Stream: 12}},
			{gateway: gateways[1], held: math.MaxInt64, lease: 1, stated: 2},
		}},
		"nothing": {kind: slots},
	}
}

// TestDocumentsAreRead keeps the form: versions of the gateway run side by side.
func TestDocumentsAreRead(t *testing.T) {
	want := map[string]string{
		"nothing": "0102000000000000000000",
		"minutes": "0101000000000000000702019acf507c3b45cb81507a270bd378ff0000000000000001acbed9f29e3403c08df6d7060301013b8407019acf507c3b45cb81507a270bd37900ffffffffffffffff0000",
		"slots":   "0102ffffffffffffffff02019acf507c3b45cb81507a270bd378ff00000000000000000003b0a6dbf29e34019acf507c3b45cb81507a270bd379000000000000000000000000",
		"held":    "0103000000000000000002019acf507c3b45cb81507a270bd378ff00000000000000000080a8d6b907b0a6dbf29e3480bcd9f29e3401650c019acf507c3b45cb81507a270bd37900000000000000000000ffffffffffffffff7f01020000",
	}
	for name, d := range examples() {
		body := d.encode()
		got, err := decode(body, d.kind)
		require.NoError(t, err, name)
		require.Equal(t, d, got, name)
		require.Equal(t, want[name], hex.EncodeToString(body), name)
	}
}

func TestForeignBodiesAreRefused(t *testing.T) {
	for name, d := range examples() {
		body := d.encode()
		for i := range body {
			_, err := decode(body[:i], d.kind)
			require.ErrorIs(t, err, ErrDocument, "%s, cut at %d", name, i)
		}
		for what, bad := range map[string][]byte{
			"more": append(append([]byte{}, body...), 0), "version": append([]byte{2}, body[1:]...), "empty": nil,
			"json": []byte(`{"epoch":"e","ready_at":"2026-11-30T12:00:00Z"}`),
		} {
			_, err := decode(bad, d.kind)
			require.ErrorIs(t, err, ErrDocument, "%s, %s", name, what)
		}
		for _, k := range []kind{minutes, slots, holdings} {
			if k != d.kind {
				_, err := decode(body, k)
				require.ErrorIs(t, err, ErrDocument)
			}
		}
	}
	for name, d := range map[string]document{
		"twice":    {kind: slots, entries: []entry{{gateway: gateways[0]}, {gateway: gateways[0]}}},
		"order":    {kind: slots, entries: []entry{{gateway: gateways[1]}, {gateway: gateways[0]}}},
		"nobody":   {kind: slots, entries: []entry{{}}},
		"bucket 0": {kind: minutes, entries: []entry{{gateway: gateways[0], buckets: []bucket{{1, 0}}}}},
		"buckets":  {kind: minutes, entries: []entry{{gateway: gateways[0], buckets: []bucket{{1, 1}, {1, 1}}}}},
		"negative": {kind: slots, entries: []entry{{gateway: gateways[0], slots: -1}}},
		"far":      {kind: slots, entries: []entry{{gateway: gateways[0], lease: math.MaxInt64}}},
		"epoch":    {kind: holdings, entries: []entry{{gateway: gateways[0], point: ledger.Point{Stream: 1}}}},
	} {
		_, err := decode(d.encode(), d.kind)
		require.ErrorIs(t, err, ErrDocument, name)
	}
}

func TestDocumentsComeBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		k := rapid.SampledFrom([]kind{minutes, slots, holdings}).Draw(r, "kind")
		d := document{kind: k, epoch: rapid.Uint64().Draw(r, "epoch")}
		ms := rapid.Int64Range(0, maxMilli)
		for i := range rapid.IntRange(0, 2).Draw(r, "entries") {
			e := entry{gateway: gateways[i], instance: rapid.Uint64().Draw(r, "instance"), want: ms.Draw(r, "want")}
			switch k {
			case minutes:
				var unit int64
				for range rapid.IntRange(0, maxBuckets).Draw(r, "buckets") {
					unit += rapid.Int64Range(1, 1<<40).Draw(r, "unit")
					e.buckets = append(e.buckets, bucket{unit, rapid.Int64Range(1, math.MaxInt64).Draw(r, "n")})
				}
			case slots:
				e.slots, e.lease = rapid.Int64Min(0).Draw(r, "slots"), ms.Draw(r, "lease")
			case holdings:
				e.held, e.lease, e.stated = money.Nanos(rapid.Int64Min(0).Draw(r, "held")), ms.Draw(r, "lease"), ms.Draw(r, "stated")
				e.point.Epoch = rapid.StringN(0, -1, maxEpoch).Draw(r, "point")
				if e.point.Epoch != "" {
					e.point.Stream = uint64(rapid.Int64Min(0).Draw(r, "sequence"))
				}
			}
			d.entries = append(d.entries, e)
		}
		got, err := decode(d.encode(), k)
		require.NoError(r, err)
		require.Equal(r, d, got)
	})
}

func FuzzDocument(f *testing.F) {
	for _, d := range examples() {
		f.Add(d.encode())
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, k := range []kind{minutes, slots, holdings} {
			d, err := decode(body, k)
			if err != nil {
				require.ErrorIs(t, err, ErrDocument)
				continue
			}
			require.Equal(t, body, d.encode(), "one document has one form")
		}
	})
}
