package app

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// noUsage knows of no key what it used, so that no limit of a route is exceeded.
type noUsage struct{}

// Usage implements pipeline.Usage.
func (noUsage) Usage(context.Context, id.Workspace, id.Key, time.Time) flow.Usage {
	return flow.Usage{}
}

// noPresets has none.
type noPresets struct{}

// Find implements pipeline.Presets.
func (noPresets) Find(context.Context, *policy.View, id.User, string) (*policy.PresetVersion, error) {
	return nil, fault.New(fault.ModelNotFound, "There is no preset with this name.").Because(fault.PresetNotFound)
}
