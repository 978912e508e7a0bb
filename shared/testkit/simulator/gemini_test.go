package simulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

const geminiPath = "/as-google/v1beta/models/gemini-sim:"

func geminiHeader() http.Header { return header("X-Goog-Api-Key", simulator.GoogleKey) }

const geminiAsk = `{"contents":[{"role":"user","parts":[{"text":"get_weather for Paris"}]}],
	"tools":[{"functionDeclarations":[{"name":"get_weather","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}}}}]}]}`

func TestGeminiRefuses(t *testing.T) {
	r := start(t, simulator.Options{})
	r.good(http.MethodPost, geminiPath+"generateContent", geminiHeader(), geminiAsk)
	config := func(members string) string {
		return `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{` + members + `}}`
	}
	turns := func(more string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"x"}]},` + more + `]}`
	}
	const call, result = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]}`
	for name, c := range map[string]struct{ body, words string }{
		"no contents":      {`{"contents":[]}`, "contents is not specified"},
		"unknown member":   {with(geminiAsk, `"tools"`, `"messages":[],"tools"`), `Unknown name \"messages\": Cannot find field.`},
		"gateway's member": {with(geminiAsk, `"tools"`, `"models":[],"tools"`), `Unknown name \"models\"`},
		"config member":    {config(`"maxTokens":1`), `Unknown name \"maxTokens\" at 'generation_config'`},
		"part member":      {turns(`{"role":"model","parts":[{"text":"a","cache_control":{}}]}`), `Unknown name \"cache_control\" at 'contents[1].parts[0]'`},
		"role":             {turns(`{"role":"assistant","parts":[{"text":"a"}]}`), "Please use a valid role: user, model."},
		"no parts":         {turns(`{"role":"model","parts":[]}`), "contents.parts must not be empty"},
		"empty part":       {turns(`{"role":"model","parts":[{}]}`), "must have one initialized field"},
		"base64":           {turns(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"!"}}]}`), "Base64 decoding failed"},
		"no mime type":     {turns(`{"role":"user","parts":[{"fileData":{"fileUri":"gs://a"}}]}`), "needs a mimeType"},
		"result first":     {turns(result), "function response turn comes immediately after a function call turn"},
		"result missing":   {turns(call + `,{"role":"user","parts":[{"text":"y"}]}`), "number of function response parts is equal"},
		"result as text":   {turns(call + "," + with(result, `{"a":1}`, `"a"`)), "must be an object"},
		"corrupt proof":    {turns(with(call, `{"functionCall"`, `{"thoughtSignature":"c2lnLTE=","functionCall"`) + "," + result), "Corrupted thought signature."},
		"temperature":      {config(`"temperature":2.5`), "temperature must be in the range"},
		"stops":            {config(`"stopSequences":["1","2","3","4","5","6"]`), "at most 5 stop sequences"},
		"schema's type":    {config(`"responseSchema":{"type":"OBJECT"}`), "only allowed for mime type"},
		"two schemas":      {config(`"responseMimeType":"application/json","responseSchema":{"type":"OBJECT"},"responseJsonSchema":{}`), "Only one of"},
		"wide schema":      {config(`"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","additionalProperties":false}`), `Unknown name \"additionalProperties\"`},
		"wide parameters":  {with(geminiAsk, `"type":"STRING"`, `"type":"STRING","$ref":"#"`), `Unknown name \"$ref\" at 'tools[0].function_declarations[0].parameters.properties[0].value'`},
		"type list":        {with(geminiAsk, `"type":"STRING"`, `"type":["STRING","NULL"]`), "Proto field is not repeating"},
		"tool name":        {with(geminiAsk, `"name":"get_weather"`, `"name":"1"`), "Invalid function name"},
		"tool member":      {with(geminiAsk, `"parameters"`, `"strict":true,"parameters"`), `Unknown name \"strict\"`},
		"mode":             {with(geminiAsk, `"tools"`, `"toolConfig":{"functionCallingConfig":{"mode":"auto"}},"tools"`), "FunctionCallingConfig.Mode"},
		"allowed, auto":    {with(geminiAsk, `"tools"`, `"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["get_weather"]}},"tools"`), "mode is ANY"},
		"allowed, other":   {with(geminiAsk, `"tools"`, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}},"tools"`), "g is not declared"},
		"budget and level": {config(`"thinkingConfig":{"thinkingBudget":1,"thinkingLevel":"LOW"}`), "only one of thinking budget and thinking level"},
		"effort":           {config(`"thinkingConfig":{"effort":"low"}`), `Unknown name \"effort\"`},
	} {
		t.Run(name, func(t *testing.T) {
			rig{t: t, url: r.url}.refused(geminiPath+"generateContent", geminiHeader(), c.body, http.StatusBadRequest, c.words)
		})
	}
	r.refused(geminiPath+"generateContent", header("X-Goog-Api-Key", "other"), geminiAsk, 400, "API_KEY_INVALID")
	r.refused(geminiPath+"generateContent?key="+simulator.GoogleKey, nil, geminiAsk, 400, "in the query")
	r.refused("/as-google/v1beta/v1beta/models/m:generateContent", geminiHeader(), geminiAsk, 404, "NOT_FOUND")
}

