package apikey

import (
	"context"
	"io"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Deps are what a Service works with.
type Deps struct {
	Runner      txn.Runner
	Store       Store
	Mutator     *deploy.Mutator
	Profiles    Profiles
	Departments Departments
	Guardrails  Guardrails
	RateLimits  RateLimits
	Routes      Routes
	Spending    spending.Store
	IDs         *id.Source
	Rand        io.Reader
	Now         func() time.Time
}

// Service creates, changes and revokes keys. Its failures are validation_error,
// not_found (a routing profile or department too), conflict (a revoked key is final), precondition_failed and
// unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create makes a key and returns its plaintext, which is not kept.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, n NewKey) (Key, secret.String, publication.Publication, error) {
	now := s.now()
	n.Models = policy.Collapsed(n.Models)
	if err := n.Validate(now); err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	token, err := secret.NewToken(s.d.Rand, secret.Inference)
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	k := Key{
		ID: id.New[id.KeyKind](s.d.IDs), Workspace: ws, KID: token.KID, Name: n.Name, Suffix: token.Suffix(),
		Status: policy.KeyActive, CreatedBy: by.User, SecretHash: token.Hash(), ExpiresAt: credential.Moment(n.ExpiresAt),
		Models: n.Models, Surfaces: n.Surfaces, Scopes: n.Scopes,
		Profile: n.Profile, Department: n.Department, Limits: limited(n.Limits), Agent: n.Agent, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	c := changeOf(by, "key.create", k.ID)
	c.KIDs, c.Diff = []string{k.KID}, diff(Key{}, k)
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, revision int64) error {
		k.Revision = revision
		if err := s.bind(ctx, Key{}, &k); err != nil {
			return err
		}
		return s.d.Store.Create(ctx, ws, k)
	})
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	return k, token.Plaintext(), pub, nil
}

// Get returns one key.
func (s *Service) Get(ctx context.Context, ws id.Workspace, key id.Key) (Key, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Key, error) {
		return s.d.Store.Get(ctx, ws, key)
	})
}

// List returns a page of keys, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Key], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Key], error) {
		return s.d.Store.List(ctx, ws, q, f, s.now())
	})
}

// Update applies p.
func (s *Service) Update(ctx context.Context, ws id.Workspace, key id.Key, by audit.By, p Patch) (Key, publication.Publication, error) {
	p.Models = patch.Map(p.Models, policy.Collapsed)
	if err := p.Validate(s.now()); err != nil {
		return Key{}, publication.Publication{}, err
	}
	return s.change(ctx, ws, changeOf(by, "key.update", key), target{key, p.IfMatch}, p.apply)
}

// Pause refuses the key until it is resumed.
func (s *Service) Pause(ctx context.Context, ws id.Workspace, key id.Key, by audit.By, ifMatch *int64) (Key, publication.Publication, error) {
	return s.change(ctx, ws, changeOf(by, "key.pause", key), target{key, ifMatch}, to(policy.KeyPaused))
}

// Resume accepts a paused key again.
func (s *Service) Resume(ctx context.Context, ws id.Workspace, key id.Key, by audit.By, ifMatch *int64) (Key, publication.Publication, error) {
	return s.change(ctx, ws, changeOf(by, "key.resume", key), target{key, ifMatch}, to(policy.KeyActive))
}

// Revoke ends the key for good, its previous secret included.
func (s *Service) Revoke(ctx context.Context, ws id.Workspace, key id.Key, by audit.By, ifMatch *int64) (Key, publication.Publication, error) {
	return s.change(ctx, ws, changeOf(by, "key.revoke", key), target{key, ifMatch}, func(k Key) Key {
		k.PreviousHash, k.PreviousUntil = secret.Hash{}, nil
		k.Status, k.Route = policy.KeyRevoked, id.Route{}
		return k
	})
}

