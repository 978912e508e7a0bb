package webhook

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Overlap is how long the secret before a rotation signs too.
const Overlap = 24 * time.Hour

// Deps are what a Service works with.
type Deps struct {
	Runner     txn.Runner
	Store      Store
	Directory  Directory
	Deliveries Deliveries
	Mutator    *deploy.Mutator
	Auditor    Auditor
	Vault      Vault // nil where there is no keyring: nothing can be kept then
	Resolver   Resolver
	Sender     Sender
	IDs        *id.Source
	Rand       io.Reader
	Now        func() time.Time
	// Open admits any address, and http on the own machine: for development and
	// tests alone.
	Open bool
}

// Service creates, changes and tests webhooks, and shows their deliveries. Its
// failures are validation_error, not_found, conflict (too many, no keyring, or
// disabled), precondition_failed, rate_limit_exceeded and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create makes a webhook and returns its secret, which is kept sealed alone.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, n NewWebhook) (Webhook, secret.String, publication.Publication, error) {
	if err := s.check(ctx, Patch{Name: &n.Name, URL: &n.URL, Events: &n.Events}); err != nil {
		return Webhook{}, secret.String{}, publication.Publication{}, err
	}
	now := s.now()
	w := Webhook{
		ID: id.New[id.WebhookKind](s.d.IDs), Workspace: ws, Name: n.Name, URL: n.URL, Events: slices.Sorted(slices.Values(n.Events)),
		Enabled: !n.Disabled, CreatedBy: by.User, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	plain, err := s.renew(&w)
	if err != nil {
		return Webhook{}, secret.String{}, publication.Publication{}, err
	}
	c := changeOf(by, "webhook.create", w.ID)
	c.Diff = diff(Webhook{}, w)
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		n, err := s.d.Directory.Count(ctx, ws)
		switch {
		case err != nil:
			return err
		case n >= MaxWebhooks:
			return fault.Newf(fault.Conflict, "The workspace has %d webhooks, which is the most. Delete one that is not used.", n)
		}
		return s.d.Store.Create(ctx, ws, w)
	})
	if err != nil {
		return Webhook{}, secret.String{}, publication.Publication{}, err
	}
	return w, plain, pub, nil
}

// Get returns one webhook.
func (s *Service) Get(ctx context.Context, ws id.Workspace, webhook id.Webhook) (Webhook, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Webhook, error) {
		return s.d.Store.Get(ctx, ws, webhook)
	})
}

// List returns a page of webhooks, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Webhook], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Webhook], error) {
		return s.d.Store.List(ctx, ws, q)
	})
}

// Update applies p. What is still to be delivered to a webhook that is disabled
// is given up; to another URL it goes on.
func (s *Service) Update(ctx context.Context, ws id.Workspace, webhook id.Webhook, by audit.By, p Patch) (Webhook, publication.Publication, error) {
	if err := s.check(ctx, p); err != nil {
		return Webhook{}, publication.Publication{}, err
	}
	return s.change(ctx, ws, changeOf(by, "webhook.update", webhook), target{webhook, p.IfMatch}, func(ctx context.Context, w Webhook) (Webhook, error) {
		patch.Set(&w.Name, p.Name)
		patch.Set(&w.URL, p.URL)
		if p.Events != nil {
			w.Events = slices.Sorted(slices.Values(*p.Events))
		}
		if p.Enabled != nil && w.Enabled && !*p.Enabled {
			if err := s.d.Deliveries.Abandon(ctx, ws, webhook); err != nil {
				return w, err
			}
		}
		patch.Set(&w.Enabled, p.Enabled)
		return w, nil
	})
}

// Delete removes the webhook with the account of its deliveries.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, webhook id.Webhook, by audit.By, ifMatch *int64) (publication.Publication, error) {
	c := changeOf(by, "webhook.delete", webhook)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Store.Get(ctx, ws, webhook)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		c.Diff = diff(before, Webhook{})
		return s.d.Store.Delete(ctx, ws, before)
	})
}

// Rotate replaces the secret and returns the new one. The old one signs too for
// Overlap; one that was still in its own ends.
func (s *Service) Rotate(ctx context.Context, ws id.Workspace, webhook id.Webhook, by audit.By, ifMatch *int64) (Webhook, secret.String, publication.Publication, error) {
	var plain secret.String
	w, pub, err := s.change(ctx, ws, changeOf(by, "webhook.rotate_secret", webhook), target{webhook, ifMatch}, func(_ context.Context, w Webhook) (Webhook, error) {
		until := s.now().Add(Overlap)
		w.Previous, w.PreviousUntil = w.Sealed, &until
		var err error
		plain, err = s.renew(&w)
		return w, err
	})
	if err != nil {
		return Webhook{}, secret.String{}, publication.Publication{}, err
	}
	return w, plain, pub, nil
}

// target is the webhook to change and the version that the caller saw.
type target struct {
	webhook id.Webhook
	ifMatch *int64
}

// change runs the shape that every mutation of an existing webhook has.
func (s *Service) change(ctx context.Context, ws id.Workspace, c *deploy.Change, t target,
	edit func(context.Context, Webhook) (Webhook, error),
) (Webhook, publication.Publication, error) {
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Webhook, error) {
		before, err := s.d.Store.Get(ctx, ws, t.webhook)
		if err != nil {
			return Webhook{}, err
		}
		if err := txn.Match(t.ifMatch, before.Version); err != nil {
			return Webhook{}, err
		}
		after, err := edit(ctx, before)
		if err != nil {
			return Webhook{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// renew puts a new secret into w.
func (s *Service) renew(w *Webhook) (secret.String, error) {
	if s.d.Vault == nil {
		return secret.String{}, fault.New(fault.Conflict, "This platform has no keyring, so it cannot keep the secrets of webhooks. Its operator sets keyring_file.")
	}
	plain, err := secret.NewSigning(s.d.Rand)
	if err != nil {
		return secret.String{}, err
	}
	text := plain.Reveal()
	w.Suffix = text[len(text)-4:]
	w.Sealed, err = s.d.Vault.Seal(plain, Binding(w.Workspace, w.ID)...)
	return plain, err
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func changeOf(by audit.By, action string, webhook id.Webhook) *deploy.Change {
	return deploy.NewChange(by, action, "webhook", webhook.String())
}

// diff tells of a URL where it goes, and of the rest that it changed: receivers
// put what names them, and lets in, into path and query.
func diff(before, after Webhook) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("origin", Origin(before.URL), Origin(after.URL))
	if before.URL != after.URL {
		d.Secret("url")
	}
	d.List("events", texts(before.Events), texts(after.Events))
	d.Bool("enabled", before.Enabled, after.Enabled)
	d.Time("previous_secret_until", before.PreviousUntil, after.PreviousUntil)
	if string(before.Sealed) != string(after.Sealed) {
		d.Secret("secret")
	}
	return d
}

func texts(types []Type) []string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = string(t)
	}
	return list
}
