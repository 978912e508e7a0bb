package facts_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// least are the smallest bodies that each JSON format takes.
var least = map[string]struct {
	format facts.Format
	body   string
}{
	"chat":           {facts.Chat, `{"messages":[]}`},
	"responses":      {facts.Responses, `{"input":"hi"}`},
	"messages":       {facts.Messages, `{"messages":[],"max_tokens":1}`},
	"messages count": {facts.MessagesCount, `{"messages":[]}`},
	"gemini":         {facts.Gemini, `{"contents":[]}`},
	"gemini count":   {facts.GeminiCount, `{"generateContentRequest":{"contents":[]}}`},
	"completions":    {facts.Completions, `{"prompt":"hi"}`},
	"embeddings":     {facts.Embeddings, `{"input":"hi"}`},
	"moderations":    {facts.Moderations, `{"input":"hi"}`},
	"rerank":         {facts.Rerank, `{"query":"hi","documents":[]}`},
	"images":         {facts.Images, `{"prompt":"hi"}`},
	"speech":         {facts.Speech, `{"input":"hi","voice":"v"}`},
	"ocr":            {facts.OCR, `{"document":{}}`},
	"parse":          {facts.Parse, `{"url":"https://x.example"}`},
	"decisions":      {facts.Decisions, `{}`},
}

func parse(t *testing.T, f facts.Format, body string, o facts.Options) call.Request {
	t.Helper()
	got, refusal := facts.Read(f, []byte(body), nil, o)
	require.Nil(t, refusal)
	return got
}

// What the gateway reads in every format, it must read alike.
func TestOwnMembersInEveryFormat(t *testing.T) {
	for name, c := range least {
		t.Run(name, func(t *testing.T) {
			parse(t, c.format, c.body, options)
			own := strings.TrimSuffix(c.body, "}")
			if own != "{" {
				own += ","
			}
			got := parse(t, c.format, own+`"models":["a/b"],"session_id":"s","metadata":{"tier":"gold"},"provider":{"only":["north"]},
				"routing":{"mode":"price"},"x_vendor":1,"preset":"p"}`, facts.Options{Model: "acme/small"})
			require.Equal(t, []string{"a/b"}, got.Models)
			require.Equal(t, "s", got.SessionID)
			require.Equal(t, map[string]any{"tier": "gold"}, got.Metadata)
			require.Equal(t, []string{"north"}, got.Provider.Only)
			require.EqualValues(t, "price", got.Routing.Mode)
			require.Contains(t, got.Parameters, "x_vendor")
			require.NotContains(t, got.Parameters, "preset")
			require.Equal(t, "acme/small", got.Model, "as the path says, when the body says nothing")
			for member, wrong := range map[string]string{
				"models": `7`, "session_id": `[]`, "metadata": `"x"`, "provider": `[]`, "routing": `"fast"`, "preset": `{}`, "provider_options": `[]`,
			} {
				_, refusal := facts.Read(c.format, []byte(own+`"`+member+`":`+wrong+`}`), nil, options)
				require.NotNil(t, refusal, member)
				require.Len(t, refusal.Violations, 1, member)
				require.Equal(t, member, refusal.Violations[0].Path)
			}
			for member, wrong := range map[string]string{
				"Provider": `{"zdr":true}`, "PROVIDER": `null`, "Routing": `{}`, "MODELS": `[]`, "Session_id": `"s"`, "Preset": `"p"`, "Provider_Options": `{}`,
			} {
				_, refusal := facts.Read(c.format, []byte(own+`"`+member+`":`+wrong+`}`), nil, options)
				require.NotNil(t, refusal, member)
				require.Equal(t, []fault.Violation{{Path: member, Code: "unknown_field", Message: "is not a known field; write " + strings.ToLower(member)}}, refusal.Violations)
			}
			for member, twice := range map[string]string{
				"provider": `{"only":["a"]},"provider":{}`, "routing": `null,"routing":{}`, "models": `["a/b"],"models":["c/d"]`, "session_id": `"s","session_id":"t"`,
				"preset": `"p","preset":"q"`, "provider_options": `{"north":{},"n\u006frth":{}}`,
			} {
				_, refusal := facts.Read(c.format, []byte(own+`"`+member+`":`+twice+`}`), nil, options)
				require.NotNil(t, refusal, member)
				require.Len(t, refusal.Violations, 1)
				require.Equal(t, member, refusal.Violations[0].Path)
				require.Equal(t, "duplicate", refusal.Violations[0].Code)
			}
		})
	}
}