// Rotate replaces the secret and returns the new plaintext, which is not kept.
// The old secret stays valid for r.Grace; one that was still in its grace ends.
func (s *Service) Rotate(ctx context.Context, ws id.Workspace, key id.Key, by audit.By, r credential.Rotation) (Key, secret.String, publication.Publication, error) {
	if err := r.Validate(); err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	fresh, err := secret.NewToken(s.d.Rand, secret.Inference)
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	k, pub, err := s.change(ctx, ws, changeOf(by, "key.rotate", key), target{key, r.IfMatch}, func(k Key) Key {
		k.PreviousHash, k.PreviousUntil = r.Retire(k.SecretHash, s.now())
		k.SecretHash, k.Suffix = fresh.Hash(), fresh.Suffix()
		return k
	})
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	fresh.KID = k.KID
	return k, fresh.Plaintext(), pub, nil
}

// target is the key to change and the version that the caller saw.
type target struct {
	key     id.Key
	ifMatch *int64
}

// change runs the shape that every mutation of an existing key has.
func (s *Service) change(ctx context.Context, ws id.Workspace, c *deploy.Change, t target, edit func(Key) Key) (Key, publication.Publication, error) {
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, revision int64) (Key, error) {
		before, err := s.d.Store.Get(ctx, ws, t.key)
		if err != nil {
			return Key{}, err
		}
		if err := txn.Match(t.ifMatch, before.Version); err != nil {
			return Key{}, err
		}
		if before.Status == policy.KeyRevoked {
			return Key{}, fault.New(fault.Conflict, "The key is revoked, which is final. Create another one.")
		}
		after := edit(before)
		after.Version, after.Revision, after.UpdatedAt = before.Version+1, revision, s.now()
		if err := s.bind(ctx, before, &after); err != nil {
			return Key{}, err
		}
		c.KIDs, c.Diff = []string{after.KID}, diff(before, after)
		if after.Status == policy.KeyRevoked {
			if err := s.release(ctx, before, after, c); err != nil {
				return Key{}, err
			}
		}
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// bind checks what after is newly bound to, and asks that no request of the key
// uses a snapshot from before: it need not have what the key names.
func (s *Service) bind(ctx context.Context, before Key, after *Key) error {
	if after.Profile != before.Profile && !after.Profile.IsZero() {
		if err := s.d.Profiles.Bindable(ctx, after.Workspace, after.Profile); err != nil {
			return err
		}
		after.MinRevision = after.Revision
	}
	if after.Department != before.Department && !after.Department.IsZero() {
		if err := s.d.Departments.Bindable(ctx, after.Workspace, after.Department); err != nil {
			return err
		}
		after.MinRevision = after.Revision
	}
	return nil
}

// release takes the guardrails and the rate-limit policies off a revoked key,
// which is refused before they are looked at, and tells its dynamic route that it
// is gone.
func (s *Service) release(ctx context.Context, before, k Key, c *deploy.Change) error {
	if !before.Route.IsZero() {
		if err := s.d.Routes.Touch(ctx, k.Workspace, []id.Route{before.Route}); err != nil {
			return err
		}
	}
	guardrails, err := s.d.Guardrails.Release(ctx, k.Workspace, k.ID, k.UpdatedAt)
	if err != nil {
		return err
	}
	policies, err := s.d.RateLimits.Release(ctx, k.Workspace, k.ID)
	d := audit.Diff(c.Diff)
	d.List("guardrails", id.Texts(guardrails), nil)
	d.List("rate_limit_policies", id.Texts(policies), nil)
	c.Diff = d
	return err
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func to(status policy.KeyStatus) func(Key) Key {
	return func(k Key) Key {
		k.Status = status
		return k
	}
}

func changeOf(by audit.By, action string, key id.Key) *deploy.Change {
	return deploy.NewChange(by, action, "key", key.String())
}

func diff(before, after Key) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("status", string(before.Status), string(after.Status))
	d.Time("expires_at", before.ExpiresAt, after.ExpiresAt)
	d.List("models", before.Models, after.Models)
	d.List("surfaces", texts(before.Surfaces), texts(after.Surfaces))
	d.List("scopes", before.Scopes, after.Scopes)
	d.Text("routing_profile_id", before.Profile.String(), after.Profile.String())
	d.Text("department_id", before.Department.String(), after.Department.String())
	d.Text("dynamic_route_id", before.Route.String(), after.Route.String())
	diffLimits(&d, before, after)
	d.Time("previous_secret_until", before.PreviousUntil, after.PreviousUntil)
	if before.SecretHash != after.SecretHash {
		d.Secret("secret")
	}
	return d
}
