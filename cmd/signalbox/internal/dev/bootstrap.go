package dev

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// bootstrap makes sure that there is a workspace with an owner, a management
// key and an API key, and that kept credentials are still good. It speaks to
// the management API like any other client.
func bootstrap(ctx context.Context, controlURL string, kept credentials) (credentials, error) {
	api, err := client.NewClientWithResponses(controlURL)
	if err != nil {
		return kept, fmt.Errorf("make a management client: %w", err)
	}
	if kept.ManagementKey == "" || !valid(ctx, api, kept) {
		if kept, err = createWorkspace(ctx, api, kept.OperatorToken); err != nil {
			return kept, err
		}
	}
	if kept.APIKey == "" {
		if kept.APIKey, err = createKey(ctx, api, kept.ManagementKey); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// valid reports whether the kept management key opens the kept workspace; it
// does not when the database is another one than last time.
func valid(ctx context.Context, api *client.ClientWithResponses, kept credentials) bool {
	who, err := api.GetWhoamiWithResponse(ctx, bearer(kept.ManagementKey))
	if err != nil || who.JSON200 == nil || who.JSON200.Data.WorkspaceID == nil {
		return false
	}
	return *who.JSON200.Data.WorkspaceID == kept.WorkspaceID
}

func createWorkspace(ctx context.Context, api *client.ClientWithResponses, operatorToken string) (credentials, error) {
	// The suffix lets a second folder share a database that has a "dev" already.
	var suffix [4]byte
	if _, err := rand.Read(suffix[:]); err != nil {
		return credentials{}, fmt.Errorf("read randomness: %w", err)
	}
	name, slug := "Development", fmt.Sprintf("dev-%x", suffix)
	made, err := api.CreatePlatformWorkspaceWithResponse(ctx, nil, client.NewWorkspace{
		Name: name, Slug: &slug, Owner: client.NewOwner{Email: "owner@example.com", Name: &name},
	}, bearer(operatorToken))
	if err != nil {
		return credentials{}, fmt.Errorf("create the workspace: %w", err)
	}
	change := made.JSON201
	if change == nil {
		change = made.JSON202
	}
	if change == nil || change.Data.ManagementKey.Key == nil {
		return credentials{}, refusal("create the workspace", made.HTTPResponse, made.ApplicationProblemJSONDefault)
	}
	return credentials{
		OperatorToken: operatorToken,
		ManagementKey: *change.Data.ManagementKey.Key,
		WorkspaceID:   change.Data.Workspace.ID,
	}, nil
}

func createKey(ctx context.Context, api *client.ClientWithResponses, managementKey string) (string, error) {
	made, err := api.CreateKeyWithResponse(ctx, nil, client.NewKey{Name: "development"}, bearer(managementKey))
	if err != nil {
		return "", fmt.Errorf("create the API key: %w", err)
	}
	change := made.JSON201
	if change == nil {
		change = made.JSON202
	}
	if change == nil || change.Data.Key == nil {
		return "", refusal("create the API key", made.HTTPResponse, made.ApplicationProblemJSONDefault)
	}
	return *change.Data.Key, nil
}

func bearer(token string) client.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func refusal(what string, response *http.Response, problem *client.Problem) error {
	if problem != nil {
		return fmt.Errorf("%s: %s (%s)", what, problem.Detail, problem.Code)
	}
	return fmt.Errorf("%s: the control plane answered %s", what, response.Status)
}

// newToken is an operator token of 256 random bits.
func newToken() (string, error) {
	var raw [32]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw[:]), nil
}
