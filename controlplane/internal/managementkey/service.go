package managementkey

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Deps are what a Service works with.
type Deps struct {
	Runner    txn.Runner
	System    txn.System
	Store     Store
	Directory Directory
	Mutator   *deploy.Mutator
	IDs       *id.Source
	Rand      io.Reader
	Now       func() time.Time
	Log       *slog.Logger
}

// Service creates, recognizes and revokes management keys. Its failures are
// validation_error, insufficient_scope, unauthorized, not_found, conflict (a
// revoked key is final), precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create makes a key and returns its plaintext, which is not kept. granter are
// the scopes of whoever creates it: nobody grants what they lack.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, n NewKey, granter []string) (Key, secret.String, publication.Publication, error) {
	now := s.now()
	if err := n.Validate(now); err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	if err := mayGrant(granter, n.granted()); err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	owner := n.Owner
	if owner.IsZero() {
		owner = by.User
	}
	if owner.IsZero() {
		return Key{}, secret.String{}, publication.Publication{}, fault.Invalid(fault.Violation{
			Path: "owner", Code: rule.Required, Message: "name the member whose role the key acts with",
		})
	}
	token, err := secret.NewToken(s.d.Rand, secret.Management)
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	k := Key{
		ID: id.New[id.ManagementKeyKind](s.d.IDs), Workspace: ws, KID: token.KID, Name: n.Name, Suffix: token.Suffix(),
		Status: policy.KeyActive, CreatedBy: owner, SecretHash: token.Hash(), ExpiresAt: credential.Moment(n.ExpiresAt),
		Template: n.Template, Scopes: n.granted(), Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	c := changeOf(by, "management_key.create", k.ID)
	c.Diff = diff(Key{}, k)
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		return s.d.Store.Create(ctx, ws, k)
	})
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	return k, token.Plaintext(), pub, nil
}

// Get returns one key.
func (s *Service) Get(ctx context.Context, ws id.Workspace, key id.ManagementKey) (Key, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Key, error) {
		return s.d.Store.Get(ctx, ws, key)
	})
}

// List returns a page of keys, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Key], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Key], error) {
		return s.d.Store.List(ctx, ws, q)
	})
}

// Revoke ends the key for good, its previous secret included.
func (s *Service) Revoke(ctx context.Context, ws id.Workspace, key id.ManagementKey, by audit.By, ifMatch *int64) (Key, publication.Publication, error) {
	return s.change(ctx, ws, changeOf(by, "management_key.revoke", key), target{key, ifMatch}, func(k Key) (Key, error) {
		k.PreviousHash, k.PreviousUntil = secret.Hash{}, nil
		k.Status = policy.KeyRevoked
		return k, nil
	})
}

// Rotate replaces the secret and returns the new plaintext, which is not kept.
// The old secret stays valid for r.Grace; one that was still in its grace ends.
func (s *Service) Rotate(ctx context.Context, ws id.Workspace, key id.ManagementKey, by audit.By, r credential.Rotation, granter []string) (Key, secret.String, publication.Publication, error) {
	if err := r.Validate(); err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	fresh, err := secret.NewToken(s.d.Rand, secret.Management)
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	k, pub, err := s.change(ctx, ws, changeOf(by, "management_key.rotate", key), target{key, r.IfMatch}, func(k Key) (Key, error) {
		if err := mayHold(by.User, granter, k); err != nil {
			return k, err
		}
		k.PreviousHash, k.PreviousUntil = r.Retire(k.SecretHash, s.now())
		k.SecretHash, k.Suffix = fresh.Hash(), fresh.Suffix()
		return k, nil
	})
	if err != nil {
		return Key{}, secret.String{}, publication.Publication{}, err
	}
	fresh.KID = k.KID
	return k, fresh.Plaintext(), pub, nil
}

// target is the key to change and the version that the caller saw.
type target struct {
	key     id.ManagementKey
	ifMatch *int64
}

// change runs the shape that every mutation of an existing key has.
func (s *Service) change(ctx context.Context, ws id.Workspace, c *deploy.Change, t target, edit func(Key) (Key, error)) (Key, publication.Publication, error) {
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Key, error) {
		before, err := s.d.Store.Get(ctx, ws, t.key)
		if err != nil {
			return Key{}, err
		}
		if err := txn.Match(t.ifMatch, before.Version); err != nil {
			return Key{}, err
		}
		if before.Status == policy.KeyRevoked {
			return Key{}, fault.New(fault.Conflict, "The management key is revoked, which is final. Create another one.")
		}
		after, err := edit(before)
		if err != nil {
			return Key{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func changeOf(by audit.By, action string, key id.ManagementKey) *deploy.Change {
	return deploy.NewChange(by, action, "management_key", key.String())
}

func diff(before, after Key) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("status", string(before.Status), string(after.Status))
	d.Text("created_by", before.CreatedBy.String(), after.CreatedBy.String())
	d.Text("template", string(before.Template), string(after.Template))
	d.List("scopes", before.Scopes, after.Scopes)
	d.Time("expires_at", before.ExpiresAt, after.ExpiresAt)
	d.Time("previous_secret_until", before.PreviousUntil, after.PreviousUntil)
	if before.SecretHash != after.SecretHash {
		d.Secret("secret")
	}
	return d
}
