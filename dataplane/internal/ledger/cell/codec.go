package cell

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// ErrDocument says that a body is not a document that this version can have
// written.
var ErrDocument = errors.New("body is not a document of a limit")

// codecVersion is the form of a document:
//
//	version, kind: a byte each; epoch: 8 bytes
//	the number of entries; each: gateway 16 bytes, instance 8 bytes, want,
//	  of minutes: the number of buckets; each: unit (after the first, from the one before), n
//	  of slots:   slots, lease
//	  of held:    held, lease, stated, the point's epoch as length and text, the point's sequence
//
// Whole numbers without a size are unsigned varints of encoding/binary, bytes of
// a size big-endian.
const codecVersion = 1

// What no gateway passes.
const (
	maxEntries = 4096
	maxEpoch   = 64 // bytes
)

// encode writes d, whose entries are sorted.
func (d *document) encode() []byte {
	b := make([]byte, 0, 32+len(d.entries)*48)
	b = append(b, codecVersion, byte(d.kind))
	b = binary.BigEndian.AppendUint64(b, d.epoch)
	b = binary.AppendUvarint(b, uint64(len(d.entries)))
	for i := range d.entries {
		b = d.entries[i].append(b, d.kind)
	}
	return b
}

func (e *entry) append(b []byte, k kind) []byte {
	gw := e.gateway.UUID()
	b = append(b, gw[:]...)
	b = binary.BigEndian.AppendUint64(b, e.instance)
	b = binary.AppendUvarint(b, uint64(e.want))
	switch k {
	case minutes:
		b = binary.AppendUvarint(b, uint64(len(e.buckets)))
		var before int64
		for _, k := range e.buckets {
			b = binary.AppendUvarint(b, uint64(k.unit-before))
			b = binary.AppendUvarint(b, uint64(k.n))
			before = k.unit
		}
	case slots:
		b = binary.AppendUvarint(b, uint64(e.slots))
		b = binary.AppendUvarint(b, uint64(e.lease))
	case holdings:
		b = binary.AppendUvarint(b, uint64(e.held))
		b = binary.AppendUvarint(b, uint64(e.lease))
		b = binary.AppendUvarint(b, uint64(e.stated))
		b = binary.AppendUvarint(b, uint64(len(e.point.Epoch)))
		b = append(b, e.point.Epoch...)
		b = binary.AppendUvarint(b, e.point.Stream)
	}
	return b
}

// decode reads a document of a kind. What it accepts has one form only.
func decode(body []byte, k kind) (document, error) {
	d := document{kind: k}
	r := reader{left: body}
	if r.byte() != codecVersion || r.byte() != byte(k) {
		return document{}, ErrDocument
	}
	d.epoch = r.fixed()
	n := r.number(maxEntries)
	for range n {
		e := r.entry(k)
		if m := len(d.entries); r.bad || e.gateway.IsZero() || m > 0 && !d.entries[m-1].before(e.gateway) {
			return document{}, ErrDocument
		}
		d.entries = append(d.entries, e)
	}
	if r.bad || len(r.left) > 0 {
		return document{}, ErrDocument
	}
	return d, nil
}

// before is the order of entries.
func (e *entry) before(gw id.Gateway) bool {
	a, b := e.gateway.UUID(), gw.UUID()
	return bytes.Compare(a[:], b[:]) < 0
}

// reader reads a body; bad says that it was not as it should be.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.left) {
		r.bad, r.left = true, nil
		return make([]byte, n)
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) byte() byte { return r.bytes(1)[0] }

func (r *reader) fixed() uint64 { return binary.BigEndian.Uint64(r.bytes(8)) }

// number reads a number of up to most, in its shortest form.
func (r *reader) number(most int64) int64 {
	v, n := binary.Uvarint(r.left)
	if n <= 0 || v > uint64(most) || n > 1 && r.left[n-1] == 0 {
		r.bad, r.left = true, nil
		return 0
	}
	r.left = r.left[n:]
	return int64(v)
}

// text reads at most most bytes.
func (r *reader) text(most int64) string {
	n := r.number(most)
	if int(n) > len(r.left) {
		r.bad, r.left = true, nil
		return ""
	}
	return string(r.bytes(int(n)))
}

// maxMilli is the largest time in Unix ms that is one in ns too.
const maxMilli = math.MaxInt64 / milli / 2

func (r *reader) entry(k kind) entry {
	var gw uuid.UUID
	copy(gw[:], r.bytes(len(gw)))
	e := entry{gateway: id.FromUUID[id.GatewayKind](gw), instance: r.fixed(), want: r.number(maxMilli)}
	switch k {
	case minutes:
		e.buckets = r.buckets()
	case slots:
		e.slots = r.number(math.MaxInt64)
		e.lease = r.number(maxMilli)
	case holdings:
		e.held = money.Nanos(r.number(math.MaxInt64))
		e.lease = r.number(maxMilli)
		e.stated = r.number(maxMilli)
		e.point.Epoch = r.text(maxEpoch)
		e.point.Stream = uint64(r.number(math.MaxInt64))
		r.bad = r.bad || e.point.Epoch == "" && e.point.Stream > 0
	}
	return e
}

func (r *reader) buckets() (list []bucket) {
	var before int64
	for i := range r.number(maxBuckets) {
		b := bucket{unit: r.number(math.MaxInt64 - before), n: r.number(math.MaxInt64)}
		if r.bad || b.n == 0 || i > 0 && b.unit == 0 {
			r.bad = true
			return nil
		}
		b.unit += before
		before = b.unit
		list = append(list, b)
	}
	return list
}
