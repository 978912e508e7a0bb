package envelope_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestStatusOfEveryCode(t *testing.T) {
	want := map[fault.Code]int{
		fault.InvalidJSON: 400, fault.ValidationError: 400, fault.Unauthorized: 401, fault.NotFound: 404,
		fault.MethodNotAllowed: 405, fault.PayloadTooLarge: 413, fault.GatewayError: 500,
		fault.NoDefaultModel: 400, fault.ModelNotFound: 404, fault.UnsupportedModelOrEndpoint: 400,
		fault.ContextLengthExceeded: 400, fault.UpstreamRejected: 400, fault.SubmissionUnknown: 502,
		fault.InsufficientFunds: 402, fault.GuardrailBlocked: 403, fault.ModelRegionUnavailable: 403,
		fault.RouteRejected: 403, fault.ModelRetired: 410, fault.KeyLimitExceeded: 429, fault.RateLimitExceeded: 429,
		fault.UpstreamRateLimited: 429, fault.UpstreamServerError: 502, fault.UpstreamUnreachable: 502,
		fault.UpstreamCredentialRejected: 502, fault.UpstreamUndetermined: 503, fault.QuotaUnavailable: 503,
		fault.UpstreamTimeout: 504, fault.ClientClosed: 499,
		fault.Forbidden: 403, fault.InsufficientScope: 403, fault.Conflict: 409, fault.PreconditionFailed: 412,
		fault.IdempotencyConflict: 409, fault.UnsupportedMediaType: 415, fault.Unavailable: 503,
	}
	for _, code := range fault.All() {
		require.Contains(t, want, code, "a new code needs a status")
		require.Equal(t, want[code], envelope.Status(fault.New(code, "x")), code)
	}
	require.Equal(t, 500, envelope.Status(&fault.Error{Code: "made_up"}))
}

func TestStatusByReason(t *testing.T) {
	rejected := fault.New(fault.UpstreamRejected, "x")
	rejected.Status = 422
	require.Equal(t, 422, envelope.Status(rejected))
	rejected.Status = 302
	require.Equal(t, 400, envelope.Status(rejected))
	byRoute := fault.New(fault.RouteRejected, "x")
	for status, want := range map[int]int{0: 403, 400: 400, 429: 429, 499: 499, 200: 403, 500: 403} {
		byRoute.Status = status
		require.Equal(t, want, envelope.Status(byRoute))
	}
	require.Equal(t, 504, envelope.Status(fault.New(fault.SubmissionUnknown, "x").Because(fault.ReplyTimeout)))
	require.Equal(t, 403, envelope.Status(fault.New(fault.Unauthorized, "x").Because(fault.IPNotAllowed)))
	require.Equal(t, 408, envelope.Status(fault.New(fault.ValidationError, "x").Because(fault.BodyTimeout)))
}

// Every code in every form must have the members that the form's SDK reads and
// the gateway's own, all inside "error".
func TestBodyOfEveryCode(t *testing.T) {
	for _, format := range []envelope.Format{envelope.OpenAI, envelope.Anthropic, envelope.Gemini, envelope.Responses} {
		for _, code := range fault.All() {
			e := fault.Wrap(errSecret{}, code, "What was wrong.").Because("why").With("policy_id", "p1")
			var whole struct {
				Type      string         `json:"type"`
				RequestID string         `json:"request_id"`
				Error     map[string]any `json:"error"`
			}
			body := format.Body(e, "req_1")
			require.NotContains(t, string(body), "canary")
			require.NoError(t, json.Unmarshal(body, &whole))
			require.Equal(t, "What was wrong.", whole.Error["message"])
			require.Equal(t, "why", whole.Error["reason"])
			require.Equal(t, "req_1", whole.Error["request_id"])
			require.Equal(t, "p1", whole.Error["policy_id"])
			require.Equal(t, false, whole.Error["retryable"])
			require.NotEmpty(t, whole.Error["origin"])
			switch format {
			case envelope.OpenAI, envelope.Responses:
				require.Equal(t, string(code), whole.Error["code"])
				require.NotEmpty(t, whole.Error["type"])
				require.Contains(t, whole.Error, "param")
			case envelope.Anthropic:
				require.Equal(t, "error", whole.Type)
				require.Equal(t, "req_1", whole.RequestID)
				require.NotEmpty(t, whole.Error["type"])
				require.Equal(t, string(code), whole.Error["code"])
			case envelope.Gemini:
				require.InDelta(t, envelope.Status(e), whole.Error["code"], 0)
				require.NotEmpty(t, whole.Error["status"])
				require.Equal(t, string(code), whole.Error["error_code"])
			}
		}
	}
}

func TestBodyKeepsPlacesAndUpstreamWords(t *testing.T) {
	e := fault.Invalid(fault.Violation{Path: "models[1]", Code: "type", Message: "must be a string"}, fault.Violation{Path: "stream", Message: "must be true or false"})
	require.JSONEq(t, `{"error":{"message":"models[1]: must be a string; stream: must be true or false","type":"invalid_request_error","code":"validation_error","param":"models[1]",
		"origin":"client","request_id":"r","retryable":false,
		"details":[{"path":"models[1]","message":"must be a string","code":"type"},{"path":"stream","message":"must be true or false"}]}}`, string(envelope.OpenAI.Body(e, "r")))

	u := fault.New(fault.UpstreamRejected, "Bad temperature.").From(fault.Upstream).With("type", "their_type").With("param", "temperature").With("upstream_code", "bad")
	require.JSONEq(t, `{"error":{"message":"Bad temperature.","type":"their_type","code":"upstream_rejected","param":"temperature","upstream_code":"bad",
		"origin":"upstream","request_id":"r","retryable":false}}`, string(envelope.OpenAI.Body(u, "r")))
}

func TestFrameIsOneEvent(t *testing.T) {
	e := fault.New(fault.UpstreamServerError, "Broke off.").Because(fault.StreamCut)
	require.Regexp(t, `^data: \{"error":\{.*\}\}\n\n$`, string(envelope.OpenAI.Frame(e, "r", 0)))
	require.Regexp(t, `^event: error\ndata: \{.*"type":"error".*\}\n\n$`, string(envelope.Anthropic.Frame(e, "r", 0)))
	require.Regexp(t, `^data: (\{"error":\{[^\n]*\}\})\n\n\{"error":\{[^\n]*\}\}\n$`, string(envelope.Gemini.Frame(e, "r", 0)), "some of Google's SDKs want an event, others bare JSON")

	name, data, ok := strings.Cut(string(envelope.Responses.Frame(e, "r", 7)), "\n")
	require.True(t, ok)
	require.Equal(t, "event: error", name)
	require.JSONEq(t, `{"type":"error","code":"upstream_server_error","message":"Broke off.","param":null,"sequence_number":7,
		"error":{"message":"Broke off.","type":"server_error","code":"upstream_server_error","param":null,"reason":"stream_cut","origin":"gateway","request_id":"r","retryable":false}}`,
		strings.TrimPrefix(data, "data: "))
	require.True(t, strings.HasSuffix(data, "}\n\n"))
}

type errSecret struct{}

func (errSecret) Error() string { return "canary" }
