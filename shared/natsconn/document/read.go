package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// requestWithin bounds one question to NATS. One that a restart swallowed is
// never answered, so it must not wait for the caller's whole deadline.
const requestWithin = 2 * time.Second

// Reader reads documents. Every call fails at once while NATS is away.
type Reader struct{ conn *natsconn.Conn }

// NewReader reads over conn.
func NewReader(conn *natsconn.Conn) *Reader { return &Reader{conn: conn} }

// Connected reports whether NATS is reachable now.
func (r *Reader) Connected() bool { return r.conn.Connected() }

// Any reads a document from whichever replica answers. It is the cheap read:
// the answer may be some milliseconds old, and ErrAbsent is no proof.
func (r *Reader) Any(ctx context.Context, bucket, key string) (Entry, error) {
	if err := r.conn.Ready(); err != nil {
		return Entry{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	to := "$JS.API.DIRECT.GET." + stream(bucket) + "." + subject(bucket) + key
	msg, err := r.conn.NATS().RequestWithContext(ctx, to, nil)
	if err != nil {
		return Entry{}, fmt.Errorf("read document of %s: %w", bucket, err)
	}
	switch status := msg.Header.Get(headerStatus); status {
	case "":
	case "404":
		return Entry{}, ErrAbsent
	default:
		return Entry{}, fmt.Errorf("read document of %s: status %s", bucket, status)
	}
	return present(stored(bucket, msg))
}

func present(e Entry, err error) (Entry, error) {
	if err == nil && e.Deleted {
		return e, ErrAbsent
	}
	return e, err
}

type leaderReply struct {
	Message *struct {
		Sequence uint64 `json:"seq"`
		Header   []byte `json:"hdrs"`
		Data     []byte `json:"data"`
	} `json:"message"`
	Error *struct {
		Code        int    `json:"err_code"`
		Description string `json:"description"`
	} `json:"error"`
}

const errNoMessage = 10037

// Leader reads a document from the leader of its stream, so that ErrAbsent and
// the revision are final. An absent document keeps the marker's sequence.
func (r *Reader) Leader(ctx context.Context, bucket, key string) (Entry, error) {
	if err := r.conn.Ready(); err != nil {
		return Entry{}, err
	}
	ask, err := json.Marshal(map[string]string{"last_by_subj": subject(bucket) + key})
	if err != nil {
		return Entry{}, fmt.Errorf("ask for a document: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	msg, err := r.conn.NATS().RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream(bucket), ask)
	if err != nil {
		return Entry{}, fmt.Errorf("read document of %s at its leader: %w", bucket, err)
	}
	var reply leaderReply
	if err := json.Unmarshal(msg.Data, &reply); err != nil {
		return Entry{}, fmt.Errorf("read document of %s at its leader: %w", bucket, err)
	}
	if reply.Error != nil {
		if reply.Error.Code == errNoMessage {
			return Entry{}, ErrAbsent
		}
		return Entry{}, fmt.Errorf("read document of %s at its leader: %s", bucket, reply.Error.Description)
	}
	if reply.Message == nil {
		return Entry{}, fmt.Errorf("read document of %s at its leader: empty answer", bucket)
	}
	e := Entry{Key: key, Data: reply.Message.Data, Sequence: reply.Message.Sequence}
	if len(reply.Message.Header) > 0 {
		header, err := nats.DecodeHeadersMsg(reply.Message.Header)
		if err != nil {
			return Entry{}, fmt.Errorf("read document of %s at its leader: %w", bucket, err)
		}
		e.Deleted = deleted(header)
	}
	return present(e, nil)
}

// State is where a bucket stands, as its leader knows it.
type State struct {
	End       wire.Position // the last document written
	Documents uint64        // with markers of removed ones
}

// State asks a bucket's leader where it stands.
func (r *Reader) State(ctx context.Context, bucket string) (State, error) {
	if err := r.conn.Ready(); err != nil {
		return State{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	s, err := r.conn.JetStream().Stream(ctx, stream(bucket))
	if err != nil {
		return State{}, fmt.Errorf("state of %s: %w", bucket, err)
	}
	info := s.CachedInfo()
	return State{
		End:       wire.Position{Stream: info.Created.UnixNano(), Sequence: info.State.LastSeq},
		Documents: info.State.NumSubjects,
	}, nil
}

const (
	batchMessages = 1000
	batchBytes    = 4 << 20
)

// Since hands fn every document of bucket that matches filter and was written
// after sequence, in the order of writing, each at its latest only. It stops
// at fn's first error.
func (r *Reader) Since(ctx context.Context, bucket, filter string, after uint64, fn func(Entry) error) error {
	for {
		last, more, err := r.batch(ctx, bucket, filter, after, fn)
		if err != nil {
			return fmt.Errorf("follow %s: %w", bucket, err)
		}
		if !more {
			return nil
		}
		after = last
	}
}

func (r *Reader) batch(ctx context.Context, bucket, filter string, after uint64, fn func(Entry) error) (last uint64, more bool, err error) {
	if err := r.conn.Ready(); err != nil {
		return 0, false, err
	}
	ask, err := json.Marshal(map[string]any{
		"seq": after + 1, "next_by_subj": subject(bucket) + filter, "batch": batchMessages, "max_bytes": batchBytes,
	})
	if err != nil {
		return 0, false, err
	}
	nc := r.conn.NATS()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, ignoreClosed(sub.Unsubscribe())) }()
	if err := nc.PublishRequest("$JS.API.DIRECT.GET."+stream(bucket), inbox, ask); err != nil {
		return 0, false, err
	}
	for {
		msg, err := nextWithin(ctx, sub)
		if err != nil {
			return 0, false, err
		}
		switch status := msg.Header.Get(headerStatus); status {
		case "":
			e, err := stored(bucket, msg)
			if err != nil {
				return 0, false, err
			}
			if err := fn(e); err != nil {
				return 0, false, err
			}
			last = e.Sequence
		case "204": // end of the batch
			pending, err := strconv.ParseUint(msg.Header.Get(headerPending), 10, 64)
			return last, err == nil && pending > 0 && last > after, nil
		case "404":
			return after, false, nil
		default:
			return 0, false, fmt.Errorf("status %s", status)
		}
	}
}

func nextWithin(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

func ignoreClosed(err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrBadSubscription) {
		return nil
	}
	return err
}

// Body reads the body that a pointer of bucket names. A replica that does not
// have it yet is passed over for the leader. The caller verifies the digest.
func (r *Reader) Body(ctx context.Context, bucket string, p policy.Pointer) ([]byte, error) {
	if err := r.conn.Ready(); err != nil {
		return nil, err
	}
	switch p.Where {
	case policy.InKV:
		e, err := r.Any(ctx, bucket, p.Name)
		if errors.Is(err, ErrAbsent) {
			e, err = r.Leader(ctx, bucket, p.Name)
		}
		return e.Data, err
	case policy.InObject:
		objects, err := r.conn.JetStream().ObjectStore(ctx, wire.ObjectSnapshots)
		if err != nil {
			return nil, fmt.Errorf("open object store: %w", err)
		}
		body, err := objects.GetBytes(ctx, p.Name)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil, ErrAbsent
		}
		return body, err
	default:
		return nil, fmt.Errorf("pointer names an unknown store")
	}
}