func TestRequiredMembers(t *testing.T) {
	for name, c := range least {
		_, refusal := facts.Read(c.format, []byte(`{}`), nil, options)
		if name == "decisions" {
			require.Nil(t, refusal)
			continue
		}
		require.NotNil(t, refusal, name)
		require.Equal(t, fault.ValidationError, refusal.Code)
		require.Contains(t, refusal.Violations[0].Message, "is required and must be", name)
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(c.body), &members))
		nulls := c.body
		for _, value := range members {
			nulls = strings.Replace(nulls, ":"+string(value), ":null", 1)
		}
		_, asNull := facts.Read(c.format, []byte(nulls), nil, options)
		require.NotNil(t, asNull, name)
		require.Equal(t, refusal.Violations, asNull.Violations, "null says no more than nothing")
	}
}

func TestWrongMembersOfEveryFormat(t *testing.T) {
	for name, c := range map[string]struct {
		format facts.Format
		body   string
		path   string
	}{
		"messages":             {facts.Messages, `{"messages":{},"max_tokens":1}`, "messages"},
		"messages system":      {facts.Messages, `{"messages":[],"max_tokens":1,"system":5}`, "system"},
		"messages tools":       {facts.Messages, `{"messages":[],"max_tokens":1,"tools":{}}`, "tools"},
		"messages max":         {facts.Messages, `{"messages":[],"max_tokens":"1"}`, "max_tokens"},
		"messages max zero":    {facts.Messages, `{"messages":[],"max_tokens":0}`, "max_tokens"},
		"messages user":        {facts.Messages, `{"messages":[],"max_tokens":1,"metadata":{"user_id":5}}`, "metadata.user_id"},
		"messages stream":      {facts.Messages, `{"messages":[],"max_tokens":1,"stream":"true"}`, "stream"},
		"messages model":       {facts.Messages, `{"messages":[],"max_tokens":1,"model":[]}`, "model"},
		"responses input":      {facts.Responses, `{"input":7}`, "input"},
		"responses text":       {facts.Responses, `{"input":"","text":[]}`, "text"},
		"responses tools":      {facts.Responses, `{"input":"","tools":"x"}`, "tools"},
		"responses max":        {facts.Responses, `{"input":"","max_output_tokens":0}`, "max_output_tokens"},
		"responses user":       {facts.Responses, `{"input":"","user":{}}`, "user"},
		"responses identifier": {facts.Responses, `{"input":"","safety_identifier":1}`, "safety_identifier"},
		"responses words":      {facts.Responses, `{"input":"","instructions":{}}`, "instructions"},
		"responses options":    {facts.Responses, `{"input":"","stream_options":1}`, "stream_options"},
		"gemini contents":      {facts.Gemini, `{"contents":{}}`, "contents"},
		"gemini system":        {facts.Gemini, `{"contents":[],"systemInstruction":"x"}`, "systemInstruction"},
		"gemini config":        {facts.Gemini, `{"contents":[],"generation_config":[]}`, "generation_config"},
		"gemini max":           {facts.Gemini, `{"contents":[],"generationConfig":{"maxOutputTokens":"9"}}`, "generationConfig.maxOutputTokens"},
		"gemini tools":         {facts.Gemini, `{"contents":[],"tools":{}}`, "tools"},
		"gemini model":         {facts.Gemini, `{"contents":[],"model":1}`, "model"},
		"gemini count":         {facts.GeminiCount, `{"generateContentRequest":[]}`, "generateContentRequest"},
		"completions":          {facts.Completions, `{"prompt":{}}`, "prompt"},
		"completions max":      {facts.Completions, `{"prompt":"","max_tokens":1.5}`, "max_tokens"},
		"completions options":  {facts.Completions, `{"prompt":"","stream_options":{"include_usage":1}}`, "stream_options.include_usage"},
		"embeddings":           {facts.Embeddings, `{"input":{}}`, "input"},
		"moderations":          {facts.Moderations, `{"input":true}`, "input"},
		"rerank query":         {facts.Rerank, `{"query":[],"documents":[]}`, "query"},
		"rerank documents":     {facts.Rerank, `{"query":"","documents":"x"}`, "documents"},
		"images":               {facts.Images, `{"prompt":["x"]}`, "prompt"},
		"speech input":         {facts.Speech, `{"input":[],"voice":"v"}`, "input"},
		"speech voice":         {facts.Speech, `{"input":"","voice":5}`, "voice"},
		"speech format":        {facts.Speech, `{"input":"","voice":"v","stream_format":"events"}`, "stream_format"},
		"ocr":                  {facts.OCR, `{"document":"x"}`, "document"},
	} {
		t.Run(name, func(t *testing.T) {
			_, refusal := facts.Read(c.format, []byte(c.body), nil, options)
			require.NotNil(t, refusal)
			require.Len(t, refusal.Violations, 1)
			require.Equal(t, c.path, refusal.Violations[0].Path)
			require.Contains(t, refusal.Violations[0].Message, "must")
		})
	}
}

