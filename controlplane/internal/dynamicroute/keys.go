package dynamicroute

import (
	"context"
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// pathKeys is where the keys stand in what a caller sends.
const pathKeys = "key_ids"

// SetKeys attaches a route to exactly these keys, all or none. A key that has
// another route moves, in the same transaction, and the outcome says from
// where.
func (s *Service) SetKeys(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, keys []id.Key, ifMatch *int64) (Outcome, error) {
	if err := distinct(keys); err != nil {
		return Outcome{}, err
	}
	var out Outcome
	c := changeOf(by, "route.set_keys", route)
	err := s.change(ctx, ws, c, target{route, ifMatch}, &out, func(ctx context.Context, _ *Route, revision int64) error {
		attached, err := s.d.Keys.Attached(ctx, ws, route)
		if err != nil {
			return err
		}
		there, err := s.d.Keys.Attachable(ctx, ws, keys)
		if err != nil {
			return err
		}
		if err := all(keys, there); err != nil {
			return err
		}
		var fresh, gone []id.Key
		fresh, out.Moved = coming(there, route)
		wanted := setOf(keys)
		for _, k := range attached {
			if !wanted[k] {
				gone = append(gone, k)
			}
		}
		if len(fresh)+len(gone) == 0 {
			return errUnchanged
		}
		c.Diff = keysDiff(gone, fresh)
		c.KIDs, err = s.exchange(ctx, ws, route, fresh, gone, revision)
		if err != nil {
			return err
		}
		return s.d.Store.Touch(ctx, ws, left(out.Moved))
	})
	return out, err
}

// exchange attaches keys to the route and detaches others, and returns the kids
// of all.
func (s *Service) exchange(ctx context.Context, ws id.Workspace, route id.Route, fresh, gone []id.Key, revision int64) ([]string, error) {
	now := s.now()
	added, err := s.d.Keys.Attach(ctx, ws, route, fresh, revision, now)
	if err != nil {
		return nil, err
	}
	removed, err := s.d.Keys.Attach(ctx, ws, id.Route{}, gone, revision, now)
	return slices.Concat(added, removed), err
}

// coming are the keys that are not attached to route yet, and those of them
// that another route has.
func coming(there []Attachment, route id.Route) (fresh []id.Key, moved []Attachment) {
	for _, a := range there {
		if a.Route == route {
			continue
		}
		fresh = append(fresh, a.Key)
		if !a.Route.IsZero() {
			moved = append(moved, a)
		}
	}
	return fresh, moved
}

// left are the routes that keys moved away from, each once.
func left(moved []Attachment) []id.Route {
	var routes []id.Route
	for _, a := range moved {
		if !slices.Contains(routes, a.Route) {
			routes = append(routes, a.Route)
		}
	}
	return routes
}

func distinct(keys []id.Key) error {
	var v rule.Violations
	if len(keys) > MaxKeys {
		v.Add(pathKeys, rule.TooLong, fmt.Sprintf("must have at most %d entries", MaxKeys))
		return v.Err()
	}
	seen := make(map[id.Key]bool, len(keys))
	for i, k := range keys {
		if seen[k] {
			v.Add(fmt.Sprintf("%s[%d]", pathKeys, i), rule.Duplicate, "is in the list already")
		}
		seen[k] = true
	}
	return v.Err()
}

// all refuses the keys that are not there.
func all(keys []id.Key, there []Attachment) error {
	have := make(map[id.Key]bool, len(there))
	for _, a := range there {
		have[a.Key] = true
	}
	var v rule.Violations
	for i, k := range keys {
		if !have[k] {
			v.Add(fmt.Sprintf("%s[%d]", pathKeys, i), rule.NotAllowed, "is no API key of this workspace, or a revoked one")
		}
	}
	return v.Err()
}

func setOf(keys []id.Key) map[id.Key]bool {
	set := make(map[id.Key]bool, len(keys))
	for _, k := range keys {
		set[k] = true
	}
	return set
}
