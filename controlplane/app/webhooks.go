package app

import (
	"crypto/rand"
	"net"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook/courier"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Webhooks is how events are sent.
type Webhooks struct {
	// AllowPrivateAddresses lets webhooks reach any address, and the own machine by
	// http, for development and tests. Elsewhere it opens the network of the control
	// plane to every tenant.
	AllowPrivateAddresses bool `mapstructure:"allow_private_addresses"`
}

// vault is the keyring as webhooks see it; nil when there is none.
func (a *App) vault() webhook.Vault {
	if a.keyring == nil {
		return nil
	}
	return a.keyring
}

// webhooks builds what tells workspaces over HTTP, and puts the services among
// those of the API.
func (a *App) webhooks(services *api.Services, mutator *deploy.Mutator, ids *id.Source) {
	runner, system, now, open := a.db.Runner(), a.db.System(), a.deps.Now, a.cfg.Webhooks.AllowPrivateAddresses
	store, deliveries := postgres.NewWebhookStore(), postgres.NewDeliveryStore()
	client := courier.NewClient(courier.ClientOptions{
		Resolver: net.DefaultResolver, Now: now, Agent: "Signalbox/" + a.deps.Version, Open: open,
	})
	services.Webhooks = webhook.NewService(webhook.Deps{
		Runner: runner, Store: store, Directory: store, Deliveries: deliveries, Mutator: mutator, Auditor: postgres.NewAuditStore(),
		Vault: a.vault(), Resolver: net.DefaultResolver, Sender: client, IDs: ids, Rand: rand.Reader, Now: now, Open: open,
	})
	a.courier = courier.New(courier.Deps{
		Desk: postgres.NewWebhookDesk(), Book: deliveries, Runner: runner, System: system, Sender: client, Vault: a.vault(),
		IDs: ids, Now: now, Log: a.deps.Log,
	})
	services.BudgetAlerts = budgetalert.NewService(budgetalert.Deps{Runner: runner, Store: postgres.NewBudgetAlertStore(), Mutator: mutator})
}

// newWatcher builds what tells of budgets, after usage was stored.
func (a *App) newWatcher(ids *id.Source) *budgetalert.Watcher {
	store := postgres.NewBudgetAlertStore()
	return budgetalert.NewWatcher(budgetalert.WatcherDeps{
		Runner: a.db.Runner(), System: a.db.System(), Store: store, Limits: store, Spending: postgres.NewSpendingStore(),
		Spenders: postgres.NewBudgetSpenders(), Queue: webhook.NewQueue(postgres.NewWebhookStore(), postgres.NewDeliveryStore(), ids),
		IDs: ids, Now: a.deps.Now, Log: a.deps.Log,
	})
}

// webhookSecrets is what keeps the secrets of webhooks under the present key.
func (a *App) webhookSecrets() reseal.Part {
	return webhook.NewResealer(webhook.ResealerDeps{
		System: a.db.System(), Seals: postgres.NewWebhookSeals(), Runner: a.db.Runner(), Renewal: postgres.NewWebhookStore(),
	})
}