func TestResponsesFacts(t *testing.T) {
	got := parse(t, facts.Responses, `{"model":"m","stream":true,"instructions":"Be brief.","max_output_tokens":9,"safety_identifier":"u",
		"text":{"format":{"type":"json_schema","schema":{}},"verbosity":"low"},"reasoning":{"effort":"low"},"tools":[{"type":"function"}],
		"input":[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,`+strings.Repeat("A", 40_000)+`"}]},
		{"type":"function_call_output","call_id":"c","output":[{"type":"input_file","file_data":"x"}]}]}`, options)
	require.Equal(t, "m", got.Model)
	require.True(t, got.Stream)
	require.EqualValues(t, 9, got.OutputTokens)
	require.Equal(t, "u", got.EndUser)
	require.Equal(t, []string{"max_tokens", "reasoning", "response_format", "tools", "verbosity"}, got.Parameters)
	require.Equal(t, []catalog.Modality{catalog.File, catalog.Image}, got.Needs)
	require.InDelta(t, 2060, got.InputTokens, 60)
	require.Empty(t, parse(t, facts.Responses, `{"input":"","text":{"format":{"type":"text"}}}`, options).Parameters)
	require.Equal(t, "b", parse(t, facts.Responses, `{"previous_response_id":"r","user":"b","safety_identifier":"a"}`, options).EndUser)
}

func TestMessagesFacts(t *testing.T) {
	got := parse(t, facts.Messages, `{"model":"m","system":[{"type":"text","text":"Be brief."}],"max_tokens":7,"stop_sequences":["x"],"thinking":{"type":"adaptive"},
		"metadata":{"user_id":"u-1"},"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","data":"`+strings.Repeat("A", 40_000)+`"}}]},
		{"type":"document","source":{}}]}]}`, options)
	require.EqualValues(t, 7, got.OutputTokens)
	require.Equal(t, "u-1", got.EndUser)
	require.Empty(t, got.SessionID)
	require.Equal(t, map[string]any{"user_id": "u-1"}, got.Metadata)
	require.Equal(t, []string{"max_tokens", "reasoning", "stop"}, got.Parameters)
	require.Equal(t, []catalog.Modality{catalog.File, catalog.Image}, got.Needs)
	require.InDelta(t, 2060, got.InputTokens, 60)
}

func TestConversationInTheUserID(t *testing.T) {
	const session = "0f9a5f0e-7c1e-4c5b-9f6b-2b7f8e6f3a11"
	ask := func(id string, header ...string) call.Request {
		text, err := json.Marshal(id)
		require.NoError(t, err)
		got, refusal := facts.Read(facts.Messages, []byte(`{"messages":[],"max_tokens":1,"metadata":{"user_id":`+string(text)+`}}`), headers(header...), options)
		require.Nil(t, refusal)
		return got
	}
	for name, c := range map[string]struct{ id, user, session string }{
		"Claude Code":        {"user_abc_account_d_session_" + session, "user_abc_account_d", session},
		"without an account": {"user_abc_account__session_" + session, "user_abc_account_", session},
		"as an object":       {`{"device_id":"d","account_uuid":"","session_id":"` + session + `"}`, "d", session},
		"object and account": {`{"device_id":"d","account_uuid":"a","session_id":"` + session + `"}`, "a", session},
		"no uuid":            {"user_session_5", "user_session_5", ""},
		"no user":            {"_session_" + session, "_session_" + session, ""},
		"another object":     {`{"a":1}`, `{"a":1}`, ""},
		"broken object":      {`{"a":`, `{"a":`, ""},
	} {
		got := ask(c.id)
		require.Equal(t, c.user, got.EndUser, name)
		require.Equal(t, c.session, got.SessionID, name)
	}
	require.Equal(t, "h", ask("user_a_account_b_session_"+session, "x-session-id", "h").SessionID, "what was said wins over what was recognized")
}

