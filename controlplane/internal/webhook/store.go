package webhook

import (
	"context"
	"net/netip"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Store keeps webhooks. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	Create(ctx context.Context, ws id.Workspace, w Webhook) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, webhook id.Webhook) (Webhook, error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, w Webhook) error
	// Delete removes the row, with all its deliveries, where it has w's version;
	// else precondition_failed, or not_found.
	Delete(ctx context.Context, ws id.Workspace, w Webhook) error
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Webhook], error)
}

// Directory looks over all of a workspace, inside a transaction of it.
type Directory interface {
	Count(ctx context.Context, ws id.Workspace) (int, error)
	// Taking are the enabled webhooks that take events of a type.
	Taking(ctx context.Context, ws id.Workspace, t Type) ([]id.Webhook, error)
	// Turn takes a turn at testing, once in every, and returns the webhook; else
	// rate_limit_exceeded, or not_found.
	Turn(ctx context.Context, ws id.Workspace, webhook id.Webhook, now time.Time, every time.Duration) (Webhook, error)
}

// Deliveries keeps deliveries, inside a transaction of ws.
type Deliveries interface {
	Add(ctx context.Context, ws id.Workspace, list []Delivery) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, webhook id.Webhook, delivery id.Delivery) (Delivery, error)
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, webhook id.Webhook, q page.Query, f Filter) (page.Result[Delivery], error)
	// Requeue keeps the state, the round and the time of the next attempt of d.
	Requeue(ctx context.Context, ws id.Workspace, d Delivery) error
	// Abandon gives the open deliveries of a webhook up.
	Abandon(ctx context.Context, ws id.Workspace, webhook id.Webhook) error
}

// Filter narrows a list of deliveries.
type Filter struct {
	State State // "" for all
}

// Auditor keeps audit events.
type Auditor interface {
	Append(ctx context.Context, ws id.Workspace, e audit.Event) error
}

// Vault seals secrets, and opens them to sign.
type Vault interface {
	Seal(plain secret.String, associated ...string) (secret.Sealed, error)
	Open(sealed secret.Sealed, associated ...string) (secret.String, error)
}

// Resolver finds the addresses of a host, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Sender makes one attempt, and says what came of it. It bounds its time by
// itself.
type Sender interface {
	Send(ctx context.Context, s Shipment) Attempt
}

// Shipment is what one attempt sends.
type Shipment struct {
	URL     string
	Event   id.Event
	Type    Type
	Body    []byte
	Secrets []secret.String // that sign, the present one first
}
