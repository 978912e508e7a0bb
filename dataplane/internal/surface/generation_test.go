package surface_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// A request of signalbox/auto has the classifier's before its own, since that
// one ends first; the caller asked for neither its model nor its outcome.
func TestAGenerationIsTheCallersOwnRequest(t *testing.T) {
	at := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	primary, second, classifier := id.New[id.RequestKind](id.SystemSource()), id.New[id.RequestKind](id.SystemSource()), id.New[id.RequestKind](id.SystemSource())
	child := wire.UsageEvent{
		ID: classifier, PrimaryID: primary, Purpose: "auto_routing_classifier", Surface: catalog.Chat, StartedAt: at.Add(10 * time.Millisecond),
		Duration: 30 * time.Millisecond, Outcome: wire.Success, Status: 200, RequestedModel: "acme/judge", DecidedModel: "acme/judge",
		Provider: "west", Decision: []byte(`{"requested_model":"acme/judge"}`),
	}
	first := wire.UsageEvent{
		ID: primary, PrimaryID: primary, Surface: catalog.Messages, Stream: true, StartedAt: at, Duration: 60 * time.Millisecond,
		Outcome: wire.Failed, Status: 502, RequestedModel: catalog.AutoModel, DecidedModel: "acme/one", SessionID: "s", ClientRequestID: "c",
	}
	last := first
	last.ID, last.StartedAt, last.DecidedModel, last.Outcome, last.Status, last.Provider = second, at.Add(60*time.Millisecond), "acme/two", wire.Success, 200, "north"
	last.FirstByte, last.Decision = 5*time.Millisecond, []byte(`{"requested_model":"signalbox/auto"}`)

	w := &world{events: []wire.UsageEvent{child, first, last}}
	url := start(t, w, nil) + "/v1/generations/" + primary.String()
	key := newToken(t, secret.Inference)
	got := send(t, http.MethodGet, url, nil, "x-api-key", key)
	require.Equal(t, 200, got.status, got.body)
	view := gjson.Get(got.body, "data")
	for path, want := range map[string]any{
		"id": primary.String(), "created_at": "2026-10-01T12:00:00Z", "surface": "messages", "stream": true, "outcome": "success",
		"requested_model": "signalbox/auto", "model": "acme/two", "provider": "north", "session_id": "s", "client_request_id": "c",
		"duration_ms": 120.0, "first_byte_ms": 65.0, "decision.requested_model": "signalbox/auto", "models.#": 3.0,
		"models.0.id": primary.String(), "models.1.id": second.String(), "models.1.purpose": nil,
		"models.2.id": classifier.String(), "models.2.purpose": "auto_routing_classifier",
	} {
		require.Equal(t, want, view.Get(path).Value(), path)
	}

	// Until the caller's own has ended there is nothing to show.
	w.events = w.events[:1]
	require.Equal(t, 404, send(t, http.MethodGet, url, nil, "x-api-key", key).status)
}
