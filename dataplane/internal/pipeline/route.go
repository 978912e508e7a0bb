package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// open looks up what the key's dynamic route and its record and the presets that
// the request names need, and settles which name the chain begins with. The error is of a
// preset that may be there and cannot be read.
func (r *run) open(ctx context.Context) error {
	in := &r.input
	if in.Facts.Owner != "" { // it is where it is
		return nil
	}
	route, applies := r.pin.Policy.Route(in.Facts.Key.Route)
	recording, recorded := r.pin.Policy.Recording(in.Facts.Key.Route)
	var paths []string
	if applies {
		paths = route.BodyPaths()
	}
	if recorded {
		paths = append(slices.Clip(paths), recording.BodyPaths()...)
	}
	if applies || recorded {
		in.Content = r.pipeline.steps.Content(r.call, paths)
	}
	if applies && route.NeedsUsage() || recorded && recording.Usage {
		in.Usage = r.pipeline.steps.Usage.Usage(ctx, r.call.Workspace, in.Facts.Key.ID, in.Facts.Now)
	}
	for {
		in.Opening = decide.Open(in)
		key := in.Opening.Needs()
		if key == "" {
			return nil
		}
		if err := r.lookUp(ctx, key); err != nil {
			return err
		}
	}
}

// furtherWithin is after how long no further preset is asked for: a list of them
// must not add up what each may take.
const furtherWithin = 2 * time.Second

// lookUpFurther is lookUp for entries behind the first one: such an entry whose
// preset cannot be read is passed over, as any that cannot serve.
func (r *run) lookUpFurther(ctx context.Context, keys []string) {
	began := r.pipeline.now()
	for _, key := range keys {
		if r.pipeline.now().Sub(began) >= furtherWithin || r.lookUp(ctx, key) != nil {
			r.input.Unread = append(r.input.Unread, key)
		}
	}
}

// lookUp adds a preset to what the decision knows; one that is not there is known
// not to be.
func (r *run) lookUp(ctx context.Context, key string) error {
	in := &r.input
	v, err := r.pipeline.steps.Presets.Find(ctx, r.pin.Policy, in.Facts.Key.Owner, key)
	switch {
	case err == nil:
	case fault.Of(err).Reason == fault.PresetNotFound:
		v = nil
	default:
		return err
	}
	if in.Presets == nil {
		in.Presets = make(map[string]*policy.PresetVersion, 1)
	}
	in.Presets[key] = v
	return nil
}
