package pipeline

import (
	"context"
	"maps"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// open looks up what the key's dynamic route and the presets that the request
// names need, and settles which name the chain begins with. The error is of a
// preset that may be there and cannot be read.
func (r *run) open(ctx context.Context) error {
	in := &r.input
	if in.Facts.Owner != "" { // it is where it is
		return nil
	}
	if route, ok := r.pin.Policy.Route(in.Facts.Key.Route); ok {
		in.Content = r.pipeline.steps.Content(&r.call, route.BodyPaths())
		if route.NeedsUsage() {
			in.Usage = r.pipeline.steps.Usage.Usage(ctx, r.call.Workspace, in.Facts.Key.ID, in.Facts.Now)
		}
	}
	if err := r.lookUp(ctx, named(&in.Facts)); err != nil {
		return err
	}
	for {
		in.Opening = decide.Open(in)
		needs := in.Opening.Needs()
		if len(needs) == 0 {
			return nil
		}
		if err := r.lookUp(ctx, needs); err != nil {
			return err
		}
	}
}

// named are the keys of the presets that a request names.
func named(f *decide.Facts) (keys []string) {
	if key, ok := decide.PresetKey(f.Model); ok {
		keys = append(keys, key)
	}
	for _, name := range f.Models {
		if key, ok := decide.PresetKey(name); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// lookUp adds presets to what the decision knows; one that is not there is known
// not to be.
func (r *run) lookUp(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	in := &r.input
	found := maps.Clone(in.Presets)
	if found == nil {
		found = make(map[string]*policy.PresetVersion, len(keys))
	}
	for _, key := range keys {
		if _, known := found[key]; known {
			continue
		}
		v, err := r.pipeline.steps.Presets.Find(ctx, r.pin.Policy, in.Facts.Key.Owner, key)
		if err != nil && !absent(err) {
			return err
		}
		if err != nil {
			v = nil
		}
		found[key] = v
	}
	in.Presets = found
	return nil
}

func absent(err error) bool {
	e := fault.Of(err)
	return e.Code == fault.NotFound || e.Reason == fault.PresetNotFound
}
