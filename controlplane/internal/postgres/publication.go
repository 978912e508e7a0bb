package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

type publicationRow struct {
	ID             uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID    uuid.UUID  `gorm:"column:workspace_id"`
	Revision       int64      `gorm:"column:revision"`
	Changes        textArray  `gorm:"column:changes"`
	KIDs           textArray  `gorm:"column:kids"`
	CreatedAt      time.Time  `gorm:"column:created_at;autoCreateTime:false"`
	PublishedAt    *time.Time `gorm:"column:published_at"`
	KeysStream     int64      `gorm:"column:keys_stream"`
	KeysSequence   int64      `gorm:"column:keys_sequence"`
	PolicyStream   int64      `gorm:"column:policy_stream"`
	PolicySequence int64      `gorm:"column:policy_sequence"`
	SettledAt      *time.Time `gorm:"column:settled_at"`
	Gateways       int        `gorm:"column:gateways"`
	Applied        int        `gorm:"column:applied"`
	Pending        textArray  `gorm:"column:pending"` // uuid[]
	P50us          int64      `gorm:"column:p50_us"`
	P99us          int64      `gorm:"column:p99_us"`
}

func (publicationRow) TableName() string { return "publications" }

func publicationRowOf(r publication.Record) publicationRow {
	return publicationRow{
		ID: r.ID.UUID(), WorkspaceID: r.Workspace.UUID(), Revision: r.Revision, Changes: r.Changes, KIDs: r.KIDs,
		CreatedAt: r.CreatedAt, PublishedAt: r.PublishedAt,
		KeysStream: r.Keys.Stream, KeysSequence: int64(r.Keys.Sequence),
		PolicyStream: r.Policy.Stream, PolicySequence: int64(r.Policy.Sequence),
		SettledAt: r.SettledAt, Gateways: r.Receipts.Gateways, Applied: r.Receipts.Applied,
		Pending: gatewayTexts(r.Receipts.PendingGateways),
		P50us:   r.Receipts.P50.Microseconds(), P99us: r.Receipts.P99.Microseconds(),
	}
}

func (r publicationRow) record() publication.Record {
	return publication.Record{
		Publication: publication.Publication{
			ID: id.FromUUID[id.PublicationKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID),
			Revision: r.Revision, Changes: r.Changes.list(), KIDs: r.KIDs.list(), CreatedAt: r.CreatedAt.UTC(),
			PublishedAt: utc(r.PublishedAt),
			Receipts: publication.Receipts{
				Gateways: r.Gateways, Applied: r.Applied, Pending: len(r.Pending), PendingGateways: gatewaysOf(r.Pending),
				P50: time.Duration(r.P50us) * time.Microsecond, P99: time.Duration(r.P99us) * time.Microsecond,
			},
		},
		Keys:      wire.Position{Stream: r.KeysStream, Sequence: uint64(r.KeysSequence)},
		Policy:    wire.Position{Stream: r.PolicyStream, Sequence: uint64(r.PolicySequence)},
		SettledAt: utc(r.SettledAt),
	}
}

func gatewayTexts(list []id.Gateway) textArray {
	texts := make(textArray, len(list))
	for i, g := range list {
		texts[i] = g.UUID().String()
	}
	return texts
}

func gatewaysOf(texts textArray) []id.Gateway {
	if len(texts) == 0 {
		return nil
	}
	list := make([]id.Gateway, 0, len(texts))
	for _, text := range texts {
		if u, err := uuid.Parse(text); err == nil { // the column holds nothing else
			list = append(list, id.FromUUID[id.GatewayKind](u))
		}
	}
	return list
}

type outboxRow struct {
	PublicationID uuid.UUID `gorm:"column:publication_id;primaryKey"`
	WorkspaceID   uuid.UUID `gorm:"column:workspace_id"`
	Revision      int64     `gorm:"column:revision"`
	CreatedAt     time.Time `gorm:"column:created_at;autoCreateTime:false"`
}

func (outboxRow) TableName() string { return "outbox" }

// PublicationStore keeps revisions and publications of one workspace.
type PublicationStore struct{}

// NewPublicationStore returns a store that works in the transaction of its context.
func NewPublicationStore() *PublicationStore { return &PublicationStore{} }

// Bump implements deploy.Store.
func (*PublicationStore) Bump(ctx context.Context, ws id.Workspace) (int64, error) {
	var row revisionRow
	done := tenant(ctx, ws).Raw(`UPDATE workspace_revisions SET revision = revision + 1
		WHERE workspace_id = ? RETURNING workspace_id, revision`, ws.UUID()).Scan(&row)
	return row.Revision, changed(done, "raise a revision")
}

// Record implements deploy.Store.
func (*PublicationStore) Record(ctx context.Context, p publication.Publication) error {
	row := publicationRowOf(publication.Record{Publication: p})
	if err := tenant(ctx, p.Workspace).Create(&row).Error; err != nil {
		return translate(err, "record a publication")
	}
	waiting := outboxRow{PublicationID: row.ID, WorkspaceID: row.WorkspaceID, Revision: row.Revision, CreatedAt: row.CreatedAt}
	if err := tenant(ctx, p.Workspace).Create(&waiting).Error; err != nil {
		return translate(err, "add to the outbox")
	}
	// Delivered at commit, and once for equal payloads of a transaction.
	err := tenant(ctx, p.Workspace).Exec("SELECT pg_notify(?, '')", outbox.Channel).Error
	return translate(err, "wake the publisher")
}

// Get implements publication.Store.
func (*PublicationStore) Get(ctx context.Context, ws id.Workspace, p id.Publication) (publication.Record, error) {
	var row publicationRow
	err := scoped(ctx, ws).Where("id = ?", p.UUID()).Take(&row).Error
	return row.record(), translate(err, "read a publication")
}

// List implements publication.Store.
func (*PublicationStore) List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[publication.Record], error) {
	return newest(scoped(ctx, ws), "id", q, func(r publicationRow) uuid.UUID { return r.ID }, publicationRow.record, "list publications")
}

var (
	_ deploy.Store      = (*PublicationStore)(nil)
	_ publication.Store = (*PublicationStore)(nil)
)
