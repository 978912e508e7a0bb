package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
)

// GetPlatformKeyring implements the operation.
func (s *Server) GetPlatformKeyring(ctx context.Context, _ gen.GetPlatformKeyringRequestObject) (gen.GetPlatformKeyringResponseObject, error) {
	found, err := s.services.Seals.Status(ctx)
	if err != nil {
		return nil, err
	}
	return gen.GetPlatformKeyring200JSONResponse{Data: gen.PlatformKeyring{
		SealingKeyID: int64(found.SealingID()), Droppable: found.Droppable(), Keys: each(found.Keys, keyringKeyOf),
		UnconfirmedWorkspaces: found.Unconfirmed, GatewaysBehind: found.Behind,
	}}, nil
}

func keyringKeyOf(k reseal.Key) gen.PlatformKeyringKey {
	return gen.PlatformKeyringKey{
		ID: int64(k.ID), Role: gen.PlatformKeyringKeyRole(k.Role), WorkspaceKeys: k.Workspace, PlatformKeys: k.Platform, PublishedKeys: k.Published,
	}
}
