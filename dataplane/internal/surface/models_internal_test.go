package surface

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// viewed is health that runs on once it is looked at.
type viewed struct {
	Health
	on func()
}

func (v viewed) View() decide.Health { v.on(); return nil }

const listed = 5

// A list looks at each model once, and at no further one when its caller has
// left.
func TestListsOfModelsEndWithTheirCaller(t *testing.T) {
	e := &Edge{}
	for name, list := range map[string]func(*asked) (any, error){"models": e.listModels, "gemini": e.listGeminiModels} {
		t.Run(name, func(t *testing.T) {
			stays := asking(t.Context(), t, func() {})
			_, err := list(stays)
			require.NoError(t, err)
			require.Len(t, stays.usable, listed)

			ctx, leave := context.WithCancel(t.Context())
			leaves := asking(ctx, t, leave) // while the first model is looked at
			_, err = list(leaves)
			require.Equal(t, fault.ClientClosed, fault.CodeOf(err))
			require.Len(t, leaves.usable, 1)
		})
	}
}

// What is known of a model is not asked again.
func TestWhatAModelIsUsableForIsAskedOnce(t *testing.T) {
	a := asking(t.Context(), t, func() {})
	m := &a.pin.Catalog.Models()[0]
	offers, on := a.offers(m, a.surfaces())
	require.NotEmpty(t, offers)
	require.NotEmpty(t, on)
	a.usable[m] = make([][]catalog.Offer, len(a.surfaces()))
	offers, on = a.offers(m, a.surfaces())
	require.Empty(t, offers)
	require.Empty(t, on)
}

func asking(ctx context.Context, t *testing.T, viewedAt func()) *asked {
	t.Helper()
	c := catalog.Catalog{Schema: catalog.Schema, Providers: []catalog.Provider{{
		Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "https://north.example/v1", Credential: secret.Sealed("sealed"),
	}}}
	for i := range listed {
		model := fmt.Sprintf("acme/m%d", i)
		c.Models = append(c.Models, catalog.Model{ID: model, Author: "acme", Endpoints: []catalog.Endpoint{{
			ID: catalog.EndpointID("north", model, ""), Provider: "north", UpstreamModel: "m",
		}}})
	}
	cat, err := catalog.Compile(c)
	require.NoError(t, err)
	pol, err := policy.Compile(policy.Snapshot{Workspace: id.New[id.WorkspaceKind](id.SystemSource()), Revision: 1, Settings: policy.DefaultSettings()})
	require.NoError(t, err)
	g, _ := gin.CreateTestContext(httptest.NewRecorder())
	g.Request = httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/models", nil)
	return &asked{gin: g, call: &call.Call{}, pin: call.Pinned{Policy: pol, Catalog: cat}, health: viewed{on: viewedAt}}
}
