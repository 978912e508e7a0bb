package wire_test

import (
	"bytes"
	"encoding/hex"
	"testing"

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
	records, rest := wire.UsageRecords(body)
	require.Equal(t, want, records)
	require.Empty(t, rest)
}

// FuzzUsageRecords: whatever arrives, nothing of it is lost or made up.
func FuzzUsageRecords(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		records, rest := wire.UsageRecords(body)
		require.LessOrEqual(t, len(records), wire.MaxUsageBatch)
		var again []byte
		for _, record := range records {
			again = wire.AppendUsageRecord(again, record)
		}
		require.True(t, bytes.Equal(body, append(again, rest...)))
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
		records, rest := wire.UsageRecords(append(bytes.Clone(whole), end...))
		require.Equal(t, [][]byte{[]byte("first")}, records, name)
		require.Equal(t, end, rest, name)
	}
	records, rest := wire.UsageRecords(make([]byte, 4*(wire.MaxUsageBatch+1)))
	require.Len(t, records, wire.MaxUsageBatch)
	require.Len(t, rest, 4)
}
