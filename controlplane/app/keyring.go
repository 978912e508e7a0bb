package app

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret/rotation"
)

// openKeyring returns what seals provider keys, which is nil when there is no
// keyring.
func (a *App) openKeyring() (byok.Sealer, error) {
	if a.cfg.KeyringFile == "" {
		return nil, nil
	}
	ring, err := rotation.Open(a.cfg.KeyringFile, rotation.Options{Log: a.deps.Log, Again: a.deps.Reload})
	if err != nil {
		return nil, fmt.Errorf("keyring_file: %w", err)
	}
	a.keyring = ring
	return ring, nil
}

// ring is the keyring as re-sealing sees it; nil when there is none.
func (a *App) ring() reseal.Ring {
	if a.keyring == nil {
		return nil
	}
	return a.keyring
}

// seals builds what keeps everything that is stored sealed under the present
// key, and returns what tells which key seals what.
func (a *App) seals(source *override.Source, mutator *deploy.Mutator, fleet *gateway.Service, ids *id.Source) *reseal.Service {
	a.offered = reseal.NewOffered(source, a.ring())
	keys := postgres.NewBYOKStore()
	workspace := byok.NewResealer(byok.ResealerDeps{
		System: a.db.System(), Seals: postgres.NewBYOKSeals(), Runner: a.db.Runner(), Store: keys, Directory: keys, Mutator: mutator, Now: a.deps.Now,
	})
	webhooks := a.webhookSecrets()
	platform := override.NewResealer(override.ResealerDeps{System: a.db.System(), Store: postgres.NewOverrideStore(), IDs: ids, Now: a.deps.Now})
	a.resealer = reseal.NewRunner(reseal.Deps{Ring: a.ring(), Parts: []reseal.Part{workspace, webhooks, platform, a.offered}, Log: a.deps.Log})
	return reseal.NewService(reseal.StatusDeps{
		Ring: a.ring(), Workspace: reseal.Sum{workspace, webhooks}, Platform: platform, Publications: postgres.NewPublicationProgress(a.db),
		Catalog: publish.NewCatalogs(a.nats), Fleet: fleet,
	})
}