func TestGeminiFacts(t *testing.T) {
	got := parse(t, facts.Gemini, `{"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"`+strings.Repeat("A", 40_000)+`"}},
		{"file_data":{"mime_type":"application/pdf","file_uri":"x"}},{"inline_data":{"mime_type":"AUDIO/wav","data":"x"}},{"fileData":{"mimeType":"video/mp4"}}]}],
		"system_instruction":{"parts":[{"text":"Be brief."}]},"generationConfig":{"maxOutputTokens":5,"topK":4,"responseMimeType":"application/json","seed":1},
		"tools":[{}],"safetySettings":[]}`, facts.Options{Model: "acme/small", Stream: true})
	require.Equal(t, "acme/small", got.Model)
	require.True(t, got.Stream)
	require.EqualValues(t, 5, got.OutputTokens)
	require.Equal(t, []string{"max_tokens", "response_format", "safetySettings", "seed", "tools", "top_k"}, got.Parameters)
	require.Equal(t, []catalog.Modality{catalog.Audio, catalog.File, catalog.Image, catalog.Video}, got.Needs)
	require.InDelta(t, 4060, got.InputTokens, 60)
	require.False(t, parse(t, facts.Gemini, `{"contents":[],"stream":true}`, options).Stream, "the path says whether it streams")
	_, refusal := facts.Read(facts.Gemini, []byte(`{"contents":[]}`), nil, facts.Options{Model: strings.Repeat("m", 257)})
	require.Equal(t, "model", refusal.Violations[0].Path)
}

func TestTextInTokens(t *testing.T) {
	for body, want := range map[string]int64{
		`{"input":"` + strings.Repeat("word", 1000) + `"}`:                                          1000,
		`{"input":["` + strings.Repeat("word", 1000) + `"]}`:                                        1000,
		`{"input":[1` + strings.Repeat(",12345", 999) + `]}`:                                        1000,
		`{"input":[[1` + strings.Repeat(",12345", 499) + `],[1` + strings.Repeat(",2", 499) + `]]}`: 1000,
	} {
		require.InDelta(t, want, parse(t, facts.Embeddings, body, options).InputTokens, 2)
		require.InDelta(t, want, parse(t, facts.Completions, strings.Replace(body, "input", "prompt", 1), options).InputTokens, 2)
	}
	require.Equal(t, []catalog.Modality{catalog.Image}, parse(t, facts.Moderations, `{"input":[{"type":"image_url","image_url":{}}]}`, options).Needs)
}

func TestSpeechStreams(t *testing.T) {
	for format, want := range map[string]bool{`"sse"`: true, `"audio"`: false, `null`: false} {
		got := parse(t, facts.Speech, `{"input":"hi","voice":{"id":"v"},"stream":true,"stream_format":`+format+`}`, options)
		require.Equal(t, want, got.Stream, format)
	}
}

// form writes a form of fields, name by value; a name that begins with @ is a
// file.
func form(t testing.TB, fields ...string) ([]byte, string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for i := 0; i+1 < len(fields); i += 2 {
		if name, ok := strings.CutPrefix(fields[i], "@"); ok {
			part, err := w.CreateFormFile(name, "f.bin")
			require.NoError(t, err)
			_, err = part.Write([]byte(fields[i+1]))
			require.NoError(t, err)
			continue
		}
		require.NoError(t, w.WriteField(fields[i], fields[i+1]))
	}
	require.NoError(t, w.Close())
	return buf.Bytes(), w.Boundary()
}

func readForm(t testing.TB, f facts.Format, fields ...string) (call.Request, *fault.Error) {
	t.Helper()
	body, boundary := form(t, fields...)
	return facts.ReadForm(f, body, boundary, nil, options)
}

