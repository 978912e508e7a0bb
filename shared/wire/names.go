// Package wire owns every name and message that crosses NATS: subjects,
// buckets, streams, headers and the types of their bodies. It knows nothing
// of connections; natsconn has the settings that streams and buckets need.
package wire

import (
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// KV buckets and the object store.
const (
	BucketPolicy    = "POLICY"
	BucketKeys      = "KEYS"
	BucketCatalog   = "CATALOG"
	BucketPins      = "PINS"
	BucketJobs      = "JOBS" // what providers keep for workspaces, for listing
	ObjectSnapshots = "SNAPSHOTS"
)

// Streams.
const (
	StreamRate  = "RATE"
	StreamSpend = "SPEND"
	StreamCells = "CELLS"
	StreamUsage = "USAGE"
)

// Subjects of the streams.
const (
	SubjectRate  = "rate"
	SubjectSpend = "spend"
	SubjectCells = "cells"
	SubjectUsage = "usage" // usage.<gateway id>
)

// ConsumerUsage is the durable consumer that all control planes share.
const ConsumerUsage = "usage-writer"

// QueueHealth is the queue group of the gateways that can answer on
// SubjectHealthView.
const QueueHealth = "health"

// QueueCheck is the queue group of the gateways that answer on SubjectCheck.
const QueueCheck = "check"

// CheckWithin bounds the call of a check; the answer follows it.
const CheckWithin = 10 * time.Second

// Core subjects. Pushes are RePublish destinations of their buckets: the last
// token is the bucket key.
const (
	SubjectPushPolicy  = "push.policy"  // push.policy.<key>
	SubjectPushKeys    = "push.keys"    // push.keys.<kid>
	SubjectPushCatalog = "push.catalog" // push.catalog.<key>
	SubjectPushPins    = "push.pins"    // push.pins.<key>
	SubjectHeartbeat   = "gateway.heartbeat"
	SubjectReceipt     = "gateway.receipt"
	SubjectHealth      = "gateway.health"
	// SubjectHealthView is a request subject: a gateway that starts asks, one of
	// the others in QueueHealth answers with all that it knows of endpoints.
	SubjectHealthView = "gateway.health.view"
	// SubjectHealthReport is a request subject: a control plane asks, one of the
	// gateways in QueueHealth answers with a HealthReport.
	SubjectHealthReport = "gateway.health.report"
	// SubjectHealthAnswer begins the subjects that such answers go to, followed by
	// the instance that asks. They are apart from the inboxes, where the answers of
	// JetStream come: a gateway may not answer in its place.
	SubjectHealthAnswer = "gateway.health.answer" // gateway.health.answer.<instance>
	// SubjectMarks is a request subject: a gateway asks, any control plane
	// answers with the gateway's committed usage mark.
	SubjectMarks = "usage-marks"
	// SubjectCheck is a request subject: a control plane asks, one of the gateways
	// in QueueCheck makes a call with a credential.
	SubjectCheck = "gateway.check"
	// SubjectChecked begins the subjects that its answers go to, followed by a name
	// that whoever asks makes up. They are apart from the inboxes, as those of
	// SubjectHealthAnswer are.
	SubjectChecked = "gateway.checked" // gateway.checked.<name>
)

// KeysComplete is a key of BucketKeys that exists once every API key has been
// published there. Without it a missing key document proves nothing: the
// bucket may have lost its data and be filling again. No kid has this form.
const KeysComplete = "complete"

// CatalogPointer is the key of the catalog's pointer in BucketCatalog.
const CatalogPointer = "current"

// PolicyPointer is the key of a workspace's pointer in BucketPolicy.
func PolicyPointer(ws id.Workspace) string { return "ws." + ws.String() }

// PolicyBody is the write-once name of a snapshot's body, in the KV bucket or
// the object store. The digest keeps two compilations of one revision apart.
func PolicyBody(ws id.Workspace, digest string) string { return "body." + ws.String() + "." + digest }

// CatalogBody is the write-once name of a catalog's body.
func CatalogBody(digest string) string { return "body." + digest }

// MaxKVBody is the largest body kept in KV, in bytes; larger ones go to the
// object store.
const MaxKVBody = 512 << 10

// PresetVersion is the key of a published version of a preset in BucketPolicy.
func PresetVersion(preset id.Preset, version int) string {
	return "preset." + preset.String() + "." + strconv.Itoa(version)
}

// PublicPreset is the key of a public preset in BucketPolicy. A handle has no
// dot, and a slug's are written as equals signs.
func PublicPreset(handle, slug string) string {
	return "public." + handle + "." + strings.ReplaceAll(strings.ReplaceAll(slug, ".", "="), ":", "/")
}
