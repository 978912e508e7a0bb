package upstream

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestEveryClassHasASaying(t *testing.T) {
	require.Len(t, sayings, len(Classes()))
	for _, class := range Classes() {
		f := Fail(class, errors.New("dial tcp 10.1.2.3:443: secret"))
		require.NotEmpty(t, f.Fault.Message, class)
		require.Contains(t, fault.All(), f.Fault.Code, class)
		require.Equal(t, fault.Upstream, f.Fault.Origin)
		require.NotContains(t, f.Fault.Message, "10.1.2.3")
		require.Contains(t, f.Error(), "10.1.2.3", "the log must have the cause")
	}
}

func TestRefused(t *testing.T) {
	const openAI = `{"error":{"message":"Unsupported value: 'x'.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`
	for name, c := range map[string]struct {
		status int
		body   string
		class  Class
		code   fault.Code
		fault  int
	}{
		"bad request":             {400, openAI, Rejected, fault.UpstreamRejected, 400},
		"unprocessable":           {422, openAI, Rejected, fault.UpstreamRejected, 422},
		"another 4xx":             {409, openAI, Rejected, fault.UpstreamRejected, 409},
		"a proxy of ours refuses": {407, `{}`, CredentialRejected, fault.UpstreamCredentialRejected, 0},
		"unauthorized":            {401, `{"error":{"message":"Incorrect API key provided: sk-abc"}}`, CredentialRejected, fault.UpstreamCredentialRejected, 0},
		"forbidden":               {403, `{"error":"no"}`, CredentialRejected, fault.UpstreamCredentialRejected, 0},
		"forbidden for where":     {403, `{"error":{"code":"unsupported_country_region_territory","message":"x"}}`, GeoBlocked, fault.UpstreamServerError, 0},
		"forbidden for what":      {403, `{"error":{"code":"content_policy_violation","message":"x"}}`, ContentPolicy, fault.UpstreamRejected, 403},
		"bad key told as 400":     {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, CredentialRejected, fault.UpstreamCredentialRejected, 0},
		"payment":                 {402, `{}`, PaymentRequired, fault.UpstreamServerError, 0},
		"not found":               {404, `{"error":{"message":"The model does not exist"}}`, NotFound, fault.UpstreamServerError, 0},
		"timed out":               {408, ``, StatusTimeout, fault.UpstreamTimeout, 0},
		"too large":               {413, `too large`, TooLarge, fault.UpstreamRejected, 413},
		"media":                   {415, `{}`, UnsupportedMedia, fault.UpstreamRejected, 415},
		"rate":                    {429, `{}`, RateLimited, fault.UpstreamRateLimited, 0},
		"server":                  {500, openAI, ServerError, fault.UpstreamServerError, 0},
		"gateway page":            {502, `<html>nginx</html>`, ServerError, fault.UpstreamServerError, 0},
		"gateway timeout":         {504, ``, StatusTimeout, fault.UpstreamTimeout, 0},
		"odd status":              {599, ``, ServerError, fault.UpstreamServerError, 0},
		"redirect":                {302, ``, Redirected, fault.UpstreamServerError, 0},
		"context, OpenAI":         {400, `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 tokens."}}`, ContextLength, fault.ContextLengthExceeded, 400},
		"context, Anthropic":      {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, ContextLength, fault.ContextLengthExceeded, 400},
		"context, Gemini":         {400, `{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed"}}`, ContextLength, fault.ContextLengthExceeded, 400},
		"context, vLLM":           {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. Please reduce the length of the messages","type":"BadRequestError","code":400}`, ContextLength, fault.ContextLengthExceeded, 400},
		"context, plain text 413": {413, `input is too long for requested model`, ContextLength, fault.ContextLengthExceeded, 413},
		"policy, Azure":           {400, `{"error":{"code":"content_filter","message":"The response was filtered due to the prompt triggering content management policy."}}`, ContentPolicy, fault.UpstreamRejected, 400},
	} {
		t.Run(name, func(t *testing.T) {
			f := Refused(c.status, 7*time.Second, []byte(c.body))
			require.Equal(t, c.class, f.Class)
			require.Equal(t, c.code, f.Fault.Code)
			require.Equal(t, c.fault, f.Fault.Status)
			require.Equal(t, c.status, f.Status)
			require.NotContains(t, f.Fault.Message, "sk-")
			require.NotContains(t, f.Fault.Message, "<html>")
			waits := c.class == RateLimited || c.class == ServerError || c.class == StatusTimeout
			require.Equal(t, waits || c.class == PaymentRequired, f.RetryAfter == 7*time.Second)
			require.Equal(t, waits, f.Fault.RetryAfter == 7*time.Second, "nobody waits for our bills")
		})
	}
}

func TestRefusedKeepsTheUpstreamsWords(t *testing.T) {
	f := Refused(400, 0, []byte(`{"error":{"message":"Bad 'x', see https://provider.example/docs?key=1","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`))
	require.Equal(t, "Bad 'x', see [url removed]", f.Fault.Message)
	require.Equal(t, map[string]any{"upstream_code": "unsupported_value", "type": "invalid_request_error", "param": "messages[0].role"}, f.Fault.Fields)
	require.False(t, f.Fault.Retryable)

	for body, want := range map[string]string{
		`{"error":"plain"}`:                     "plain",
		`{"message":"top"}`:                     "top",
		`{"detail":"fastapi"}`:                  "fastapi",
		`{"error":{"code":1},"message":"both"}`: "both",
		`just text`:                             "just text",
		`"quoted"`:                              "quoted",
		`{"error":{"message":5}}`:               "5",
		``:                                      "The provider refused the request.",
		`<!doctype html><h1>x</h1>`:             "The provider refused the request.",
		`{"detail":[{"loc":["body"]}]}`:         "The provider refused the request.",
		`{"error":`:                             "The provider refused the request.",
	} {
		require.Equal(t, want, Refused(400, 0, []byte(body)).Fault.Message, body)
	}
	require.Nil(t, Refused(500, 0, []byte(`{"error":{"message":"db at 10.0.0.1 down","code":"x"}}`)).Fault.Fields,
		"a server error's text stays behind")
}

func TestInBand(t *testing.T) {
	for body, want := range map[string]Class{
		`{"error":{"message":"x","type":"server_error"}}`:                ErrorInStream,
		`{"error":{"message":"Overloaded","type":"overloaded_error"}}`:   Overloaded,
		`{"error":{"message":"x","code":429}}`:                           RateLimited,
		`{"error":{"message":"slow down","type":"rate_limit_error"}}`:    RateLimited,
		`{"error":{"message":"x","code":"context_length_exceeded"}}`:     ContextLength,
		`{"error":{"message":"x","code":"content_filter"}}`:              ContentPolicy,
		`{"error":{"message":"key sk-1","type":"authentication_error"}}`: CredentialRejected,
		`upstream exploded`: ErrorInStream,
		`{"type":"error","error":{"type":"api_error","message":"Internal"}}`: ErrorInStream,
	} {
		f := InBand(ErrorInStream, 200, []byte(body))
		require.Equal(t, want, f.Class, body)
		require.Equal(t, 200, f.Status)
		require.NotContains(t, f.Fault.Message, "sk-")
	}
	require.Equal(t, "upstream exploded", InBand(ErrorInStream, 200, []byte("upstream exploded")).Fault.Message)
	require.Equal(t, http.StatusBadRequest, InBand(ErrorInReply, 200, []byte(`{"error":{"code":"content_filter"}}`)).Fault.Status)
}

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"plain words stay, 12 of them.":                           "plain words stay, 12 of them.",
		"see https://a.example/x?k=v. Then":                       "see [url removed] Then",
		"postgres://u:p@db/x failed":                              "[url removed] failed",
		"key sk-proj-abcdefghijklmnop is bad":                     "key [removed] is bad",
		"Authorization: Bearer abc.def":                           "Authorization: [removed]",
		"sb_v1_0123456789abcdef_AbCdEf0123456789AbCdEf0123456789": "[removed]",
		"token 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b":          "token [removed]",
		"incorrect: sk-ab**********************cd":                "incorrect: [removed]",
		"api-key: 0123456789abcdef0123, try again":                "api-key: [removed], try again",
		`{"access_token":"short-one"}`:                            `{"access_token":"[removed]"}`,
		"password=hunter22&x=1":                                   "password=[removed]&x=1",
		"Unexpected token: got number":                            "Unexpected token: got number",
		"the api key is missing":                                  "the api key is missing",
		"dial 10.2.3.4:8080 refused":                              "dial [host removed] refused",
		"at vllm-7.models.svc.cluster.local:80":                   "at [host removed]",
		"a\x00b\x1b[31mc\nd\te":                                   "ab[31mc d e",
		"bad \xff\xfe utf8":                                       "bad  utf8",
		"max_completion_tokens_is_not_supported_here":             "max_completion_tokens_is_not_supported_here",
		"北京 ok": "北京 ok",
		"User: arn:aws:iam::123456789012:role/gw may not":    "User: [name removed] may not",
		"svc@p-1.iam.gserviceaccount.com lacks it":           "[name removed] lacks it",
		"Project projects/p-1 has no quota":                  "Project [name removed] has no quota",
		"in organization org-AbCdEfGh12345678 on tokens":     "in organization [name removed] on tokens",
		"claude-sonnet-4-5@20250929 is no model of projects": "claude-sonnet-4-5@20250929 is no model of projects",
		"access key ASIAABCDEFGHIJKLMNOP is not valid":       "access key [removed] is not valid",
	} {
		require.Equal(t, want, Sanitize(in), in)
	}
	long := Sanitize(strings.Repeat("é ", 5000))
	require.LessOrEqual(t, len(long), maxMessage)
	require.True(t, utf8.ValidString(long))
}
