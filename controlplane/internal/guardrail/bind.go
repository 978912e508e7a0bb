package guardrail

import (
	"context"
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// MaxAtOnce is how many keys or members one change binds or releases.
const MaxAtOnce = 100

// Rebinding is a change of what a guardrail is bound to.
type Rebinding[K id.Kind] struct {
	Guardrail id.Guardrail
	IDs       []id.ID[K] // 1 to MaxAtOnce
	IfMatch   *int64
}

// Keys lists the API keys that a guardrail is bound to.
func (s *Service) Keys(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, q page.Query) (page.Result[Binding[id.KeyKind]], error) {
	return listed(ctx, s, s.d.Keys, ws, guardrail, q)
}

// Members lists the members that a guardrail is bound to.
func (s *Service) Members(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, q page.Query) (page.Result[Binding[id.UserKind]], error) {
	return listed(ctx, s, s.d.Members, ws, guardrail, q)
}

// AddKeys binds a guardrail to API keys, all or none. One that it is bound to
// already stays so.
func (s *Service) AddKeys(ctx context.Context, ws id.Workspace, by audit.By, r Rebinding[id.KeyKind]) (Guardrail, publication.Publication, error) {
	return add(ctx, s, keysOf(s), ws, by, r)
}

// RemoveKeys takes a guardrail off API keys, all or none.
func (s *Service) RemoveKeys(ctx context.Context, ws id.Workspace, by audit.By, r Rebinding[id.KeyKind]) (Guardrail, publication.Publication, error) {
	return remove(ctx, s, keysOf(s), ws, by, r)
}

// AddMembers binds a guardrail to every key that the members created or will
// create.
func (s *Service) AddMembers(ctx context.Context, ws id.Workspace, by audit.By, r Rebinding[id.UserKind]) (Guardrail, publication.Publication, error) {
	return add(ctx, s, membersOf(s), ws, by, r)
}

// RemoveMembers takes a guardrail off members, all or none.
func (s *Service) RemoveMembers(ctx context.Context, ws id.Workspace, by audit.By, r Rebinding[id.UserKind]) (Guardrail, publication.Publication, error) {
	return remove(ctx, s, membersOf(s), ws, by, r)
}

// kind is what keys and members differ in.
type kind[K id.Kind] struct {
	binder Binder[K]
	noun   string // of actions and the audit log
	path   string // of the ids in a change
	absent string // what is wrong with an id that cannot be bound
}

func keysOf(s *Service) kind[id.KeyKind] {
	return kind[id.KeyKind]{s.d.Keys, "keys", "key_ids", "is no API key of this workspace, or a revoked one"}
}

func membersOf(s *Service) kind[id.UserKind] {
	return kind[id.UserKind]{s.d.Members, "members", "user_ids", "is no member of this workspace"}
}

func listed[K id.Kind](
	ctx context.Context, s *Service, b Binder[K], ws id.Workspace, guardrail id.Guardrail, q page.Query,
) (page.Result[Binding[K]], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Binding[K]], error) {
		if _, err := s.d.Store.Get(ctx, ws, guardrail); err != nil {
			return page.Result[Binding[K]]{}, err
		}
		return b.List(ctx, ws, guardrail, q)
	})
}

func add[K id.Kind](ctx context.Context, s *Service, k kind[K], ws id.Workspace, by audit.By, r Rebinding[K]) (Guardrail, publication.Publication, error) {
	if err := distinct(k.path, r.IDs); err != nil {
		return Guardrail{}, publication.Publication{}, err
	}
	c := changeOf(by, "guardrail.add_"+k.noun, r.Guardrail)
	return s.change(ctx, ws, c, r.Guardrail, r.IfMatch, func(ctx context.Context, g Guardrail) (Guardrail, error) {
		there, err := k.binder.Bindable(ctx, ws, r.IDs)
		if err != nil {
			return g, err
		}
		if err := all(k.path, r.IDs, there, k.absent); err != nil {
			return g, err
		}
		bound, err := k.binder.Bound(ctx, ws, g.ID, r.IDs)
		if err != nil {
			return g, err
		}
		fresh := slices.DeleteFunc(slices.Clone(r.IDs), func(one id.ID[K]) bool { return slices.Contains(bound, one) })
		if err := s.room(ctx, ws, len(fresh)); err != nil {
			return g, err
		}
		c.Diff = rebound(k.noun, nil, fresh)
		return g, k.binder.Add(ctx, ws, g.ID, fresh, s.now())
	})
}

func remove[K id.Kind](ctx context.Context, s *Service, k kind[K], ws id.Workspace, by audit.By, r Rebinding[K]) (Guardrail, publication.Publication, error) {
	if err := distinct(k.path, r.IDs); err != nil {
		return Guardrail{}, publication.Publication{}, err
	}
	c := changeOf(by, "guardrail.remove_"+k.noun, r.Guardrail)
	return s.change(ctx, ws, c, r.Guardrail, r.IfMatch, func(ctx context.Context, g Guardrail) (Guardrail, error) {
		bound, err := k.binder.Bound(ctx, ws, g.ID, r.IDs)
		if err != nil {
			return g, err
		}
		if err := all(k.path, r.IDs, bound, "is not bound to the guardrail"); err != nil {
			return g, err
		}
		c.Diff = rebound(k.noun, r.IDs, nil)
		return g, k.binder.Remove(ctx, ws, g.ID, r.IDs)
	})
}

// room refuses more bindings than a snapshot should carry.
func (s *Service) room(ctx context.Context, ws id.Workspace, more int) error {
	n, err := s.d.Directory.Bound(ctx, ws)
	if err == nil && n+more > policy.MaxGuardrailBindings {
		return fault.Newf(fault.Conflict, "The guardrails of the workspace are bound %d times, and can be %d times. "+
			"Bind one to the whole workspace, or to members instead of their keys.", n, policy.MaxGuardrailBindings)
	}
	return err
}

func distinct[K id.Kind](path string, ids []id.ID[K]) error {
	var v rule.Violations
	v.Between(path, len(ids), 1, MaxAtOnce)
	seen := make(map[id.ID[K]]bool, len(ids))
	for i, one := range ids {
		if seen[one] {
			v.Add(fmt.Sprintf("%s[%d]", path, i), rule.Duplicate, "is in the list already")
		}
		seen[one] = true
	}
	return v.Err()
}

// all refuses the ids that are not among have.
func all[K id.Kind](path string, ids, have []id.ID[K], message string) error {
	var v rule.Violations
	for i, one := range ids {
		if !slices.Contains(have, one) {
			v.Add(fmt.Sprintf("%s[%d]", path, i), rule.NotAllowed, message)
		}
	}
	return v.Err()
}

func rebound[K id.Kind](noun string, before, after []id.ID[K]) []audit.Change {
	texts := func(ids []id.ID[K]) (out []string) {
		for _, one := range ids {
			out = append(out, one.String())
		}
		return out
	}
	var d audit.Diff
	d.List(noun, texts(before), texts(after))
	return d
}
