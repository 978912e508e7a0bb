package wire

import "encoding/binary"

// HeaderUsageBatch says that a usage message holds several records, and how
// many: its body is a run of them, each written by AppendUsageRecord. Their
// sequences follow each other from HeaderUsageSequence on, so that a record
// that nobody can read still counts as received, and no other with it.
const HeaderUsageBatch = "Signalbox-Batch"

// MaxUsageBatch is the most records in one message, and more than any gateway
// sends: a larger number in HeaderUsageBatch is not believed.
const MaxUsageBatch = 1024

// recordHead is the length of a record, 4 bytes, big endian.
const recordHead = 4

// UsageRecordSize is what a record of n bytes takes in a batch.
func UsageRecordSize(n int) int { return recordHead + n }

// AppendUsageRecord appends a record, a UsageEvent as JSON, to the body of a
// batch.
func AppendUsageRecord(body, record []byte) []byte {
	return append(binary.BigEndian.AppendUint32(body, uint32(len(record))), record...)
}

// UsageRecords returns the records of a batch, which alias body. rest is the
// end of body when that is no record, and empty otherwise.
func UsageRecords(body []byte) (records [][]byte, rest []byte) {
	for len(body) >= recordHead && len(records) < MaxUsageBatch {
		size := int64(binary.BigEndian.Uint32(body))
		if size > int64(len(body)-recordHead) {
			break
		}
		end := recordHead + int(size)
		records = append(records, body[recordHead:end:end])
		body = body[end:]
	}
	return records, body
}
