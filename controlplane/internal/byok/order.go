package byok

import (
	"bytes"
	"context"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Reorder puts all credentials of a provider and use into the order given, and
// returns them in it. Each must be named, once: an order over some would leave
// the place of the others to chance.
func (s *Service) Reorder(ctx context.Context, ws id.Workspace, by audit.By, o Order) ([]Credential, publication.Publication, error) {
	var v rule.Violations
	checkUse(&v, o.Use)
	if err := v.Err(); err != nil {
		return nil, publication.Publication{}, err
	}
	var err error
	if o.Provider, err = s.slug(ctx, o.Provider); err != nil {
		return nil, publication.Publication{}, err
	}
	c := &deploy.Change{Actor: by.Actor, RequestID: by.RequestID, Action: "byok.reorder", TargetType: "byok", TargetID: o.Provider}
	var after []Credential
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		all, err := s.d.Directory.All(ctx, ws)
		if err != nil {
			return err
		}
		before := group(all, o.Provider, o.Use)
		ordered, err := o.of(before)
		if err != nil {
			return err
		}
		after = make([]Credential, len(ordered))
		for i, moved := range ordered {
			if moved.Position != i+1 {
				moved.Position, moved.Version, moved.UpdatedAt = i+1, moved.Version+1, s.now()
				if err := s.d.Store.Update(ctx, ws, moved); err != nil {
					return err
				}
			}
			after[i] = moved
		}
		var d audit.Diff
		d.List("order."+string(o.Use), names(before), names(after))
		c.Diff = d
		return nil
	})
	if err != nil {
		return nil, publication.Publication{}, err
	}
	return after, pub, nil
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
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID.String()
	}
	return ids
}

func diff(before, after Credential) []audit.Change {
	var d audit.Diff
	d.Text("provider", before.Provider, after.Provider)
	d.Text("name", before.Name, after.Name)
	d.Text("use", string(before.Use), string(after.Use))
	d.Int("position", before.Position, after.Position)
	d.Bool("enabled", before.Enabled, after.Enabled)
	d.List("models", before.Models, after.Models)
	d.List("api_keys", keyNames(before.APIKeys), keyNames(after.APIKeys))
	if !bytes.Equal(before.Sealed, after.Sealed) {
		d.Secret("key")
	}
	return slices.Clip(d)
}

func keyNames(keys []id.Key) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.String()
	}
	return list
}
