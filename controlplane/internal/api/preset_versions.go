package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ListPresetVersions implements the operation.
func (s *Server) ListPresetVersions(ctx context.Context, r gen.ListPresetVersionsRequestObject) (gen.ListPresetVersionsResponseObject, error) {
	c := callerOf(ctx)
	found, err := s.services.Presets.ListVersions(ctx, c.Workspace, c.presetCaller(), preset.RefOf(r.Preset), paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListPresetVersions200JSONResponse{Data: each(found.Items, presetVersionOf), NextCursor: nextCursor(found.Next)}, nil
}

// PublishPreset implements the operation.
func (s *Server) PublishPreset(ctx context.Context, r gen.PublishPresetRequestObject) (gen.PublishPresetResponseObject, error) {
	c := callerOf(ctx)
	release := preset.Release{Label: value(r.Body.VersionLabel), Notes: value(r.Body.ReleaseNotes), Deploy: value(r.Body.Deploy)}
	var err error
	if release.IfMatch, err = ifMatch(r.Params.IfMatch); err != nil {
		return nil, err
	}
	if release.Deploy {
		if err := c.mayDeployPresets(); err != nil {
			return nil, err
		}
	}
	p, v, pub, err := s.services.Presets.Publish(ctx, c.Workspace, preset.RefOf(r.Preset), c.presetCaller(), release)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.versionChange(ctx, p, v, pub, r.Params.Wait)
	if pending {
		return gen.PublishPreset202JSONResponse{Body: body, Headers: gen.PublishPreset202ResponseHeaders{ETag: version}}, nil
	}
	return gen.PublishPreset201JSONResponse{Body: body, Headers: gen.PublishPreset201ResponseHeaders{ETag: version}}, nil
}

// GetPresetVersion implements the operation.
func (s *Server) GetPresetVersion(ctx context.Context, r gen.GetPresetVersionRequestObject) (gen.GetPresetVersionResponseObject, error) {
	c := callerOf(ctx)
	found, err := s.services.Presets.GetVersions(ctx, c.Workspace, c.presetCaller(), preset.RefOf(r.Preset), r.Version)
	if err != nil {
		return nil, err
	}
	return gen.GetPresetVersion200JSONResponse{Data: presetVersionOf(found[0])}, nil
}

// ComparePresetVersions implements the operation.
func (s *Server) ComparePresetVersions(ctx context.Context, r gen.ComparePresetVersionsRequestObject) (gen.ComparePresetVersionsResponseObject, error) {
	c := callerOf(ctx)
	found, err := s.services.Presets.GetVersions(ctx, c.Workspace, c.presetCaller(), preset.RefOf(r.Preset), r.Version, r.Other)
	if err != nil {
		return nil, err
	}
	changes, err := preset.Compare(found[0].Config, found[1].Config, func(c policy.PresetConfig) any { return presetConfigOf(c) })
	if err != nil {
		return nil, err
	}
	return gen.ComparePresetVersions200JSONResponse{Data: each(changes, func(c preset.FieldChange) gen.PresetFieldChange {
		return gen.PresetFieldChange{Path: c.Path, Before: c.Before, After: c.After}
	})}, nil
}

// DeployPresetVersion implements the operation.
func (s *Server) DeployPresetVersion(ctx context.Context, r gen.DeployPresetVersionRequestObject) (gen.DeployPresetVersionResponseObject, error) {
	c := callerOf(ctx)
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	p, v, pub, err := s.services.Presets.Deploy(ctx, c.Workspace, preset.RefOf(r.Preset), r.Version, c.presetCaller(), match)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.versionChange(ctx, p, v, pub, r.Params.Wait)
	if pending {
		return gen.DeployPresetVersion202JSONResponse{Body: body, Headers: gen.DeployPresetVersion202ResponseHeaders{ETag: version}}, nil
	}
	return gen.DeployPresetVersion200JSONResponse{Body: body, Headers: gen.DeployPresetVersion200ResponseHeaders{ETag: version}}, nil
}

// RollBackPreset implements the operation.
func (s *Server) RollBackPreset(ctx context.Context, r gen.RollBackPresetRequestObject) (gen.RollBackPresetResponseObject, error) {
	c := callerOf(ctx)
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	p, v, pub, err := s.services.Presets.Rollback(ctx, c.Workspace, preset.RefOf(r.Preset), c.presetCaller(), match)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.versionChange(ctx, p, v, pub, r.Params.Wait)
	if pending {
		return gen.RollBackPreset202JSONResponse{Body: body, Headers: gen.RollBackPreset202ResponseHeaders{ETag: version}}, nil
	}
	return gen.RollBackPreset200JSONResponse{Body: body, Headers: gen.RollBackPreset200ResponseHeaders{ETag: version}}, nil
}

// GetPublisher implements the operation.
func (s *Server) GetPublisher(ctx context.Context, _ gen.GetPublisherRequestObject) (gen.GetPublisherResponseObject, error) {
	p, err := s.services.Presets.Publisher(ctx, callerOf(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return gen.GetPublisher200JSONResponse{
		Body: gen.PublisherOne{Data: publisherOf(p)}, Headers: gen.GetPublisher200ResponseHeaders{ETag: etag(p.Version)},
	}, nil
}

// PutPublisher implements the operation.
func (s *Server) PutPublisher(ctx context.Context, r gen.PutPublisherRequestObject) (gen.PutPublisherResponseObject, error) {
	c := callerOf(ctx)
	p, pub, err := s.services.Presets.PutPublisher(ctx, c.Workspace, c.presetCaller(), r.Body.Handle)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.PublisherChange{Data: publisherOf(p), Publication: ref}
	if pending {
		return gen.PutPublisher202JSONResponse{Body: body, Headers: gen.PutPublisher202ResponseHeaders{ETag: etag(p.Version)}}, nil
	}
	return gen.PutPublisher200JSONResponse{Body: body, Headers: gen.PutPublisher200ResponseHeaders{ETag: etag(p.Version)}}, nil
}

func (s *Server) versionChange(ctx context.Context, p preset.Preset, v preset.Version, pub publication.Publication, wait *gen.Wait) (gen.PresetVersionChange, string, bool) {
	ref, pending := s.settle(ctx, pub, wait)
	return gen.PresetVersionChange{Data: presetVersionOf(v), Preset: presetOf(p), Publication: ref}, etag(p.Version), pending
}

func presetVersionOf(v preset.Version) gen.PresetVersion {
	return gen.PresetVersion{
		Version: v.Number, VersionLabel: v.Label, ReleaseNotes: v.Notes, Config: presetConfigOf(v.Config), Digest: v.Digest,
		Status: gen.PresetVersionStatus(v.Status), Public: v.PublicAt != nil, PublishedBy: v.PublishedBy.String(), PublishedAt: v.PublishedAt.UTC(),
	}
}

func publisherOf(p preset.Publisher) gen.Publisher {
	return gen.Publisher{Handle: orNull(p.Handle), UpdatedAt: orNull(p.UpdatedAt.UTC())}
}
