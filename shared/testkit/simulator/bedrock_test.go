package simulator_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

const bedrockPath = "/as-bedrock/model/anthropic.claude-sim-v1%3A0/"

func bedrockHeader() http.Header { return header("Authorization", "Bearer "+simulator.BedrockKey) }

const converseAsk = `{"messages":[{"role":"user","content":[{"text":"get_weather for Paris"}]}],"inferenceConfig":{"maxTokens":4096},
	"toolConfig":{"tools":[{"toolSpec":{"name":"get_weather","inputSchema":{"json":{"type":"object","properties":{"city":{"type":"string"}}}}}}]}}`

// signedCall signs with the official signer and lets change spoil it after.
func (r rig) signedCall(body string, credentials aws.Credentials, at time.Time, change func(*http.Request)) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+bedrockPath+"converse", strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	sum := sha256.Sum256([]byte(body))
	require.NoError(r.t, v4.NewSigner().SignHTTP(r.t.Context(), credentials, req, hex.EncodeToString(sum[:]), "bedrock", "us-east-1", at))
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, resp.Header.Get("X-Amzn-Errortype") + string(raw)
}

func TestBedrockRecomputesSignatures(t *testing.T) {
	r := start(t, simulator.Options{})
	good := aws.Credentials{AccessKeyID: simulator.AWSAccessKeyID, SecretAccessKey: simulator.AWSSecretAccessKey}
	now := time.Now().UTC()
	status, text := r.signedCall(converseAsk, good, now, nil)
	require.Equal(t, http.StatusOK, status, text)
	session := good
	session.SessionToken = simulator.AWSSessionToken
	status, text = r.signedCall(converseAsk, session, now, nil)
	require.Equal(t, http.StatusOK, status, text)

	wrong, other := good, good
	wrong.SecretAccessKey = "wrong"
	other.AccessKeyID = "AKIAOTHER"
	for name, c := range map[string]struct {
		credentials aws.Credentials
		at          time.Time
		change      func(*http.Request)
		words       string
	}{
		"secret":  {wrong, now, nil, "InvalidSignatureException"},
		"account": {other, now, nil, "UnrecognizedClientException"},
		"old":     {good, now.Add(-time.Hour), nil, "Signature expired"},
		"body":    {good, now, func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), 2 }, "does not match"},
		"header":  {good, now, func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=utf-8") }, "does not match"},
		"path":    {good, now, func(r *http.Request) { r.URL.RawPath, r.URL.Path = "", "/as-bedrock/model/x/converse" }, "does not match"},
		"none":    {good, now, func(r *http.Request) { r.Header.Del("Authorization") }, "MissingAuthenticationTokenException"},
		"torn":    {good, now, func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x") }, "IncompleteSignatureException"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := rig{t: t, url: r.url}.signedCall(converseAsk, c.credentials, c.at, c.change)
			require.Equal(t, http.StatusForbidden, status)
			require.Contains(t, text, c.words)
		})
	}
	r.refused(bedrockPath+"converse", header("Authorization", "Bearer other"), converseAsk, 403, "security token")
}

