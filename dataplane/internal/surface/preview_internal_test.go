package surface

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// What each candidate would be called with stands in its order, and of a
// workspace's own key nothing but the id.
func TestAPreviewNamesTheKeysInTheirOrder(t *testing.T) {
	own := id.MustParse[id.CredentialKind]("byok_01kb7n0z1v8q5r2m3t4w5x6y7z")
	plan := decide.Plan{Chain: []decide.Step{{Model: &catalog.Model{ID: "acme/small"}, Candidates: []decide.Candidate{
		{
			Endpoint: &catalog.Endpoint{ID: "north:acme/small"}, Provider: &catalog.Provider{Slug: "north"},
			Credentials: []decide.CredentialUse{{Source: decide.CredentialBYOK, ID: own}, {Source: decide.CredentialManaged}},
		},
		{
			Endpoint: &catalog.Endpoint{ID: "sim:acme/small"}, Provider: &catalog.Provider{Slug: "sim"},
			Credentials: []decide.CredentialUse{{Source: decide.CredentialNone}},
		},
	}}}}
	body, err := json.Marshal(previewOf(&call.Call{}, &plan).Chain)
	require.NoError(t, err)
	require.JSONEq(t, `[{"model":"acme/small","candidates":[
		{"provider":"north","endpoint":"north:acme/small","credentials":[{"source":"byok","id":"byok_01kb7n0z1v8q5r2m3t4w5x6y7z"},{"source":"managed"}]},
		{"provider":"sim","endpoint":"sim:acme/small","credentials":[{"source":"none"}]}]}]`, string(body))
}
