package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Writer replaces documents by compare-and-set: whatever the order in which
// writers come, the document of the highest revision stays.
type Writer struct {
	reader *Reader
	conn   *natsconn.Conn
}

// NewWriter writes over conn.
func NewWriter(conn *natsconn.Conn) *Writer { return &Writer{reader: NewReader(conn), conn: conn} }

// KeptBodies is how many bodies a pointer keeps besides its own. A gateway
// that read an older pointer can still fetch the body.
const KeptBodies = 3

// casTries bounds how often a write starts again after it lost a race. Each
// loss means that another writer got further.
const casTries = 16

// longestWay bounds what a write waits after one of them: all of them together
// take less than half a second.
const longestWay = 32 * time.Millisecond

// replicated streams report a lost race under another code.
const (
	errWrongSequence           = 10071
	errWrongSequenceReplicated = 10164
)

// AheadError says that the document to replace is at a later revision, or is
// another one of the same revision: what was to be written was not.
type AheadError struct{ Revision int64 }

// Error implements error.
func (e *AheadError) Error() string { return fmt.Sprintf("revision %d is there already", e.Revision) }

// Key writes a key document and returns the sequence of the document that is
// there now. Where a later one is there, or another one of its revision, it
// fails with AheadError.
func (w *Writer) Key(ctx context.Context, k policy.Key) (uint64, error) {
	data, err := json.Marshal(k)
	if err != nil {
		return 0, fmt.Errorf("encode key document: %w", err)
	}
	return w.rise(ctx, wire.BucketKeys, k.KID, k.Revision, data)
}

// PublicPreset writes what all workspaces get of a preset, or fails as Key does.
func (w *Writer) PublicPreset(ctx context.Context, handle, slug string, p policy.PublicPreset) (uint64, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return 0, fmt.Errorf("encode a public preset: %w", err)
	}
	return w.rise(ctx, wire.BucketPolicy, wire.PublicPreset(handle, slug), p.Revision, data)
}

// PresetVersion writes a version of a preset. One that is there already is the
// same, unless the database was set back: what it says counts.
func (w *Writer) PresetVersion(ctx context.Context, v policy.PresetVersion) (uint64, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("encode a version of a preset: %w", err)
	}
	return w.replace(ctx, wire.BucketPolicy, wire.PresetVersion(v.Preset, v.Version), func([]byte) ([]byte, error) { return data, nil })
}

// rise replaces a document that holds its revision.
func (w *Writer) rise(ctx context.Context, bucket, key string, revision int64, data []byte) (uint64, error) {
	return w.replace(ctx, bucket, key, func(old []byte) ([]byte, error) {
		var there struct {
			Revision int64 `json:"revision"`
		}
		if json.Unmarshal(old, &there) != nil { // unreadable: replaced
			return data, nil
		}
		if there.Revision > revision || there.Revision == revision && string(old) != string(data) {
			return nil, &AheadError{there.Revision}
		}
		return data, nil
	})
}

// Pointer moves a pointer, or fails with AheadError where it is further already.
// It returns the sequence of the pointer that is there now, and deletes bodies
// that nobody can need any more.
func (w *Writer) Pointer(ctx context.Context, bucket, key string, p policy.Pointer) (uint64, error) {
	var spare []policy.Body
	seq, err := w.replace(ctx, bucket, key, func(old []byte) ([]byte, error) {
		spare = nil
		var there policy.Pointer
		if json.Unmarshal(old, &there) != nil {
			there = policy.Pointer{} // unreadable: replaced
		}
		if there.Revision > p.Revision {
			return nil, &AheadError{there.Revision}
		}
		if there.Revision == p.Revision && there.Digest == p.Digest {
			return old, nil
		}
		p.Previous, spare = keep(there, p)
		return json.Marshal(p)
	})
	if err != nil {
		return 0, err
	}
	for _, body := range spare {
		if err := w.dropBody(ctx, bucket, body); err != nil {
			return seq, fmt.Errorf("delete an old body: %w", err)
		}
	}
	return seq, nil
}

// keep lists the bodies that stay beside p's own after p replaced old, and
// those that go.
func keep(old, p policy.Pointer) (kept, spare []policy.Body) {
	var all []policy.Body
	if old.Name != "" {
		all = append(all, policy.Body{Where: old.Where, Name: old.Name})
	}
	for _, body := range append(all, old.Previous...) {
		switch {
		case body.Name == p.Name:
		case len(kept) < KeptBodies:
			kept = append(kept, body)
		default:
			spare = append(spare, body)
		}
	}
	return kept, spare
}

// Body stores a write-once body and says where it went.
func (w *Writer) Body(ctx context.Context, bucket, name string, body []byte) (policy.Where, error) {
	if err := w.conn.Ready(); err != nil {
		return "", err
	}
	if len(body) <= wire.MaxKVBody {
		_, err := w.replace(ctx, bucket, name, func(old []byte) ([]byte, error) {
			if len(old) > 0 { // the name holds the digest: these are the same bytes
				return nil, nil
			}
			return body, nil
		})
		if err != nil {
			return "", fmt.Errorf("store body: %w", err)
		}
		return policy.InKV, nil
	}
	objects, err := w.conn.JetStream().ObjectStore(ctx, wire.ObjectSnapshots)
	if err != nil {
		return "", fmt.Errorf("open object store: %w", err)
	}
	if _, err := objects.GetInfo(ctx, name); err == nil {
		return policy.InObject, nil
	} else if !errors.Is(err, jetstream.ErrObjectNotFound) {
		return "", fmt.Errorf("look for a body: %w", err)
	}
	if _, err := objects.PutBytes(ctx, name, body); err != nil {
		return "", fmt.Errorf("store body: %w", err)
	}
	return policy.InObject, nil
}