func TestFormFacts(t *testing.T) {
	for name, order := range map[string][]string{
		"model first": {"model", "whisper", "@file", "RIFF\xff"},
		"model last":  {"@file", "RIFF\xff", "model", "whisper"},
	} {
		got, refusal := readForm(t, facts.Transcriptions, append(order, "stream", "True", "response_format", "srt", "temperature", "0",
			"timestamp_granularities[]", "word", "timestamp_granularities[]", "segment", "session_id", "s", "user", "u",
			"metadata[tier]", "gold", "provider", `{"only":["north"]}`, "routing", `{"mode":"price"}`, "models", `["a/b"]`, "models[]", "c", "models", "d")...)
		require.Nil(t, refusal, name)
		require.Equal(t, "whisper", got.Model)
		require.Equal(t, []string{"a/b", "c", "d"}, got.Models)
		require.True(t, got.Stream)
		require.Equal(t, "s", got.SessionID)
		require.Equal(t, "u", got.EndUser)
		require.Equal(t, map[string]any{"tier": "gold"}, got.Metadata)
		require.Equal(t, []string{"north"}, got.Provider.Only)
		require.EqualValues(t, "price", got.Routing.Mode)
		require.Equal(t, []catalog.Modality{catalog.Audio}, got.Needs)
		require.Equal(t, []string{"response_format", "temperature", "timestamp_granularities"}, got.Parameters)
	}
	got, refusal := readForm(t, facts.ImageEdits, "@image[]", "a", "@image[]", "b", "@mask", "c", "prompt", strings.Repeat("word", 10))
	require.Nil(t, refusal)
	require.EqualValues(t, 3010, got.InputTokens)
	require.Equal(t, []catalog.Modality{catalog.Image}, got.Needs)
	for _, f := range []facts.Format{facts.OCR, facts.Parse, facts.Decisions} {
		_, refusal = readForm(t, f, "@file", "x", "model", "m", "metadata", `{"a":1}`)
		require.Nil(t, refusal)
	}
}

func TestWrongFields(t *testing.T) {
	many := make([]string, 0, 60)
	for range 26 {
		many = append(many, "models", "m")
	}
	for name, c := range map[string]struct {
		fields []string
		path   string
	}{
		"no file":             {nil, "file"},
		"file as text":        {[]string{"file", "x"}, "file"},
		"model as a file":     {[]string{"@file", "x", "@model", "m"}, "model"},
		"model twice":         {[]string{"@file", "x", "model", "a", "model", "b"}, "model"},
		"model as a list":     {[]string{"@file", "x", "model[]", "a"}, "model"},
		"long model":          {[]string{"@file", "x", "model", strings.Repeat("m", 257)}, "model"},
		"models not closed":   {[]string{"@file", "x", "models", `["a"`}, "models"},
		"models and more":     {[]string{"@file", "x", "models", `["a"] "b"`}, "models"},
		"models deep":         {[]string{"@file", "x", "models", strings.Repeat("[", 100_000)}, "models"},
		"models not strings":  {[]string{"@file", "x", "models", `[7]`}, "models[0]"},
		"models as object":    {[]string{"@file", "x", "models[a]", "m"}, "models"},
		"models as a file":    {[]string{"@file", "x", "@models", "m"}, "models"},
		"too many models":     {append([]string{"@file", "x"}, many...), "models"},
		"stream":              {[]string{"@file", "x", "stream", "yes"}, "stream"},
		"stream twice":        {[]string{"@file", "x", "stream", "true", "stream", "false"}, "stream"},
		"provider":            {[]string{"@file", "x", "provider", "north"}, "provider"},
		"provider member":     {[]string{"@file", "x", "provider[only][]", "north"}, "provider"},
		"restriction lifted":  {[]string{"@file", "x", "provider", `{"only":["a"],"only":[]}`}, "provider.only"},
		"Provider":            {[]string{"@file", "x", "Provider", `{"zdr":true}`}, "Provider"},
		"Provider's member":   {[]string{"@file", "x", "Provider[zdr]", "true"}, "Provider"},
		"provider misspelled": {[]string{"@file", "x", "provider", `{"ony":[]}`}, "provider.ony"},
		"metadata":            {[]string{"@file", "x", "metadata", `[]`}, "metadata"},
		"nested metadata":     {[]string{"@file", "x", "metadata[a][b]", `1`}, "metadata"},
		"format twice":        {[]string{"@file", "x", "response_format", "srt", "response_format", "json"}, "response_format"},
	} {
		t.Run(name, func(t *testing.T) {
			_, refusal := readForm(t, facts.Transcriptions, c.fields...)
			require.NotNil(t, refusal)
			require.Len(t, refusal.Violations, 1, refusal.Error())
			require.Equal(t, c.path, refusal.Violations[0].Path)
		})
	}
	_, refusal := facts.ReadForm(facts.Transcriptions, []byte("--x\r\n"), "x", nil, options)
	require.Equal(t, fault.ValidationError, refusal.Code)
	require.Contains(t, refusal.Message, "multipart/form-data")
}

// Members that nest again and again must not cost more than their bytes.
func BenchmarkNestedMedia(b *testing.B) {
	deep := `{"type":"image_url","content":` + strings.Repeat(`[{"content":`, 100) + "1" + strings.Repeat("}]", 100) + "}"
	body := []byte(`{"messages":[` + deep + strings.Repeat(","+deep, 1000) + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		_, _ = facts.Read(facts.Chat, body, nil, options)
	}
}
