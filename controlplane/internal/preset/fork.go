package preset

import (
	"context"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Source says what to fork: a preset of the workspace by its id or slug, or a
// public one as @handle/slug.
type Source struct {
	Preset  string
	Version int // 0 for the deployed one
}

// Fork makes a preset whose draft is an exact version of another, and keeps
// which one it is. n's configuration is not looked at.
func (s *Service) Fork(ctx context.Context, ws id.Workspace, by Caller, from Source, n New) (Preset, publication.Publication, error) {
	upstream, err := s.source(ctx, ws, by, from)
	if err != nil {
		return Preset{}, publication.Publication{}, err
	}
	n.Config = upstream.Config
	if n.Name == "" {
		n.Name = upstream.Name
	}
	var v rule.Violations
	p, err := s.begin(&v, ws, by, n)
	if err != nil {
		return Preset{}, publication.Publication{}, err
	}
	p.Upstream, p.Ancestry = upstream.origin(), upstream.lineage()
	return s.create(ctx, by, p, nil)
}

// maxAncestry is how many generations are kept.
const maxAncestry = 64

func (f Foreign) origin() Origin { return Origin{Preset: f.Preset, Version: f.Version} }

// lineage is the ancestry of a fork of f.
func (f Foreign) lineage() []Origin {
	list := append([]Origin{f.origin()}, f.Ancestry...)
	return list[:min(len(list), maxAncestry)]
}

// UpdateUpstream makes the draft of a fork another version of what it is a fork
// of, the deployed one for 0. Nothing is published.
func (s *Service) UpdateUpstream(ctx context.Context, ws id.Workspace, r Ref, version int, by Caller, ifMatch *int64) (Preset, publication.Publication, error) {
	p, err := s.Get(ctx, ws, by, r)
	if err != nil {
		return Preset{}, publication.Publication{}, err
	}
	if p.Upstream == (Origin{}) {
		return Preset{}, publication.Publication{}, fault.New(fault.Conflict, "The preset is no fork of another.")
	}
	upstream, err := s.source(ctx, ws, by, Source{Preset: p.Upstream.Preset.String(), Version: version})
	if err != nil {
		return Preset{}, publication.Publication{}, err
	}
	c := changeOf(by, "preset.update_upstream")
	return s.change(ctx, target{ws: ws, ref: r, by: by, ifMatch: ifMatch}, c, func(ctx context.Context, _ int64, after *Preset) (err error) {
		after.Draft = upstream.Config
		after.Upstream, after.Ancestry = upstream.origin(), upstream.lineage()
		if after.DraftDigest, err = digestOf(after.Draft); err != nil {
			return err
		}
		return s.fits(ctx, *after, after.Draft)
	})
}

var errNoSource = fault.New(fault.NotFound, "There is no such preset that you may use, or it has no such version.")

// source finds a version of the workspace's own that the caller sees, or one
// that another workspace made public.
func (s *Service) source(ctx context.Context, ws id.Workspace, by Caller, from Source) (Foreign, error) {
	if name := strings.TrimPrefix(from.Preset, "@"); strings.Contains(name, "/") {
		n, ok := policy.ParsePresetName(name)
		if !ok || n.Version != 0 {
			return Foreign{}, errNoSource
		}
		return s.d.Commons.Named(ctx, n.Handle, n.Slug, from.Version)
	}
	r := RefOf(from.Preset)
	own, err := s.own(ctx, ws, by, r, from.Version)
	if fault.Is(err, fault.NotFound) && !r.ID.IsZero() {
		return s.d.Commons.Of(ctx, r.ID, from.Version)
	}
	return own, err
}

func (s *Service) own(ctx context.Context, ws id.Workspace, by Caller, r Ref, version int) (Foreign, error) {
	var found Foreign
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		p, err := s.find(ctx, ws, by, r)
		if err != nil {
			return err
		}
		if version == 0 {
			version = p.DeployedVersion
		}
		if version == 0 {
			return fault.New(fault.Conflict, "No version of the preset is deployed: name one.")
		}
		v, err := s.d.Versions.Get(ctx, ws, p.ID, version)
		found = Foreign{Preset: p.ID, Name: p.Name, Version: version, Config: v.Config, Ancestry: p.Ancestry}
		return err
	})
	return found, err
}

// Publisher is the name under which the workspace publishes, zero where it has
// none.
func (s *Service) Publisher(ctx context.Context, ws id.Workspace) (Publisher, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Publisher, error) {
		return s.d.Publishers.Publisher(ctx, ws)
	})
}

// PutPublisher chooses the workspace's handle. One under which a preset was
// public stays: callers elsewhere name it.
func (s *Service) PutPublisher(ctx context.Context, ws id.Workspace, by Caller, handle string) (Publisher, publication.Publication, error) {
	c := deploy.NewChange(by.By, "publisher.update", "publisher", ws.String())
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Publisher, error) {
		before, err := s.d.Publishers.Publisher(ctx, ws)
		if err != nil || before.Handle == handle {
			return before, err
		}
		used, err := s.d.Publishers.Used(ctx, ws)
		if err != nil {
			return Publisher{}, err
		}
		if used {
			return Publisher{}, fault.New(fault.Conflict, "A preset was public under the handle, which others may have in their code: it stays.")
		}
		after := Publisher{Workspace: ws, Handle: handle, Version: before.Version + 1, CreatedAt: before.CreatedAt, UpdatedAt: s.now()}
		if before.Handle == "" {
			after.CreatedAt = after.UpdatedAt
		}
		c.Diff = handleDiff(before.Handle, handle)
		return after, s.d.Publishers.PutPublisher(ctx, ws, after)
	})
}
