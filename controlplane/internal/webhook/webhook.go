// Package webhook owns what workspaces are told over HTTP: the receivers that
// they name, the secrets that sign, which addresses may be reached, and the
// account of every delivery. It knows nothing of SQL, of the management API or of
// how a delivery is made.
package webhook

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// The bounds of a workspace's webhooks.
const (
	MaxWebhooks = 20
	MaxURL      = 2048 // bytes
)

// Type says what an event is about.
type Type string

// The types of event. A test is sent to the webhook that is tested, whatever it
// takes.
const (
	BudgetAlert Type = "budget.alert"
	Test        Type = "webhook.test"
)

// Types are those that a webhook can take, sorted.
func Types() []Type { return []Type{BudgetAlert} }

// Webhook is a receiver of events.
type Webhook struct {
	ID        id.Webhook
	Workspace id.Workspace
	Name      string
	URL       string // may hold what its owner takes for a secret: never logged or audited
	Events    []Type // sorted
	Enabled   bool

	Suffix        string        // last four characters of the secret
	Sealed        secret.Sealed // the secret, bound to workspace and webhook
	Previous      secret.Sealed // the one before, which signs too until PreviousUntil
	PreviousUntil *time.Time

	// What came of the last deliveries: since when none succeeded, and when one
	// did.
	FailingSince    *time.Time
	LastDeliveredAt *time.Time

	CreatedBy id.User // zero when an operator created it
	Version   int64   // rises with every change, from 1
	CreatedAt time.Time
	UpdatedAt time.Time
}

// SignsWith reports whether the previous secret signs too at now.
func (w Webhook) SignsWith(now time.Time) bool {
	return !w.Previous.IsZero() && w.PreviousUntil != nil && now.Before(*w.PreviousUntil)
}

// Binding is the associated data that a webhook's secrets are sealed with: in a
// row of another webhook they do not open.
func Binding(ws id.Workspace, webhook id.Webhook) []string {
	return []string{"webhook", ws.String(), webhook.String()}
}

// NewWebhook is what a caller gives.
type NewWebhook struct {
	Name     string
	URL      string
	Events   []Type
	Disabled bool
}

// Patch changes a webhook; nil fields stay.
type Patch struct {
	Name    *string
	URL     *string
	Events  *[]Type
	Enabled *bool
	IfMatch *int64
}
