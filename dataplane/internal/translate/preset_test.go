package translate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var terse = &policy.PresetVersion{Config: policy.PresetConfig{
	SystemPrompt: "Be brief.", Params: map[string]json.RawMessage{"temperature": json.RawMessage("0.5"), "max_tokens": json.RawMessage("9")},
}}

// TestAPresetReachesEveryFormat merges one preset into each caller's format and
// sends the request on in each provider's.
func TestAPresetReachesEveryFormat(t *testing.T) {
	for _, c := range []struct {
		surface catalog.Surface
		action  call.Action
		body    string
		to      decide.Candidate
		want    string
	}{
		{
			catalog.Chat, call.Generate, `{"model":"@p","messages":[{"role":"user","content":"hi"}]}`, at(catalog.OpenAICompatible, "m"),
			`{"max_tokens":9,"temperature":0.5,"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}`,
		},
		{
			catalog.Chat, call.Generate, `{"model":"@p","messages":[{"role":"user","content":"hi"}]}`, at(catalog.Anthropic, "m"),
			`{"model":"m","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}],"temperature":0.5}`,
		},
		{
			catalog.Responses, call.Generate, `{"model":"@p","input":"hi"}`, at(catalog.OpenAI, "m", catalog.Responses),
			`{"temperature":0.5,"max_output_tokens":9,"instructions":"Be brief.","model":"m","input":"hi"}`,
		},
		{
			catalog.Responses, call.Generate, `{"model":"@p","input":"hi"}`, at(catalog.Google, "m"),
			`{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"temperature":0.5,"maxOutputTokens":9}}`,
		},
		{
			catalog.Messages, call.Generate, `{"model":"@p","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`, at(catalog.Anthropic, "m"),
			`{"temperature":0.5,"system":"Be brief.","model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`,
		},
		{
			catalog.Messages, call.Generate, `{"model":"@p","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`, at(catalog.OpenAICompatible, "m"),
			`{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}],"max_completion_tokens":5,"temperature":0.5}`,
		},
		{
			catalog.Gemini, call.Generate, contentsAlone, at(catalog.Google, "m"),
			`{"generationConfig":{"temperature":0.5,"maxOutputTokens":9},"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
		},
		{
			catalog.Completions, call.Generate, `{"model":"@p","prompt":"hi"}`, at(catalog.OpenAICompatible, "m"),
			`{"max_tokens":9,"temperature":0.5,"model":"m","prompt":"Be brief.\n\nhi"}`,
		},
		{
			catalog.Messages, call.Count, `{"model":"@p","messages":[{"role":"user","content":"hi"}]}`, at(catalog.Anthropic, "m"),
			`{"system":"Be brief.","model":"m","messages":[{"role":"user","content":"hi"}]}`,
		},
		{
			catalog.Gemini, call.Count, contentsAlone, at(catalog.Google, "m"),
			`{"generateContentRequest":{"model":"models/m","generationConfig":{"temperature":0.5,"maxOutputTokens":9},"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}}`,
		},
		{
			catalog.Gemini, call.Count, wholeRequest, at(catalog.Vertex, "m"),
			`{"generationConfig":{"temperature":0.5,"maxOutputTokens":9},"system_instruction":{"parts":[{"text":"Be brief."},{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
		},
	} {
		t.Run(string(c.surface)+" "+string(c.action)+" to "+string(c.to.Provider.Type), func(t *testing.T) {
			tr := translate.New(nil)
			original := call.Call{Surface: c.surface, Action: c.action, Body: []byte(c.body)}
			merged, unplaced, failure := tr.Merge(original, terse)
			require.Nil(t, failure)
			require.Empty(t, unplaced)
			require.Equal(t, c.body, string(original.Body))
			request, failure := tr.Request(&merged, c.to)
			require.Nil(t, failure)
			require.Equal(t, c.want, string(request.Body.Join()))
		})
	}
}

func TestAPresetCountsInWhatIsEstimated(t *testing.T) {
	c := chat(`{"messages":[]}`)
	c.Request.InputTokens = 100
	merged, _, failure := translate.New(nil).Merge(*c, terse)
	require.Nil(t, failure)
	require.EqualValues(t, 102, merged.Request.InputTokens)
	require.EqualValues(t, 9, merged.Request.OutputTokens)
	c.Request.OutputTokens = 5
	merged, _, _ = translate.New(nil).Merge(*c, terse)
	require.EqualValues(t, 5, merged.Request.OutputTokens, "the caller's own")
}

func TestWhatHasNoPlaceIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		call call.Call
		want []string
	}{
		"a form":               {call.Call{Surface: catalog.Transcriptions, Form: "b", Body: []byte("--b")}, []string{"preset.max_tokens", "preset.temperature", "preset.system_prompt"}},
		"a conversation":       {call.Call{Surface: catalog.Realtime}, []string{"preset.max_tokens", "preset.temperature", "preset.system_prompt"}},
		"no instructions":      {call.Call{Surface: catalog.Embeddings, Body: []byte(`{"input":"x"}`)}, []string{"preset.max_tokens", "preset.temperature", "preset.system_prompt"}},
		"about a job":          {call.Call{Surface: catalog.Videos, Action: call.Get}, nil},
		"a prompt in tokens":   {call.Call{Surface: catalog.Completions, Body: []byte(`{"prompt":[1]}`)}, []string{"preset.system_prompt"}},
		"everything is placed": {*chat(`{"messages":[]}`), nil},
	} {
		merged, unplaced, failure := translate.New(nil).Merge(c.call, terse)
		require.Nil(t, failure, name)
		require.Equal(t, c.want, unplaced, name)
		if len(unplaced) > 1 {
			require.Equal(t, string(c.call.Body), string(merged.Body), name)
		}
	}
}

func TestWhatIsSaidIsBounded(t *testing.T) {
	long := &policy.PresetVersion{Config: policy.PresetConfig{Params: map[string]json.RawMessage{}}}
	for i := range 100 {
		long.Config.Params[strings.Repeat("x", i+50)] = json.RawMessage("1")
	}
	_, unplaced, failure := translate.New(nil).Merge(call.Call{Surface: catalog.Embeddings, Body: []byte(`{}`)}, long)
	require.Nil(t, failure)
	require.Len(t, unplaced, 32)
	for _, name := range unplaced {
		require.LessOrEqual(t, len(name), 64+len("preset."))
	}
}

// Routing is told of what Merge adds, and of nothing that it leaves out.
func TestWhatAPresetAddsIsTold(t *testing.T) {
	both := decide.Added{Parameters: []string{"max_tokens", "temperature"}, InputTokens: 2, OutputTokens: 9}
	for name, c := range map[string]struct {
		call call.Call
		want decide.Added
	}{
		"a conversation":    {call.Call{Surface: catalog.Gemini, Action: call.Generate}, both},
		"a count":           {call.Call{Surface: catalog.Messages, Action: call.Count}, decide.Added{InputTokens: 2}},
		"a form":            {call.Call{Surface: catalog.ImageEdits, Action: call.Generate, Form: "x"}, decide.Added{}},
		"no place for them": {call.Call{Surface: catalog.Rerank, Action: call.Generate}, decide.Added{}},
		"what is there":     {call.Call{Surface: catalog.Videos, Action: call.Delete}, decide.Added{}},
	} {
		require.Equal(t, c.want, translate.Adds(&c.call, terse), name)
	}
}
