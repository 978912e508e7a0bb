package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/authz"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// presetCaller is the caller as presets know it.
func (c caller) presetCaller() preset.Caller {
	return preset.Caller{By: c.by(), Admin: c.Role == authz.Owner || c.Role == authz.Admin}
}

// ListPresets implements the operation.
func (s *Server) ListPresets(ctx context.Context, r gen.ListPresetsRequestObject) (gen.ListPresetsResponseObject, error) {
	c := callerOf(ctx)
	found, err := s.services.Presets.List(ctx, c.Workspace, c.presetCaller(), paging(ctx, r.Params.Cursor, r.Params.Limit), preset.Filter{
		Slug: value(r.Params.Slug), Visibility: preset.Visibility(value(r.Params.Visibility)), Archived: value(r.Params.Archived),
	})
	if err != nil {
		return nil, err
	}
	return gen.ListPresets200JSONResponse{Data: each(found.Items, presetOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreatePreset implements the operation.
func (s *Server) CreatePreset(ctx context.Context, r gen.CreatePresetRequestObject) (gen.CreatePresetResponseObject, error) {
	c := callerOf(ctx)
	config, err := presetConfigFrom(value(r.Body.Config))
	if err != nil {
		return nil, err
	}
	n := newPreset(r.Body.Slug, r.Body.Name, r.Body.Description, r.Body.Visibility, r.Body.Versioning)
	n.Config = config
	if value(r.Body.Publish) {
		if err := c.mayDeployPresets(); err != nil {
			return nil, err
		}
		n.Release = &preset.Release{Label: value(r.Body.VersionLabel), Notes: value(r.Body.ReleaseNotes), Deploy: true}
	} else if r.Body.VersionLabel != nil || r.Body.ReleaseNotes != nil {
		return nil, needsPublish
	}
	p, pub, err := s.services.Presets.Create(ctx, c.Workspace, c.presetCaller(), n)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.presetChange(ctx, p, pub, r.Params.Wait)
	if pending {
		return gen.CreatePreset202JSONResponse{Body: body, Headers: gen.CreatePreset202ResponseHeaders{ETag: version}}, nil
	}
	return gen.CreatePreset201JSONResponse{Body: body, Headers: gen.CreatePreset201ResponseHeaders{ETag: version}}, nil
}

// ForkPreset implements the operation.
func (s *Server) ForkPreset(ctx context.Context, r gen.ForkPresetRequestObject) (gen.ForkPresetResponseObject, error) {
	c := callerOf(ctx)
	n := newPreset(r.Body.Slug, r.Body.Name, r.Body.Description, r.Body.Visibility, r.Body.Versioning)
	p, pub, err := s.services.Presets.Fork(ctx, c.Workspace, c.presetCaller(), preset.Source{Preset: r.Body.From, Version: value(r.Body.Version)}, n)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.presetChange(ctx, p, pub, r.Params.Wait)
	if pending {
		return gen.ForkPreset202JSONResponse{Body: body, Headers: gen.ForkPreset202ResponseHeaders{ETag: version}}, nil
	}
	return gen.ForkPreset201JSONResponse{Body: body, Headers: gen.ForkPreset201ResponseHeaders{ETag: version}}, nil
}

// newPreset fills in what is absent.
func newPreset(slug string, name, description *string, visibility *gen.PresetVisibility, versioning *gen.PresetVersioning) preset.New {
	n := preset.New{Slug: slug, Name: value(name), Description: value(description), Visibility: preset.Team, Versioning: preset.Sequential}
	if visibility != nil {
		n.Visibility = preset.Visibility(*visibility)
	}
	if versioning != nil {
		n.Versioning = preset.Versioning(*versioning)
	}
	return n
}

// GetPreset implements the operation.
func (s *Server) GetPreset(ctx context.Context, r gen.GetPresetRequestObject) (gen.GetPresetResponseObject, error) {
	c := callerOf(ctx)
	p, err := s.services.Presets.Get(ctx, c.Workspace, c.presetCaller(), preset.RefOf(r.Preset))
	if err != nil {
		return nil, err
	}
	return gen.GetPreset200JSONResponse{
		Body: gen.PresetOne{Data: presetOf(p)}, Headers: gen.GetPreset200ResponseHeaders{ETag: etag(p.Version)},
	}, nil
}

// UpdatePreset implements the operation.
func (s *Server) UpdatePreset(ctx context.Context, r gen.UpdatePresetRequestObject) (gen.UpdatePresetResponseObject, error) {
	c := callerOf(ctx)
	patch := preset.Patch{Name: r.Body.Name, Description: r.Body.Description}
	if r.Body.Visibility != nil {
		patch.Visibility = pointer(preset.Visibility(*r.Body.Visibility))
	}
	if r.Body.Versioning != nil {
		patch.Versioning = pointer(preset.Versioning(*r.Body.Versioning))
	}
	var err error
	if patch.IfMatch, err = ifMatch(r.Params.IfMatch); err != nil {
		return nil, err
	}
	if err := patchConfig(&patch, r.Body.Config, value(r.Body.ReplaceConfig)); err != nil {
		return nil, err
	}
	p, pub, err := s.services.Presets.Update(ctx, c.Workspace, preset.RefOf(r.Preset), c.presetCaller(), patch)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.presetChange(ctx, p, pub, r.Params.Wait)
	if pending {
		return gen.UpdatePreset202JSONResponse{Body: body, Headers: gen.UpdatePreset202ResponseHeaders{ETag: version}}, nil
	}
	return gen.UpdatePreset200JSONResponse{Body: body, Headers: gen.UpdatePreset200ResponseHeaders{ETag: version}}, nil
}

// patchConfig puts what a change says of the draft into patch.
func patchConfig(patch *preset.Patch, given *gen.PresetConfig, replace bool) error {
	if given == nil && !replace {
		return nil
	}
	config, err := presetConfigFrom(value(given))
	if err != nil {
		return err
	}
	if replace {
		patch.Config = &config
		return nil
	}
	patch.Merge = func(draft policy.PresetConfig) policy.PresetConfig { return mergeConfig(draft, config, *given) }
	return nil
}

// ArchivePreset implements the operation.
func (s *Server) ArchivePreset(ctx context.Context, r gen.ArchivePresetRequestObject) (gen.ArchivePresetResponseObject, error) {
	c := callerOf(ctx)
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	p, pub, err := s.services.Presets.Archive(ctx, c.Workspace, preset.RefOf(r.Preset), c.presetCaller(), r.Params.ConfirmName, match)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.presetChange(ctx, p, pub, r.Params.Wait)
	if pending {
		return gen.ArchivePreset202JSONResponse{Body: body, Headers: gen.ArchivePreset202ResponseHeaders{ETag: version}}, nil
	}
	return gen.ArchivePreset200JSONResponse{Body: body, Headers: gen.ArchivePreset200ResponseHeaders{ETag: version}}, nil
}

// UpdatePresetUpstream implements the operation.
func (s *Server) UpdatePresetUpstream(ctx context.Context, r gen.UpdatePresetUpstreamRequestObject) (gen.UpdatePresetUpstreamResponseObject, error) {
	c := callerOf(ctx)
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	p, pub, err := s.services.Presets.UpdateUpstream(ctx, c.Workspace, preset.RefOf(r.Preset), value(r.Body.Version), c.presetCaller(), match)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.presetChange(ctx, p, pub, r.Params.Wait)
	if pending {
		return gen.UpdatePresetUpstream202JSONResponse{Body: body, Headers: gen.UpdatePresetUpstream202ResponseHeaders{ETag: version}}, nil
	}
	return gen.UpdatePresetUpstream200JSONResponse{Body: body, Headers: gen.UpdatePresetUpstream200ResponseHeaders{ETag: version}}, nil
}

func (s *Server) presetChange(ctx context.Context, p preset.Preset, pub publication.Publication, wait *gen.Wait) (gen.PresetChange, string, bool) {
	ref, pending := s.settle(ctx, pub, wait)
	return gen.PresetChange{Data: presetOf(p), Publication: ref}, etag(p.Version), pending
}

func presetOf(p preset.Preset) gen.Preset {
	return gen.Preset{
		ID: p.ID.String(), Slug: p.Slug, CanonicalModel: p.Canonical(), Name: p.Name, Description: p.Description,
		Visibility: gen.PresetVisibility(p.Visibility), Versioning: gen.PresetVersioning(p.Versioning),
		Config: presetConfigOf(p.Draft), Changed: p.Changed(),
		LatestVersion: orNull(p.LatestVersion), DeployedVersion: orNull(p.DeployedVersion), CreatedBy: p.CreatedBy.String(),
		Upstream: orNull(originOf(p.Upstream)), Ancestry: each(p.Ancestry, originOf),
		ArchivedAt: orNull(value(p.ArchivedAt).UTC()), CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
}

func originOf(o preset.Origin) gen.PresetOrigin {
	return gen.PresetOrigin{PresetID: o.Preset.String(), Version: o.Version}
}
