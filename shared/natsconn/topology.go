package natsconn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Topology is how the buckets and streams are kept.
type Topology struct {
	Replicas int // 1 or 3; 0 is 1
	// UsageBytes caps the usage stream, so that a long outage of Postgres fills
	// the gateways' spools instead of the servers' disk; 0 is 8 GiB.
	UsageBytes int64
	// PinsBytes caps the pins of conversations, in the servers' memory; 0 is
	// PinsBytes.
	PinsBytes int64
}

// PinsBytes is the usual room for pins: some 400 000 conversations. The servers
// set it aside; where they have less left, the pins get half of it, or half of
// that, down to leastPins.
const (
	PinsBytes = 256 << 20
	leastPins = 1 << 20
)

// DeleteMarkers is how long a removed document leaves a trace.
const DeleteMarkers = time.Hour

// RateDuplicates is for how long the names of increments of rates are known. They
// are many, and take more of the servers' memory than the counters do.
const RateDuplicates = 20 * time.Second

// rateAge is for how long a counter of rates is kept after its last increment: a
// minute and a slot, and as much as servers may differ.
const rateAge = 70 * time.Second

const (
	pinMarkers = time.Minute
	duplicates = 2 * time.Minute
	jobAge     = 30 * 24 * time.Hour
	usageBytes = 8 << 30
)

// Ensure creates what is missing and updates what differs. It changes nothing
// when all is as it should be, and may run in any number of processes.
func Ensure(ctx context.Context, js jetstream.JetStream, t Topology) error {
	t = t.withDefaults()
	for _, bucket := range buckets(t) {
		if _, err := js.CreateOrUpdateKeyValue(ctx, bucket); err != nil {
			return fmt.Errorf("ensure bucket %s: %w", bucket.Bucket, err)
		}
	}
	object := jetstream.ObjectStoreConfig{
		Bucket: wire.ObjectSnapshots, Storage: jetstream.FileStorage, Replicas: t.Replicas,
		Description: "bodies too large for a bucket",
	}
	if _, err := js.CreateOrUpdateObjectStore(ctx, object); err != nil {
		return fmt.Errorf("ensure object store %s: %w", object.Bucket, err)
	}
	if err := dropCellsInMemory(ctx, js); err != nil {
		return err
	}
	for _, stream := range streams(t) {
		if _, err := js.CreateOrUpdateStream(ctx, stream); err != nil {
			return fmt.Errorf("ensure stream %s: %w", stream.Name, err)
		}
	}
	return ensurePins(ctx, js, t)
}

// dropCellsInMemory removes the stream of cells that earlier versions made, which
// nothing wrote to: a stream cannot change where it is kept.
func dropCellsInMemory(ctx context.Context, js jetstream.JetStream) error {
	stream, err := js.Stream(ctx, wire.StreamCells)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", wire.StreamCells, err)
	}
	if stream.CachedInfo().Config.Storage != jetstream.MemoryStorage {
		return nil
	}
	if err := js.DeleteStream(ctx, wire.StreamCells); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("remove stream %s: %w", wire.StreamCells, err)
	}
	return nil
}

// ensurePins makes the bucket of pins as large as the servers' memory allows,
// halving what is asked for: publication must not wait for room in which
// conversations are only kept together.
func ensurePins(ctx context.Context, js jetstream.JetStream, t Topology) error {
	for most := t.PinsBytes; ; most /= 2 {
		stream := pins(most, t.Replicas)
		_, err := js.CreateOrUpdateStream(ctx, stream)
		if err == nil {
			return nil
		}
		if refused, ok := errors.AsType[*jetstream.APIError](err); !ok || refused.ErrorCode != noMemory || most/2 < leastPins {
			return fmt.Errorf("ensure stream %s: %w", stream.Name, err)
		}
	}
}

// noMemory is the servers' code for more memory asked for than is left; the
// client has no name for it.
const noMemory jetstream.ErrorCode = 10028

func (t Topology) withDefaults() Topology {
	t.Replicas = max(t.Replicas, 1)
	if t.UsageBytes == 0 {
		t.UsageBytes = usageBytes
	}
	if t.PinsBytes == 0 {
		t.PinsBytes = PinsBytes
	}
	return t
}

