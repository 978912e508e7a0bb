package routing

import (
	"context"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Presets tells how a preset stands with a workspace that names it. The standing
// is flow.Known, Missing, Undeployed or Confined; the version is 0 for the
// deployed one.
type Presets interface {
	// Own looks one of the workspace's up, inside a transaction of it or not.
	Own(ctx context.Context, ws id.Workspace, slug string, version int) (flow.Standing, error)
	// Public looks @handle/slug up, outside a transaction.
	Public(ctx context.Context, handle, slug string, version int) (flow.Standing, error)
}

// Shelf looks presets up for one check, each name once. It is not for use by
// several goroutines.
type Shelf struct {
	look  func(policy.PresetName) (flow.Standing, error)
	known map[policy.PresetName]flow.Standing
	err   error
}

// NewShelf returns a Shelf of what a workspace may name, to be used outside a
// transaction.
func NewShelf(ctx context.Context, presets Presets, ws id.Workspace) *Shelf {
	return &Shelf{known: make(map[policy.PresetName]flow.Standing), look: func(n policy.PresetName) (flow.Standing, error) {
		if n.Handle != "" {
			return presets.Public(ctx, n.Handle, n.Slug, n.Version)
		}
		return presets.Own(ctx, ws, n.Slug, n.Version)
	}}
}

// within returns one to be used within a transaction of ws, where those of others
// cannot be looked up: they stand as s found them, and those that it was not
// asked for are taken to stand.
func (s *Shelf) within(ctx context.Context, presets Presets, ws id.Workspace) *Shelf {
	return &Shelf{known: make(map[policy.PresetName]flow.Standing), look: func(n policy.PresetName) (flow.Standing, error) {
		if n.Handle == "" {
			return presets.Own(ctx, ws, n.Slug, n.Version)
		}
		if standing, found := s.known[n]; found {
			return standing, nil
		}
		return flow.Known, nil
	}}
}

// Standing is of what follows the @ of a name.
func (s *Shelf) Standing(text string) flow.Standing {
	name, ok := policy.ParsePresetName(text)
	if !ok {
		return flow.Missing
	}
	standing, known := s.known[name]
	if known || s.err != nil {
		return standing
	}
	standing, s.err = s.look(name)
	s.known[name] = standing
	return standing
}

// Load looks up the presets among the models that settings name, so that a check
// of the same names may follow inside a transaction.
func (s *Shelf) Load(defaultModel string, fallbacks []string) error {
	for _, name := range append([]string{defaultModel}, fallbacks[:min(len(fallbacks), policy.MaxFallbacks)]...) {
		if preset, ok := strings.CutPrefix(name, "@"); ok {
			s.Standing(preset)
		}
	}
	return s.err
}

// Err is why a preset could not be looked up; what was said is then worth
// nothing.
func (s *Shelf) Err() error { return s.err }
