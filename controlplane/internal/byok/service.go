package byok

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Deps are what a Service works with.
type Deps struct {
	Runner    txn.Runner
	Store     Store
	Directory Directory
	Mutator   *deploy.Mutator
	Sealer    Sealer // nil where there is no keyring: nothing can be kept then
	Offered   Source
	IDs       *id.Source
	Now       func() time.Time

	Verifications Verifications
	Checker       Checker
	Auditor       Auditor
}

// Service creates, changes and orders credentials. Its failures are
// validation_error, not_found, conflict (too many, or no keyring),
// precondition_failed, unavailable, and those of Verify.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create seals the key and keeps it as the last of its provider and use.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, n NewCredential) (Credential, publication.Publication, error) {
	if n.Use == "" {
		n.Use = policy.UsePriority
	}
	n.Models = policy.Collapsed(n.Models)
	if err := n.Validate(); err != nil {
		return Credential{}, publication.Publication{}, err
	}
	p, err := s.provider(ctx, n.Provider)
	if err != nil {
		return Credential{}, publication.Publication{}, err
	}
	now := s.now()
	made := Credential{
		ID: id.New[id.CredentialKind](s.d.IDs), Workspace: ws, Provider: p.Slug, Name: n.Name, Use: n.Use, Enabled: !n.Disabled,
		Models: n.Models, APIKeys: n.APIKeys, CreatedBy: by.User, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if made, err = s.seal(made, p, n.Key); err != nil {
		return Credential{}, publication.Publication{}, err
	}
	c := changeOf(by, "byok.create", made.ID)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Credential, error) {
		if err := s.knownKeys(ctx, ws, made.APIKeys); err != nil {
			return Credential{}, err
		}
		all, err := s.d.Directory.All(ctx, ws)
		if err != nil {
			return Credential{}, err
		}
		if len(all) >= policy.MaxCredentials {
			return Credential{}, fault.Newf(fault.Conflict, "A workspace can have at most %d provider keys. Delete one that is not used.", policy.MaxCredentials)
		}
		if err := matchable(all, made); err != nil {
			return Credential{}, err
		}
		if made.Position, err = last(all, made.Provider, made.Use); err != nil {
			return Credential{}, err
		}
		c.Diff = diff(Credential{}, made)
		return made, s.d.Store.Create(ctx, ws, made)
	})
}

// Get returns one credential.
func (s *Service) Get(ctx context.Context, ws id.Workspace, credential id.Credential) (Credential, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Credential, error) {
		return s.d.Store.Get(ctx, ws, credential)
	})
}

// List returns a page of credentials, newest first. A provider may be named by
// an alias.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Credential], error) {
	slug, err := s.slug(ctx, f.Provider)
	if err != nil {
		return page.Result[Credential]{}, err
	}
	f.Provider = slug
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Credential], error) {
		return s.d.Directory.List(ctx, ws, q, f)
	})
}

// Update applies p.
func (s *Service) Update(ctx context.Context, ws id.Workspace, credential id.Credential, by audit.By, p Patch) (Credential, publication.Publication, error) {
	p.Models = patch.Map(p.Models, policy.Collapsed)
	if err := p.Validate(); err != nil {
		return Credential{}, publication.Publication{}, err
	}
	var offered *catalog.View // for a new key alone
	if p.Key != nil {
		var err error
		if offered, err = s.d.Offered.View(ctx); err != nil {
			return Credential{}, publication.Publication{}, err
		}
	}
	return s.change(ctx, ws, changeOf(by, "byok.update", credential), target{credential, p.IfMatch}, func(ctx context.Context, c Credential) (Credential, error) {
		return s.apply(ctx, c, p, offered)
	})
}

func (s *Service) apply(ctx context.Context, c Credential, p Patch, offered *catalog.View) (Credential, error) {
	if p.Name != nil {
		c.Name = *p.Name
	}
	if p.Models != nil {
		all, err := s.d.Directory.All(ctx, c.Workspace)
		if err != nil {
			return c, err
		}
		c.Models = *p.Models
		if err := matchable(all, c); err != nil {
			return c, err
		}
	}
	if p.APIKeys != nil {
		if err := s.knownKeys(ctx, c.Workspace, *p.APIKeys); err != nil {
			return c, err
		}
		c.APIKeys = *p.APIKeys
	}
	if p.Use != nil && *p.Use != c.Use {
		all, err := s.d.Directory.All(ctx, c.Workspace)
		if err != nil {
			return c, err
		}
		if c.Position, err = last(all, c.Provider, *p.Use); err != nil {
			return c, err
		}
		c.Use = *p.Use
	}
	if p.Key == nil {
		return c, nil
	}
	found, ok := offered.Provider(c.Provider)
	if !ok {
		return c, fault.New(fault.Conflict, "The provider is not offered any more, so its keys cannot be replaced. Delete the credential.")
	}
	c, err := s.seal(c, found, *p.Key)
	if err != nil {
		return c, err
	}
	c.Verification = nil
	return c, s.d.Verifications.Forget(ctx, c.Workspace, c.ID)
}

