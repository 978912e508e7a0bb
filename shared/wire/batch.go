package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
)

// HeaderUsageBatch says that a usage message holds several records, and how
// many: its body is a run of them, each written by AppendUsageRecord. Their
// sequences follow each other from HeaderUsageSequence on, so that a record
// that nobody can read still counts as received, and no other with it.
const HeaderUsageBatch = "Signalbox-Batch"

// MaxUsageBatch is the most records in one message, and more than any gateway
// sends: a larger number in HeaderUsageBatch is not believed.
const MaxUsageBatch = 1024

// HeaderUsageEncoding says how the body of a batch is compressed:
// UsageEncodingS2, or, where the header is not there, not at all.
const (
	HeaderUsageEncoding = "Signalbox-Encoding"
	UsageEncodingS2     = "s2" // one S2 block, github.com/klauspost/compress/s2
)

// MaxUsageBatchBytes is the most that a compressed batch may hold, which is what
// a message holds at most where NATS is left as it is. Gateways send less.
const MaxUsageBatchBytes = 1 << 20

// recordHead is the length of a record, 4 bytes, big endian.
const recordHead = 4

// UsageRecordSize is what a record of n bytes takes in a batch.
func UsageRecordSize(n int) int { return recordHead + n }

// AppendUsageRecord appends a record, a UsageEvent as JSON, to the body of a
// batch.
func AppendUsageRecord(body, record []byte) []byte {
	return append(binary.BigEndian.AppendUint32(body, uint32(len(record))), record...)
}

// CompressUsage appends a batch's body, compressed, to dst, and returns what the
// header says of it. A body that does not get smaller is left as it is.
func CompressUsage(dst, body []byte) (packed []byte, encoding string) {
	dst = slices.Grow(dst, max(0, s2.MaxEncodedLen(len(body))))
	room := dst[len(dst):cap(dst)]
	if out := s2.Encode(room, body); len(out) < len(body) {
		return dst[:len(dst)+len(out)], UsageEncodingS2
	}
	return append(dst, body...), ""
}

// ErrUsageEncoding says that the body of a batch cannot be decompressed.
var ErrUsageEncoding = errors.New("usage batch is not readable")

// DecompressUsage returns the body of a batch with an encoding as in
// HeaderUsageEncoding. It fails with ErrUsageEncoding.
func DecompressUsage(body []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return body, nil
	case UsageEncodingS2:
	default:
		return nil, fmt.Errorf("%w: encoding %q is not known", ErrUsageEncoding, encoding)
	}
	size, err := s2.DecodedLen(body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUsageEncoding, err)
	case size > MaxUsageBatchBytes:
		return nil, fmt.Errorf("%w: it holds %d bytes, more than %d", ErrUsageEncoding, size, MaxUsageBatchBytes)
	}
	out, err := s2.Decode(nil, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsageEncoding, err)
	}
	return out, nil
}

// UsageRecords returns the records of a batch of n, which alias body. rest is the
// end of body when that is no record, or one more, and empty otherwise.
func UsageRecords(body []byte, n int) (records [][]byte, rest []byte) {
	for len(body) >= recordHead && len(records) < min(n, MaxUsageBatch) {
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