func TestBedrockRefuses(t *testing.T) {
	r := start(t, simulator.Options{})
	r.good(http.MethodPost, bedrockPath+"converse", bedrockHeader(), converseAsk)
	turns := func(messages string) string { return `{"messages":[` + messages + `]}` }
	const tools = `],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}}`
	const call = `{"role":"user","content":[{"text":"x"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"f","input":{}}}]}`
	result := func(id string) string {
		return `,{"role":"user","content":[{"toolResult":{"toolUseId":"` + id + `","content":[{"text":"r"}]}}]}`
	}
	r.good(http.MethodPost, bedrockPath+"converse", bedrockHeader(), `{"messages":[`+call+result("t1")+tools)
	for name, c := range map[string]struct{ body, words string }{
		"unknown member":     {with(converseAsk, `"messages"`, `"model":"m","messages"`), "extraneous key [model]"},
		"gateway's member":   {with(converseAsk, `"messages"`, `"models":[],"messages"`), "extraneous key [models]"},
		"no messages":        {`{}`, "'messages' failed to satisfy constraint"},
		"role":               {turns(`{"role":"system","content":[{"text":"x"}]}`), "enum value set: [user, assistant]"},
		"assistant first":    {turns(`{"role":"assistant","content":[{"text":"x"}]}`), "must start with a user message"},
		"same role twice":    {turns(`{"role":"user","content":[{"text":"x"}]},{"role":"user","content":[{"text":"x"}]}`), "must alternate between user and assistant"},
		"blank text":         {turns(`{"role":"user","content":[{"text":""}]}`), "is blank"},
		"typed block":        {turns(`{"role":"user","content":[{"type":"text","text":"x"}]}`), "exactly one known member"},
		"image by url":       {turns(`{"role":"user","content":[{"image":{"format":"png","source":{"url":"https://x"}}}]}`), "source.url"},
		"image format":       {turns(`{"role":"user","content":[{"image":{"format":"image/png","source":{"bytes":"AAAA"}}}]}`), "enum value set"},
		"document's name":    {turns(`{"role":"user","content":[{"text":"x"},{"document":{"format":"pdf","name":"a.pdf","source":{"bytes":"AAAA"}}}]}`), "document file name"},
		"document alone":     {turns(`{"role":"user","content":[{"document":{"format":"pdf","name":"a","source":{"bytes":"AAAA"}}}]}`), "text block must be included"},
		"no tool config":     {turns(call + result("t1")), "toolConfig field must be defined"},
		"no result":          {`{"messages":[` + call + tools, "Expected toolResult blocks"},
		"other result":       {`{"messages":[` + call + result("t2") + tools, "exceeds the number of toolUse blocks"},
		"no tools":           {with(converseAsk, `"tools":[`, `"toolChoice":{"auto":{}},"tools_":[`), "toolConfig.tools"},
		"choice":             {with(converseAsk, `"tools":[`, `"toolChoice":{"type":"auto"},"tools":[`), "toolConfig.toolChoice"},
		"choice of none":     {with(converseAsk, `"tools":[`, `"toolChoice":{"tool":{"name":"g"}},"tools":[`), "not defined"},
		"schema's type":      {with(converseAsk, `{"json":{"type":"object",`, `{"json":{`), "must be one of the following: object"},
		"temperature":        {with(converseAsk, `"maxTokens"`, `"temperature":2,"maxTokens"`), "less than or equal to 1"},
		"large budget":       {with(converseAsk, `"messages"`, `"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":4096}},"messages"`), "greater than `thinking.budget_tokens`"},
		"forced thoughts":    {with(converseAsk, `"messages"`, `"additionalModelRequestFields":{"tool_choice":{"type":"any"},"thinking":{"type":"enabled","budget_tokens":1024}},"messages"`), "tool_choice forces tool use"},
		"choice of Claude's": {with(converseAsk, `"messages"`, `"additionalModelRequestFields":{"tool_choice":{"type":"tool","name":"g"}},"messages"`), "Tool 'g' not found"},
		"two choices":        {with(with(converseAsk, `"tools":[`, `"toolChoice":{"auto":{}},"tools":[`), `"messages"`, `"additionalModelRequestFields":{"tool_choice":{"type":"auto"}},"messages"`), "twice"},
		"foreign proof":      {turns(`{"role":"user","content":[{"text":"x"}]},{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"a","signature":"b"}}}]},{"role":"user","content":[{"text":"x"}]}`), "Invalid `signature`"},
		"open schema":        {with(converseAsk, `"messages"`, `"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\"}"}}}},"messages"`), "additionalProperties"},
		"schema as object":   {with(converseAsk, `"messages"`, `"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":{}}}}},"messages"`), "JSON document in a string"},
	} {
		t.Run(name, func(t *testing.T) {
			rig{t: t, url: r.url}.refused(bedrockPath+"converse", bedrockHeader(), c.body, http.StatusBadRequest, c.words)
		})
	}
	for fault, want := range map[string]struct {
		status int
		kind   string
	}{
		"status-429": {429, "ThrottlingException"}, "status-503": {503, "ServiceUnavailableException"}, "status-500": {500, "InternalServerException"},
		"quota": {429, "ThrottlingException"}, "context": {400, "ValidationException"}, "auth": {403, "UnrecognizedClientException"}, "status-424": {424, "ModelErrorException"},
	} {
		resp, _ := r.do(http.MethodPost, "/as-bedrock/model/fault-"+fault+"/converse", bedrockHeader(), converseAsk)
		require.Equal(t, want.status, resp.StatusCode)
		require.True(t, strings.HasPrefix(resp.Header.Get("X-Amzn-Errortype"), want.kind+":"), fault)
	}
}

