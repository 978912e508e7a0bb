package usage

import (
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// recordsIn is how many records a message says it has; 1 unless it is a batch.
func recordsIn(msg jetstream.Msg) int {
	n, ok := batched(msg)
	if !ok {
		return 1
	}
	return n
}

// batched returns the size of a batch, and false for a message that is none or
// whose size is not to be believed.
func batched(msg jetstream.Msg) (int, bool) {
	n, err := strconv.Atoi(msg.Headers().Get(wire.HeaderUsageBatch))
	return n, err == nil && n > 0 && n <= wire.MaxUsageBatch
}

// unpack decodes the records of a message. Each stands for itself: how it is
// read, and what it is kept as when it cannot be, does not depend on those that
// came with it, which are others when the gateway sends it again.
func unpack(msg jetstream.Msg) []decoded {
	m := message{
		subject:  msg.Subject(),
		sequence: msg.Headers().Get(wire.HeaderUsageSequence),
		lost:     msg.Headers().Get(wire.HeaderUsageLost) != "",
		body:     msg.Data(),
	}
	n, ok := batched(msg)
	if !ok {
		return []decoded{decode(m)}
	}
	first, err := strconv.ParseUint(m.sequence, 10, 62)
	if err != nil {
		first = 0 // the sequences are in the records too
	}
	body, err := wire.DecompressUsage(m.body, msg.Headers().Get(wire.HeaderUsageEncoding))
	if err != nil {
		return []decoded{missing(m, first, 0, n, err.Error())}
	}
	records, rest := wire.UsageRecords(body, n)
	list := make([]decoded, 0, len(records)+1)
	for i, record := range records {
		m.body, m.sequence = record, sequenceOf(first, i)
		list = append(list, decode(m))
	}
	if len(rest) == 0 && len(records) >= n {
		return list
	}
	m.body = rest
	return append(list, missing(m, first, len(records), n, "the end of a batch is not readable"))
}

// missing is what is left of a batch, the body of m, that cannot be read after
// so many records. Its sequences are accounted for, or they would hold up the
// mark for ever.
func missing(m message, first uint64, read, n int, reason string) decoded {
	m.sequence = sequenceOf(first, read)
	d := decoded{raw: m, Arrival: Arrival{Gateway: gatewayOf(m.subject)}}
	if first > 0 && read < n {
		d.Run = Run{first + uint64(read), first + uint64(n) - 1}
	}
	d.dead = m.dead(d.Arrival, reason)
	return d
}

// sequenceOf is the sequence of the record at i, as in HeaderUsageSequence.
func sequenceOf(first uint64, i int) string {
	if first == 0 {
		return ""
	}
	return strconv.FormatUint(first+uint64(i), 10)
}