func (w *Writer) dropBody(ctx context.Context, bucket string, body policy.Body) error {
	if body.Where == policy.InKV {
		return w.purge(ctx, bucket, body.Name, nil)
	}
	objects, err := w.conn.JetStream().ObjectStore(ctx, wire.ObjectSnapshots)
	if err != nil {
		return err
	}
	if err := objects.Delete(ctx, body.Name); !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err
	}
	return nil
}

// Remove deletes a document if it is still the one at sequence, and tells the
// gateways. A document that changed meanwhile stays, without an error.
func (w *Writer) Remove(ctx context.Context, bucket, key string, sequence uint64) error {
	if err := w.purge(ctx, bucket, key, &sequence); err != nil && !raceLost(err) {
		return fmt.Errorf("remove document of %s: %w", bucket, err)
	}
	return nil
}

// Mark writes a small document of the bucket's own, such as wire.KeysComplete.
func (w *Writer) Mark(ctx context.Context, bucket, key string, data []byte) error {
	_, err := w.replace(ctx, bucket, key, func([]byte) ([]byte, error) { return data, nil })
	return err
}

// Keep replaces a document that expires by what next makes of the present one,
// nil when there is none, and keeps it for life, at least a second. A nil
// result leaves it. It returns what is there now, nil for nothing.
func (w *Writer) Keep(ctx context.Context, bucket, key string, next func(old []byte) (data []byte, life time.Duration)) ([]byte, error) {
	var now []byte
	var life time.Duration
	_, err := w.replaceFor(ctx, bucket, key, &life, func(old []byte) ([]byte, error) {
		now, life = next(old)
		if now == nil {
			now = old
			return nil, nil
		}
		return now, nil
	})
	if err != nil {
		return nil, err
	}
	return now, nil
}

// replace writes what next makes of the present document. A nil result leaves
// it, and so does one equal to it.
func (w *Writer) replace(ctx context.Context, bucket, key string, next func(old []byte) ([]byte, error)) (uint64, error) {
	return w.replaceFor(ctx, bucket, key, nil, next)
}

// replaceFor is replace for a document that is kept for as long as life says
// when next has returned; nil is for ever.
func (w *Writer) replaceFor(ctx context.Context, bucket, key string, life *time.Duration, next func(old []byte) ([]byte, error)) (uint64, error) {
	read := w.reader.Any
	for lost := range casTries {
		if err := giveWay(ctx, lost); err != nil {
			return 0, fmt.Errorf("write document of %s: %w", bucket, err)
		}
		e, err := read(ctx, bucket, key)
		if err != nil && !errors.Is(err, ErrAbsent) {
			return 0, err
		}
		if err != nil {
			e.Data = nil
		}
		data, err := next(e.Data)
		if err != nil {
			return 0, err
		}
		if data == nil || life == nil && len(e.Data) > 0 && string(data) == string(e.Data) {
			return e.Sequence, nil
		}
		seq, err := w.publish(ctx, bucket, key, data, e.Sequence, life)
		if err == nil {
			return seq, nil
		}
		if !raceLost(err) {
			return 0, fmt.Errorf("write document of %s: %w", bucket, err)
		}
		read = w.reader.Leader // a replica may have shown an old one
	}
	return 0, fmt.Errorf("write document of %s: lost %d races", bucket, casTries)
}

// giveWay waits before a write starts again, longer and by chance after each
// loss: two writers that go on at once would meet again, and the slower of them
// could lose as often as the other has something to write.
func giveWay(ctx context.Context, lost int) error {
	if lost == 0 {
		return nil
	}
	wait := rand.N(min(time.Millisecond<<lost, longestWay))
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}

func (w *Writer) publish(ctx context.Context, bucket, key string, data []byte, expected uint64, life *time.Duration) (uint64, error) {
	if err := w.conn.Ready(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(expected)}
	if life != nil {
		// A write without a life would drop the one that the document has.
		opts = append(opts, jetstream.WithMsgTTL(*life))
	}
	ack, err := w.conn.JetStream().Publish(ctx, subject(bucket)+key, data, opts...)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// purge leaves a marker that is pushed to gateways and expires by itself.
func (w *Writer) purge(ctx context.Context, bucket, key string, expected *uint64) error {
	if err := w.conn.Ready(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	msg := nats.NewMsg(subject(bucket) + key)
	msg.Header.Set(headerOperation, "PURGE")
	msg.Header.Set("Nats-Rollup", "sub")
	opts := []jetstream.PublishOpt{jetstream.WithMsgTTL(natsconn.DeleteMarkers)}
	if expected != nil {
		opts = append(opts, jetstream.WithExpectLastSequencePerSubject(*expected))
	}
	_, err := w.conn.JetStream().PublishMsg(ctx, msg, opts...)
	return err
}

func raceLost(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == errWrongSequence || api.ErrorCode == errWrongSequenceReplicated)
}
