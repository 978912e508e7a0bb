package byok

import (
	"bytes"
	"context"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Ordered are all credentials of a provider and use, in the order in which they
// are tried. Its version is the sum of theirs: among the same credentials it
// rises with every change, and an order over others is refused whatever it is.
type Ordered struct {
	Credentials []Credential
	Version     int64
}

func ordered(list []Credential) Ordered {
	o := Ordered{Credentials: list}
	for _, c := range list {
		o.Version += c.Version
	}
	return o
}

// InOrder is how the provider's credentials of a use are tried. The provider may
// be named by an alias.
func (s *Service) InOrder(ctx context.Context, ws id.Workspace, provider string, use policy.CredentialUse) (Ordered, error) {
	provider, err := s.slug(ctx, provider)
	if err != nil {
		return Ordered{}, err
	}
	all, err := txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) ([]Credential, error) {
		return s.d.Directory.All(ctx, ws)
	})
	return ordered(group(all, provider, use)), err
}

// Reorder puts all credentials of a provider and use into the order given. Each
// must be named, once: an order over some would leave the place of the others to
// chance.
func (s *Service) Reorder(ctx context.Context, ws id.Workspace, by audit.By, o Order) (Ordered, publication.Publication, error) {
	var v rule.Violations
	checkUse(&v, o.Use)
	if err := v.Err(); err != nil {
		return Ordered{}, publication.Publication{}, err
	}
	var err error
	if o.Provider, err = s.slug(ctx, o.Provider); err != nil {
		return Ordered{}, publication.Publication{}, err
	}
	c := deploy.NewChange(by, "byok.reorder", "byok", o.Provider)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Ordered, error) {
		all, err := s.d.Directory.All(ctx, ws)
		if err != nil {
			return Ordered{}, err
		}
		before := group(all, o.Provider, o.Use)
		if err := txn.Match(o.IfMatch, ordered(before).Version); err != nil {
			return Ordered{}, err
		}
		after, err := o.of(before)
		if err != nil {
			return Ordered{}, err
		}
		var d audit.Diff
		d.List("order."+string(o.Use), names(before), names(after))
		c.Diff = d
		err = s.place(ctx, ws, after)
		return ordered(after), err
	})
}

// place gives each credential its place in the list.
func (s *Service) place(ctx context.Context, ws id.Workspace, list []Credential) error {
	for i := range list {
		c := &list[i]
		if c.Position == i+1 {
			continue
		}
		c.Position, c.Version, c.UpdatedAt = i+1, c.Version+1, s.now()
		if err := s.d.Store.Update(ctx, ws, *c); err != nil {
			return err
		}
	}
	return nil
}

// of puts the credentials into the order, or says what is missing in it.
func (o Order) of(have []Credential) ([]Credential, error) {
	byID := make(map[id.Credential]Credential, len(have))
	for _, c := range have {
		byID[c.ID] = c
	}
	var v rule.Violations
	ordered := make([]Credential, 0, len(have))
	for _, wanted := range o.Credentials {
		c, ok := byID[wanted]
		if ok {
			ordered = append(ordered, c)
		}
		delete(byID, wanted)
	}
	if len(byID) > 0 || len(ordered) != len(o.Credentials) || len(have) == 0 {
		v.Add("credentials", rule.NotAllowed, "must name every credential that the provider has of this use, each once, and no other")
	}
	return ordered, v.Err()
}

func group(all []Credential, provider string, use policy.CredentialUse) []Credential {
	var list []Credential
	for _, c := range all {
		if c.Provider == provider && c.Use == use {
			list = append(list, c)
		}
	}
	return list
}

// last is the place behind all that the provider has of the use.
func last(all []Credential, provider string, use policy.CredentialUse) (int, error) {
	have := group(all, provider, use)
	if len(have) >= maxGroup {
		return 0, fault.Newf(fault.Conflict, "A provider can have at most %d keys of one use. Delete one that is not used.", maxGroup)
	}
	position := 1
	for _, c := range have {
		position = max(position, c.Position+1)
	}
	return position, nil
}

func names(list []Credential) []string {
	ids := make([]id.Credential, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return id.Texts(ids)
}

func diff(before, after Credential) []audit.Change {
	var d audit.Diff
	d.Text("provider", before.Provider, after.Provider)
	d.Text("name", before.Name, after.Name)
	d.Text("use", string(before.Use), string(after.Use))
	d.Int("position", before.Position, after.Position)
	d.Bool("enabled", before.Enabled, after.Enabled)
	d.List("models", before.Models, after.Models)
	d.List("api_keys", id.Texts(before.APIKeys), id.Texts(after.APIKeys))
	if !bytes.Equal(before.Sealed, after.Sealed) {
		d.Secret("key")
	}
	return slices.Clip(d)
}