// Enable has the credential tried again.
func (s *Service) Enable(ctx context.Context, ws id.Workspace, credential id.Credential, by audit.By, ifMatch *int64) (Credential, publication.Publication, error) {
	return s.change(ctx, ws, changeOf(by, "byok.enable", credential), target{credential, ifMatch}, enabled(true))
}

// Disable keeps the credential and takes it from all gateways.
func (s *Service) Disable(ctx context.Context, ws id.Workspace, credential id.Credential, by audit.By, ifMatch *int64) (Credential, publication.Publication, error) {
	return s.change(ctx, ws, changeOf(by, "byok.disable", credential), target{credential, ifMatch}, enabled(false))
}

// Delete removes the credential, its sealed key included.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, credential id.Credential, by audit.By, ifMatch *int64) (publication.Publication, error) {
	c := changeOf(by, "byok.delete", credential)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Store.Get(ctx, ws, credential)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		c.Diff = diff(before, Credential{})
		return s.d.Store.Delete(ctx, ws, before)
	})
}

// target is the credential to change and the version that the caller saw.
type target struct {
	credential id.Credential
	ifMatch    *int64
}

// change runs the shape that every mutation of an existing credential has.
func (s *Service) change(ctx context.Context, ws id.Workspace, c *deploy.Change, t target,
	edit func(context.Context, Credential) (Credential, error),
) (Credential, publication.Publication, error) {
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Credential, error) {
		before, err := s.d.Store.Get(ctx, ws, t.credential)
		if err != nil {
			return Credential{}, err
		}
		if err := txn.Match(t.ifMatch, before.Version); err != nil {
			return Credential{}, err
		}
		after, err := edit(ctx, before)
		if err != nil {
			return Credential{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// slug is a provider's, when an alias names it; other names stay.
func (s *Service) slug(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	offered, err := s.d.Offered.View(ctx)
	if err != nil {
		return "", err
	}
	if p, ok := offered.Provider(name); ok {
		name = p.Slug
	}
	return name, nil
}

func (s *Service) provider(ctx context.Context, name string) (*catalog.Provider, error) {
	offered, err := s.d.Offered.View(ctx)
	if err != nil {
		return nil, err
	}
	var v rule.Violations
	p, ok := offered.Provider(name)
	switch {
	case !ok:
		v.Add("provider", rule.NotAllowed, "is no provider of the catalog")
	case p.Keyless:
		v.Add("provider", rule.NotAllowed, "takes no key")
	}
	return p, v.Err()
}

// seal puts a new key into c, after a look at its form.
func (s *Service) seal(c Credential, p *catalog.Provider, key secret.String) (Credential, error) {
	a, err := read(p, key)
	if err != nil {
		return c, err
	}
	if s.d.Sealer == nil {
		return c, fault.New(fault.Conflict, "This platform has no keyring, so it cannot keep provider keys. Its operator sets keyring_file.")
	}
	c.Prefix, c.Suffix = a.Label()
	c.KeyGeneration++
	c.Sealed, err = s.d.Sealer.Seal(key, policy.CredentialBinding(c.Workspace, c.Provider)...)
	return c, err
}

// knownKeys refuses scopes over keys that the workspace does not have.
func (s *Service) knownKeys(ctx context.Context, ws id.Workspace, keys []id.Key) error {
	if len(keys) == 0 {
		return nil
	}
	missing, err := s.d.Directory.Missing(ctx, ws, keys)
	if err != nil {
		return err
	}
	unknown := make(map[id.Key]bool, len(missing))
	for _, k := range missing {
		unknown[k] = true
	}
	var v rule.Violations
	for i, k := range keys {
		if unknown[k] {
			v.Add(fmt.Sprintf("api_keys[%d]", i), rule.NotAllowed, "is no API key of this workspace")
		}
	}
	return v.Err()
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func enabled(on bool) func(context.Context, Credential) (Credential, error) {
	return func(_ context.Context, c Credential) (Credential, error) {
		c.Enabled = on
		return c, nil
	}
}

func changeOf(by audit.By, action string, credential id.Credential) *deploy.Change {
	return deploy.NewChange(by, action, "byok", credential.String())
}