func buckets(t Topology) []jetstream.KeyValueConfig {
	// Only what moves is pushed: a policy body would reach every gateway,
	// needed or not.
	return []jetstream.KeyValueConfig{
		{
			Bucket: wire.BucketPolicy, Storage: jetstream.FileStorage, Replicas: t.Replicas, LimitMarkerTTL: DeleteMarkers,
			Description: "workspace snapshots and their pointers",
			RePublish:   &jetstream.RePublish{Source: "$KV." + wire.BucketPolicy + ".ws.>", Destination: wire.SubjectPushPolicy + ".ws.>"},
		},
		{
			Bucket: wire.BucketKeys, Storage: jetstream.FileStorage, Replicas: t.Replicas, LimitMarkerTTL: DeleteMarkers,
			Description: "API key documents",
			RePublish:   &jetstream.RePublish{Source: "$KV." + wire.BucketKeys + ".>", Destination: wire.SubjectPushKeys + ".>"},
		},
		{
			Bucket: wire.BucketCatalog, Storage: jetstream.FileStorage, Replicas: t.Replicas, LimitMarkerTTL: DeleteMarkers,
			Description: "catalog bodies and their pointer",
			RePublish: &jetstream.RePublish{
				Source:      "$KV." + wire.BucketCatalog + "." + wire.CatalogPointer,
				Destination: wire.SubjectPushCatalog + "." + wire.CatalogPointer,
			},
		},
		{
			Bucket: wire.BucketJobs, Storage: jetstream.FileStorage, Replicas: t.Replicas, TTL: jobAge, LimitMarkerTTL: DeleteMarkers,
			Description: "jobs and files that providers keep for workspaces",
		},
	}
}

func streams(t Topology) []jetstream.StreamConfig {
	return []jetstream.StreamConfig{
		{
			Name: wire.StreamRate, Subjects: []string{wire.SubjectRate + ".>"}, Storage: jetstream.MemoryStorage, Replicas: t.Replicas,
			MaxMsgsPerSubject: 1, MaxAge: rateAge, AllowDirect: true, AllowMsgCounter: true, Duplicates: RateDuplicates,
		},
		{
			// Counters have no lives of their own, and totals of all time stay: the
			// control plane removes days that are over.
			Name: wire.StreamSpend, Subjects: []string{wire.SubjectSpend + ".>"}, Storage: jetstream.FileStorage, Replicas: t.Replicas,
			MaxMsgsPerSubject: 1, AllowDirect: true, AllowMsgCounter: true, AllowAtomicPublish: true, Duplicates: duplicates,
		},
		{
			// No direct reads: a replica may lag, and cells are compared and set. What
			// is not written any more goes by a life of its own.
			Name: wire.StreamCells, Subjects: []string{wire.SubjectCells + ".>"}, Storage: jetstream.FileStorage, Replicas: t.Replicas,
			MaxMsgsPerSubject: 1, AllowMsgTTL: true,
		},
		{
			// Refusing new records when full makes gateways spool; dropping old
			// ones would lose usage.
			Name: wire.StreamUsage, Subjects: []string{wire.SubjectUsage + ".>"}, Storage: jetstream.FileStorage, Replicas: t.Replicas,
			Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, MaxBytes: t.UsageBytes, Duplicates: duplicates,
		},
	}
}

// pins is the stream of the bucket of pins, as a bucket's is but for one thing:
// a bucket that is full refuses what is new, and here the pin that was written
// longest ago has to make room. It costs a cache miss at most.
func pins(most int64, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + wire.BucketPins, Description: "conversation affinity", Subjects: []string{"$KV." + wire.BucketPins + ".>"},
		Storage: jetstream.MemoryStorage, Replicas: replicas, MaxBytes: most, Discard: jetstream.DiscardOld,
		MaxMsgsPerSubject: 1, AllowRollup: true, DenyDelete: true, AllowDirect: true, Duplicates: duplicates,
		AllowMsgTTL: true, SubjectDeleteMarkerTTL: pinMarkers,
		RePublish: &jetstream.RePublish{Source: "$KV." + wire.BucketPins + ".>", Destination: wire.SubjectPushPins + ".>"},
	}
}
