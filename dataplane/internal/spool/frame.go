package spool

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// A segment is a run of frames:
//
//	magic   4 bytes
//	kind    1 byte
//	length  4 bytes, big endian, of the payload
//	crc     4 bytes, big endian, CRC-32C of kind, length and payload
//	payload
//
// The magic is not valid UTF-8 and so never occurs in a payload's JSON: after
// damage the next frame can be found again.
var magic = [4]byte{0xf5, 'S', 'B', 0xff}

const (
	frameHead = 13
	// maxPayload keeps a frame within what NATS takes in one message.
	maxPayload = 512 << 10
)

type kind byte

const (
	kindIntent kind = 'I' // payload: request id, JSON of the event to record when no completion comes
	kindEvent  kind = 'E' // payload: sequence, request id, outcome flag, JSON
	kindLost   kind = 'L' // payload: first and last sequence, reason
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is one record of a segment. Its payload aliases the bytes it was read
// from.
type frame struct {
	kind    kind
	payload []byte
}

// appendFrame appends a frame whose payload is the concatenation of parts.
func appendFrame(dst []byte, k kind, parts ...[]byte) []byte {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	dst = append(dst, magic[:]...)
	start := len(dst)
	dst = append(dst, byte(k))
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	crc := crc32.Update(0, castagnoli, dst[start:])
	for _, p := range parts {
		crc = crc32.Update(crc, castagnoli, p)
	}
	dst = binary.BigEndian.AppendUint32(dst, crc)
	for _, p := range parts {
		dst = append(dst, p...)
	}
	return dst
}

type readResult int

const (
	readOK    readResult = iota
	readShort            // more bytes are needed
	readBad              // no frame begins here
)

// readFrame reads the frame at the start of data and returns its size.
func readFrame(data []byte) (frame, int, readResult) {
	if n := min(len(data), len(magic)); !bytes.Equal(data[:n], magic[:n]) {
		return frame{}, 0, readBad
	}
	if len(data) < frameHead {
		return frame{}, 0, readShort
	}
	size := binary.BigEndian.Uint32(data[5:9])
	if size > maxPayload {
		return frame{}, 0, readBad
	}
	end := frameHead + int(size)
	if len(data) < end {
		return frame{}, 0, readShort
	}
	crc := crc32.Update(0, castagnoli, data[4:9])
	crc = crc32.Update(crc, castagnoli, data[frameHead:end])
	if crc != binary.BigEndian.Uint32(data[9:13]) {
		return frame{}, 0, readBad
	}
	return frame{kind: kind(data[4]), payload: data[frameHead:end:end]}, end, readOK
}

// damage says what was wrong with a segment.
type damage int

const (
	intact  damage = iota
	torn           // the last frame is incomplete: the process or machine died writing it
	corrupt        // bytes that are no frame, with or without frames after them
)

// scan calls visit with every readable frame of a whole segment, in order.
func scan(data []byte, visit func(frame)) damage {
	state := intact
	for len(data) > 0 {
		f, n, result := readFrame(data)
		if result == readOK {
			visit(f)
			data = data[n:]
			continue
		}
		next := bytes.Index(data[1:], magic[:])
		if next < 0 {
			if result == readShort && state == intact {
				return torn
			}
			return corrupt
		}
		state = corrupt
		data = data[1+next:]
	}
	return state
}

// eventHead is the fixed part of an event's payload.
const eventHead = 8 + 16 + 1

// appendEventHead writes sequence, id and whether the outcome is unknown.
func appendEventHead(dst []byte, seq uint64, req id.Request, unknown bool) []byte {
	dst = binary.BigEndian.AppendUint64(dst, seq)
	u := req.UUID()
	dst = append(dst, u[:]...)
	if unknown {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// event is a decoded kindEvent or kindLost payload.
type event struct {
	seq     uint64
	last    uint64     // equals seq but for a lost run
	id      id.Request // zero for a lost run
	unknown bool
	lost    bool
	body    []byte // JSON, or the reason of a lost run
}

// parseEvent decodes the payload of a kindEvent or kindLost frame.
func parseEvent(f frame) (event, bool) {
	switch {
	case f.kind == kindEvent && len(f.payload) > eventHead:
		seq := binary.BigEndian.Uint64(f.payload)
		return event{
			seq: seq, last: seq,
			id:      id.FromUUID[id.RequestKind](uuid.UUID(f.payload[8:24])),
			unknown: f.payload[24] == 1,
			body:    f.payload[eventHead:],
		}, true
	case f.kind == kindLost && len(f.payload) >= 16:
		return event{
			seq: binary.BigEndian.Uint64(f.payload), last: binary.BigEndian.Uint64(f.payload[8:]),
			lost: true, body: f.payload[16:],
		}, true
	}
	return event{}, false
}

// appendLost appends the frame of a lost run.
func appendLost(dst []byte, gap span, reason []byte) []byte {
	head := binary.BigEndian.AppendUint64(nil, gap.first)
	return appendFrame(dst, kindLost, binary.BigEndian.AppendUint64(head, gap.last), reason)
}

// parseIntent decodes the payload of a kindIntent frame.
func parseIntent(f frame) (id.Request, []byte, bool) {
	if f.kind != kindIntent || len(f.payload) <= 16 {
		return id.Request{}, nil, false
	}
	return id.FromUUID[id.RequestKind](uuid.UUID(f.payload[:16])), f.payload[16:], true
}
