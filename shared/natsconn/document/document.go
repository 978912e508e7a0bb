// Package document owns how published documents lie in NATS and how they are
// read and replaced: key documents, pointers and write-once bodies. Both planes
// use it, so that one side cannot drift from the other. It knows nothing of
// what the documents mean beyond their revision.
package document

import (
	"errors"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// ErrAbsent says that the asked server has no such document. Only a leader's
// answer is final: a replica may lag.
var ErrAbsent = errors.New("no such document")

// Entry is one document as it was stored.
type Entry struct {
	Key      string
	Data     []byte
	Sequence uint64
	Deleted  bool // a marker: the document was removed
}

const (
	headerSequence  = "Nats-Sequence"
	headerSubject   = "Nats-Subject"
	headerOperation = "KV-Operation"
	headerMarker    = "Nats-Marker-Reason"
	headerPending   = "Nats-Num-Pending"
	headerStatus    = "Status"
)

func stream(bucket string) string  { return "KV_" + bucket }
func subject(bucket string) string { return "$KV." + bucket + "." }

// Pushed reads a message of a push subject. The key is what follows prefix.
func Pushed(msg *nats.Msg, prefix string) (Entry, error) {
	key, ok := strings.CutPrefix(msg.Subject, prefix+".")
	if !ok {
		return Entry{}, errors.New("push has a foreign subject")
	}
	return entry(key, msg)
}

func stored(bucket string, msg *nats.Msg) (Entry, error) {
	key, ok := strings.CutPrefix(msg.Header.Get(headerSubject), subject(bucket))
	if !ok {
		return Entry{}, errors.New("stored message has a foreign subject")
	}
	return entry(key, msg)
}

func entry(key string, msg *nats.Msg) (Entry, error) {
	seq, err := strconv.ParseUint(msg.Header.Get(headerSequence), 10, 64)
	if err != nil {
		return Entry{}, errors.New("stored message has no sequence")
	}
	return Entry{Key: key, Data: msg.Data, Sequence: seq, Deleted: deleted(msg.Header)}, nil
}

func deleted(h nats.Header) bool { return h.Get(headerOperation) != "" || h.Get(headerMarker) != "" }

// PointerFilter selects the pointers of workspaces in the policy bucket.
const PointerFilter = "ws.>"

// VersionFilter selects the versions of presets in the policy bucket, and
// PublicFilter what all workspaces get of presets.
const (
	VersionFilter = "preset.>"
	PublicFilter  = "public.>"
)

// KeyFilter selects every document of a bucket.
const KeyFilter = ">"

// IsKey reports whether a name of the keys bucket is a kid.
func IsKey(name string) bool { return name != wire.KeysComplete }