// A proof comes with a call, and a thinking model wants it back in the turn.
func TestGeminiVerifiesProofs(t *testing.T) {
	r := start(t, simulator.Options{})
	path := strings.Replace(geminiPath, "gemini-sim", "gemini-reason", 1) + "generateContent"
	called := r.good(http.MethodPost, path, geminiHeader(), geminiAsk).Get("candidates.0.content.parts.0")
	require.NotEmpty(t, called.Get("thoughtSignature").Str)
	back := func(part, after string) string {
		return with(geminiAsk, `]}],`, `]},{"role":"model","parts":[`+part+`]},
			{"role":"user","parts":[{"functionResponse":{"name":"get_weather","response":{"a":1}}}]}`+after+`],`)
	}
	r.good(http.MethodPost, path, geminiHeader(), back(called.Raw, ""))
	bare := `{"functionCall":{"name":"get_weather","args":{}}}`
	r.refused(path, geminiHeader(), back(bare, ""), 400, "missing a thought_signature")
	r.refused(path, geminiHeader(), back(with(called.Raw, "get_weather", "get_time"), ""), 400, "Corrupted thought signature")
	r.good(http.MethodPost, path, geminiHeader(), back(with(bare, `{"functionCall"`, `{"thoughtSignature":"skip_thought_signature_validator","functionCall"`), ""))
	r.good(http.MethodPost, path, geminiHeader(), back(bare, `,{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"b"}]}`)) // an earlier turn
}

func TestGeminiAnswersInFull(t *testing.T) {
	r := start(t, simulator.Options{})
	ask := func(model, config string) gjson.Result {
		return r.good(http.MethodPost, strings.Replace(geminiPath, "gemini-sim", model, 1)+"generateContent", geminiHeader(),
			`{"contents":[{"parts":[{"text":"x"},{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}},
			{"fileData":{"mimeType":"application/pdf","fileUri":"https://a.example/a.pdf"}}]}],"generationConfig":{`+config+`}}`)
	}
	plain := ask("m", "")
	require.Contains(t, plain.Get("candidates.0.content.parts.0.text").Str, "1 recording. I read 1 document")
	require.Equal(t, int64(50), plain.Get(`usageMetadata.promptTokensDetails.#(modality=="AUDIO").tokenCount`).Int())
	thought := ask("m", `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":100}`)
	require.True(t, thought.Get("candidates.0.content.parts.0.thought").Bool())
	require.Positive(t, thought.Get("usageMetadata.thoughtsTokenCount").Int())
	u := thought.Get("usageMetadata")
	require.Equal(t, u.Get("totalTokenCount").Int(), u.Get("promptTokenCount").Int()+u.Get("candidatesTokenCount").Int()+u.Get("thoughtsTokenCount").Int())
	require.Positive(t, ask("m-cached", "").Get("usageMetadata.cachedContentTokenCount").Int())
	require.Equal(t, "SAFETY", ask("m-refuse", "").Get("candidates.0.finishReason").Str)
	blocked := ask("m-block", "")
	require.Equal(t, "SAFETY", blocked.Get("promptFeedback.blockReason").Str)
	require.False(t, blocked.Get("candidates").Exists())
	require.JSONEq(t, `{"a":1}`, ask("m", `"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"a":{"const":1}},"additionalProperties":false}`).
		Get("candidates.0.content.parts.0.text").Str)
	require.Equal(t, "image/png", ask("m", `"responseModalities":["TEXT","IMAGE"]`).Get("candidates.0.content.parts.1.inlineData.mimeType").Str)
	require.NotEmpty(t, ask("m", `"responseLogprobs":true,"logprobs":1`).Get("candidates.0.logprobsResult.chosenCandidates.0.token").Str)

	count := r.good(http.MethodPost, geminiPath+"countTokens", geminiHeader(), `{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"one two"}]}]}}`)
	require.Equal(t, int64(5), count.Get("totalTokens").Int())

	one := r.streamed(geminiPath+"streamGenerateContent?alt=sse", geminiHeader(), geminiAsk)
	resp, text := r.do(http.MethodPost, geminiPath+"streamGenerateContent", geminiHeader(), geminiAsk)
	require.Contains(t, resp.Header.Get("Content-Type"), "application/json")
	require.Len(t, gjson.Parse(text).Array(), len(one))
	for fault, words := range map[string]string{
		"quota": "RESOURCE_EXHAUSTED", "context": "exceeds the maximum number of tokens allowed", "policy": "PROHIBITED_CONTENT", "auth": "API key not valid",
	} {
		_, text := r.do(http.MethodPost, "/as-google/v1beta/models/fault-"+fault+":generateContent", geminiHeader(), geminiAsk)
		require.Contains(t, text, words)
	}
}
