package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// GetSettings implements the operation.
func (s *Server) GetSettings(ctx context.Context, _ gen.GetSettingsRequestObject) (gen.GetSettingsResponseObject, error) {
	found, err := s.services.Settings.Get(ctx, callerOf(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return gen.GetSettings200JSONResponse{
		Body:    gen.SettingsOne{Data: settingsOf(found)},
		Headers: gen.GetSettings200ResponseHeaders{ETag: etag(found.Version)},
	}, nil
}

// UpdateSettings implements the operation.
func (s *Server) UpdateSettings(ctx context.Context, r gen.UpdateSettingsRequestObject) (gen.UpdateSettingsResponseObject, error) {
	c := callerOf(ctx)
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch, err := settingsPatch(*r.Body)
	if err != nil {
		return nil, err
	}
	after, pub, err := s.services.Settings.Update(ctx, c.Workspace, c.by(), patch, match)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.SettingsChange{Data: settingsOf(after), Publication: ref}
	if pending {
		return gen.UpdateSettings202JSONResponse{Body: body, Headers: gen.UpdateSettings202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.UpdateSettings200JSONResponse{Body: body, Headers: gen.UpdateSettings200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

func settingsOf(p settings.Settings) gen.Settings {
	return gen.Settings{
		RoutingMode:              gen.RoutingMode(p.RoutingMode),
		DefaultModel:             orNull(p.DefaultModel),
		FallbackModels:           list(p.FallbackModels),
		BetaChannel:              p.BetaChannel,
		AlphaChannel:             p.AlphaChannel,
		ByokFallbackEnabled:      p.BYOKFallback,
		RetiredModelRouting:      p.RetiredRouting,
		ModelsWithoutModel:       gen.ModelsWithoutModel(p.ModelsWithoutModel),
		MaxAttempts:              p.MaxAttempts,
		MaxModels:                p.MaxModels,
		CacheAwareRouting:        p.CacheAwareRouting,
		ReplayValues:             p.ReplayValues,
		LogRetentionDays:         p.LogRetentionDays,
		RequireZeroDataRetention: p.RequireZDR,
		DenyTraining:             p.DenyTraining,
		RoutingProfileID:         orNull(p.Profile.String()),
	}
}

func settingsPatch(b gen.SettingsPatch) (settings.Patch, error) {
	p := settings.Patch{
		RoutingMode:        (*policy.Mode)(b.RoutingMode),
		FallbackModels:     b.FallbackModels,
		BetaChannel:        b.BetaChannel,
		AlphaChannel:       b.AlphaChannel,
		BYOKFallback:       b.ByokFallbackEnabled,
		RetiredRouting:     b.RetiredModelRouting,
		ModelsWithoutModel: (*string)(b.ModelsWithoutModel),
		MaxAttempts:        b.MaxAttempts,
		MaxModels:          b.MaxModels,
		CacheAwareRouting:  b.CacheAwareRouting,
		ReplayValues:       b.ReplayValues,
		LogRetentionDays:   b.LogRetentionDays,
		RequireZDR:         b.RequireZeroDataRetention,
		DenyTraining:       b.DenyTraining,
	}
	if b.DefaultModel.IsSpecified() {
		model, _ := b.DefaultModel.Get() // null reads as ""
		p.DefaultModel = &model
	}
	var err error
	p.Profile, err = patchID[id.ProfileKind](b.RoutingProfileID, pathProfile)
	return p, err
}
