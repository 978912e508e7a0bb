package gemini_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

// Every member that is wrong is named by its path, and all of them at once.
func TestViolations(t *testing.T) {
	user := func(parts string) string { return `{"contents":[{"role":"user","parts":[` + parts + `]}]}` }
	config := func(members string) string {
		return `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{` + members + `}}`
	}
	with := func(members string) string { return `{"contents":[{"parts":[{"text":"x"}]}],` + members + `}` }
	for body, want := range map[string]string{
		`[]`:                                  " wrong_type",
		`"x"`:                                 " wrong_type",
		`{}`:                                  "contents required",
		`{"contents":[]}`:                     "contents required",
		`{"contents":null}`:                   "contents required",
		`{"contents":"x"}`:                    "contents wrong_type",
		`{"contents":[1,null]}`:               "contents.0 wrong_type, contents.1 wrong_type",
		`{"contents":[{"role":"assistant"}]}`: "contents.0.role out_of_range",
		`{"contents":[{"role":1,"parts":[{"text":"x"}]}]}`:               "contents.0.role wrong_type",
		`{"contents":[{"role":"user"}]}`:                                 "contents.0.parts required",
		`{"contents":[{"parts":[{"text":"x"}]},{"parts":[{"text":5}]}]}`: "contents.1.parts.0.text wrong_type",
		user(`"x",{}`):                       "contents.0.parts.0 wrong_type, contents.0.parts.1 required",
		user(`{"videoMetadata":{}}`):         "contents.0.parts.0 required",
		user(`{"text":"x","inlineData":{}}`): "contents.0.parts.0 out_of_range",
		user(`{"inlineData":5}`):             "contents.0.parts.0.inlineData wrong_type",
		user(`{"inlineData":{}}`):            "contents.0.parts.0.inlineData.mimeType required, contents.0.parts.0.inlineData.data required",
		user(`{"inline_data":{"mime_type":"image/png","data":"a b"}}`):        "contents.0.parts.0.inlineData.data malformed",
		user(`{"inlineData":{"mimeType":"image/png","data":"abcde"}}`):        "contents.0.parts.0.inlineData.data malformed",
		user(`{"fileData":{"mimeType":"image/png"}}`):                         "contents.0.parts.0.fileData.fileUri required",
		user(`{"functionCall":{"args":[]}}`):                                  "contents.0.parts.0.functionCall.name required, contents.0.parts.0.functionCall.args wrong_type",
		user(`{"functionResponse":{"response":"x","parts":[{}]}}`):            "contents.0.parts.0.functionResponse.name required, contents.0.parts.0.functionResponse.response wrong_type, contents.0.parts.0.functionResponse.parts.0 required",
		user(`{"text":"x","thoughtSignature":5}`):                             "contents.0.parts.0.thoughtSignature wrong_type",
		user(`{"text":"x"},{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB"}}`):    "contents.0.parts.1.toolCall not_supported, contents.0.parts.1 required",
		with(`"systemInstruction":"x"`):                                       "systemInstruction wrong_type",
		with(`"systemInstruction":{"parts":[{"functionCall":{"name":"f"}}]}`): "systemInstruction.parts.0 not_supported",
		with(`"tools":5`): "tools wrong_type",
		with(`"tools":[{"functionDeclarations":[{"description":5,"parameters":[]}]}]`): "tools.0.functionDeclarations.0.description wrong_type, tools.0.functionDeclarations.0.parameters wrong_type, tools.0.functionDeclarations.0.name required",
		with(`"tools":[{"functionDeclarations":[null]}]`):                              "tools.0.functionDeclarations.0 wrong_type",
		with(`"toolConfig":[]`): "toolConfig wrong_type",
		with(`"toolConfig":{"functionCallingConfig":{"mode":"auto"}}`):                                  "toolConfig.functionCallingConfig.mode out_of_range",
		with(`"tool_config":{"function_calling_config":{"allowed_function_names":[1]}}`):                "toolConfig.functionCallingConfig.allowedFunctionNames.0 wrong_type",
		config(`"temperature":"hot","topP":true,"topK":"1e","seed":[]`):                                 "generationConfig.temperature wrong_type, generationConfig.topP wrong_type, generationConfig.topK wrong_type, generationConfig.seed wrong_type",
		config(`"maxOutputTokens":-1,"candidateCount":1.5`):                                             "generationConfig.maxOutputTokens out_of_range, generationConfig.candidateCount wrong_type",
		config(`"stopSequences":["a",null]`):                                                            "generationConfig.stopSequences.1 wrong_type",
		config(`"responseLogprobs":1`):                                                                  "generationConfig.responseLogprobs wrong_type",
		config(`"responseMimeType":"text/html"`):                                                        "generationConfig.responseMimeType out_of_range",
		config(`"responseSchema":"x"`):                                                                  "generationConfig.responseSchema wrong_type",
		config(`"thinkingConfig":{"thinkingLevel":"MORE","thinkingBudget":-2,"includeThoughts":"yes"}`): "generationConfig.thinkingConfig.thinkingLevel out_of_range, generationConfig.thinkingConfig.thinkingBudget out_of_range, generationConfig.thinkingConfig.includeThoughts wrong_type",
	} {
		_, violations := gemini.New().DecodeRequest([]byte(body))
		var got []string
		for _, v := range violations {
			require.NotEmpty(t, v.Message, body)
			got = append(got, v.Path+" "+v.Code)
		}
		require.Equal(t, want, strings.Join(got, ", "), body)
	}
}

// A number may come in quotes, a whole one with a point, and white space
// stands anywhere.
func TestLenient(t *testing.T) {
	r, violations := gemini.New().DecodeRequest([]byte(" {\n\"contents\" : [ { \"parts\" : [ { \"text\" : \"x\" } ] } ] , \"generationConfig\" : { \"topK\" : \"40\" , \"maxOutputTokens\" : 1e2 , \"candidateCount\":null } } "))
	require.Empty(t, violations)
	require.EqualValues(t, "40", r.TopK)
	require.EqualValues(t, 100, r.MaxTokens)
}
