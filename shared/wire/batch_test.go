package wire_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestUsageBatchIsReadAsWritten(t *testing.T) {
	want := [][]byte{[]byte(`{"a":1}`), {}, bytes.Repeat([]byte("x"), 300)}
	var body []byte
	size := 0
	for _, record := range want {
		body = wire.AppendUsageRecord(body, record)
		size += wire.UsageRecordSize(len(record))
	}
	require.Len(t, body, size)
	records, rest := wire.UsageRecords(body, wire.MaxUsageBatch)
	require.Equal(t, want, records)
	require.Empty(t, rest)
}

// FuzzUsageRecords: whatever arrives, nothing of it is lost or made up.
func FuzzUsageRecords(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		records, rest := wire.UsageRecords(body, wire.MaxUsageBatch)
		require.LessOrEqual(t, len(records), wire.MaxUsageBatch)
		var again []byte
		for _, record := range records {
			again = wire.AppendUsageRecord(again, record)
		}
		require.True(t, bytes.Equal(body, append(again, rest...)))
	})
}

func TestCompressedBatchesAreReadAsWritten(t *testing.T) {
	random := make([]byte, 200)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)
	for name, body := range map[string][]byte{
		"empty": {}, "repeating": bytes.Repeat([]byte(`{"schema":1}`), 10_000), "random": random, "one byte": {7},
	} {
		packed, encoding := wire.CompressUsage([]byte("before"), body)
		rest, ok := bytes.CutPrefix(packed, []byte("before"))
		require.True(t, ok, name)
		require.LessOrEqual(t, len(rest), len(body), "a message's bound holds for it too: %s", name)
		require.Equal(t, name == "repeating", encoding == wire.UsageEncodingS2, name)
		again, err := wire.DecompressUsage(rest, encoding)
		require.NoError(t, err, name)
		require.True(t, bytes.Equal(body, again), name)
	}
}

// Who can write to the stream cannot have a message become more than it may hold.
func TestWhatCannotBeDecompressedIsRefused(t *testing.T) {
	bomb := s2.Encode(nil, make([]byte, wire.MaxUsageBatchBytes+1))
	most := s2.Encode(nil, make([]byte, wire.MaxUsageBatchBytes))
	for name, body := range map[string][]byte{"nothing": nil, "no block": []byte("no block"), "cut": most[:len(most)/2], "bomb": bomb} {
		_, err := wire.DecompressUsage(body, wire.UsageEncodingS2)
		require.ErrorIs(t, err, wire.ErrUsageEncoding, name)
	}
	_, err := wire.DecompressUsage(nil, "gzip")
	require.ErrorIs(t, err, wire.ErrUsageEncoding)
	out, err := wire.DecompressUsage(most, wire.UsageEncodingS2)
	require.NoError(t, err)
	require.Len(t, out, wire.MaxUsageBatchBytes)
}

// FuzzDecompressUsage: whatever arrives is refused or stays within the bound.
func FuzzDecompressUsage(f *testing.F) {
	f.Add(s2.Encode(nil, bytes.Repeat([]byte("ab"), 100)))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := wire.DecompressUsage(body, wire.UsageEncodingS2)
		require.LessOrEqual(t, len(out), wire.MaxUsageBatchBytes)
		if err != nil {
			require.ErrorIs(t, err, wire.ErrUsageEncoding)
			return
		}
		records, rest := wire.UsageRecords(out, wire.MaxUsageBatch)
		size := len(rest)
		for _, record := range records {
			size += wire.UsageRecordSize(len(record))
		}
		require.Equal(t, len(out), size)
	})
}

// The format is a contract between versions.
func TestUsageBatchFormat(t *testing.T) {
	body := wire.AppendUsageRecord(wire.AppendUsageRecord(nil, []byte("{}")), []byte("ab!"))
	require.Equal(t, "000000027b7d"+"00000003616221", hex.EncodeToString(body))
}

func TestTheUnreadableEndOfABatchIsLeftOver(t *testing.T) {
	whole := wire.AppendUsageRecord(nil, []byte("first"))
	for name, end := range map[string][]byte{
		"no length":         {0, 0},
		"longer than there": {0, 0, 0, 9, 'x'},
		"absurd length":     {0xff, 0xff, 0xff, 0xff, 'x'},
	} {
		records, rest := wire.UsageRecords(append(bytes.Clone(whole), end...), 2)
		require.Equal(t, [][]byte{[]byte("first")}, records, name)
		require.Equal(t, end, rest, name)
	}
	records, rest := wire.UsageRecords(make([]byte, 4*(wire.MaxUsageBatch+1)), 1<<40)
	require.Len(t, records, wire.MaxUsageBatch)
	require.Len(t, rest, 4)
	records, rest = wire.UsageRecords(append(bytes.Clone(whole), whole...), 1)
	require.Len(t, records, 1)
	require.Equal(t, whole, rest, "more than was announced")
}