// frames decodes an event stream.
func (r rig) frames(path, body string) []eventstream.Message {
	r.t.Helper()
	resp, raw := r.do(http.MethodPost, path, bedrockHeader(), body)
	require.Equal(r.t, http.StatusOK, resp.StatusCode, raw)
	require.Equal(r.t, "application/vnd.amazon.eventstream", resp.Header.Get("Content-Type"))
	var out []eventstream.Message
	decoder, input := eventstream.NewDecoder(), bytes.NewReader([]byte(raw))
	for {
		m, err := decoder.Decode(input, nil)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(r.t, err)
		out = append(out, m)
	}
}

func TestBedrockStreams(t *testing.T) {
	r := start(t, simulator.Options{})
	plain := r.good(http.MethodPost, bedrockPath+"converse", bedrockHeader(), converseAsk)
	require.Equal(t, "tool_use", plain.Get("stopReason").Str)
	require.Equal(t, "Paris", plain.Get("output.message.content.0.toolUse.input.city").Str)
	var input, last string
	for _, m := range r.frames(bedrockPath+"converse-stream", converseAsk) {
		input += gjson.GetBytes(m.Payload, "delta.toolUse.input").Str
		last = m.Headers.Get(":event-type").String()
	}
	require.JSONEq(t, plain.Get("output.message.content.0.toolUse.input").Raw, input)
	require.Equal(t, "metadata", last)

	all := r.frames("/as-bedrock/model/fault-error-mid/converse-stream", `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`)
	end := all[len(all)-1]
	require.Equal(t, "exception", end.Headers.Get(":message-type").String())
	require.Equal(t, "serviceUnavailableException", end.Headers.Get(":exception-type").String())
	require.NotEmpty(t, gjson.GetBytes(end.Payload, "message").Str)
}

func TestBedrockThinksAndCaches(t *testing.T) {
	r := start(t, simulator.Options{})
	const ask = `{"system":[{"text":"be brief and kind"},{"cachePoint":{"type":"default","ttl":"1h"}}],"messages":[{"role":"user","content":[{"text":"hi"},{"cachePoint":{"type":"default"}}]}],
		"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1024}},"additionalModelResponseFieldPaths":["/stop_sequence"],"inferenceConfig":{"stopSequences":["provider"]}}`
	one := r.good(http.MethodPost, bedrockPath+"converse", bedrockHeader(), ask)
	thought := one.Get("output.message.content.0")
	require.NotEmpty(t, thought.Get("reasoningContent.reasoningText.signature").Str)
	require.Equal(t, "stop_sequence", one.Get("stopReason").Str)
	require.Equal(t, "provider", one.Get("additionalModelResponseFields.stop_sequence").Str)
	require.Equal(t, int64(8), one.Get("usage.cacheWriteInputTokens").Int())
	require.Equal(t, int64(4), one.Get(`usage.cacheDetails.#(ttl=="1h").inputTokens`).Int())
	require.Equal(t, int64(8), r.good(http.MethodPost, bedrockPath+"converse", bedrockHeader(), ask).Get("usage.cacheReadInputTokens").Int())
	r.good(http.MethodPost, bedrockPath+"converse", bedrockHeader(),
		with(ask, `"cachePoint":{"type":"default"}}]}]`, `"cachePoint":{"type":"default"}}]},{"role":"assistant","content":[`+thought.Raw+`,{"text":"a"}]},{"role":"user","content":[{"text":"b"}]}]`))
	r.refused(bedrockPath+"converse", bedrockHeader(), with(ask, `"ttl":"1h"`, `"ttl":"1d"`), 400, "cachePoint.ttl")
}
