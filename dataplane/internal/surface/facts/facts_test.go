package facts_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

var options = facts.Options{MaxFirstByte: 2 * time.Minute}

func read(t *testing.T, body string, header ...string) call.Request {
	t.Helper()
	got, refusal := facts.Read(facts.Chat, []byte(with("messages", "[]", body)), headers(header...), options)
	require.Nil(t, refusal)
	return got
}

// with adds a member to a body that has none of its name.
func with(name, value, body string) string {
	switch {
	case strings.Contains(body, `"`+name+`":`):
		return body
	case body == "{}":
		return `{"` + name + `":` + value + `}`
	}
	return `{"` + name + `":` + value + `,` + body[1:]
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestChatFacts(t *testing.T) {
	got := read(t, `{
		"model":"acme/\u0073mall","models":["a/b","c"],"stream":true,"stream_options":{"include_usage":true},
		"session_id":"s-1","user":"u-1","metadata":{"tier":"gold","n":12345678901234567890,"on":true,"none":null},
		"provider":{"order":["north"]},"routing":{"mode":"price"},
		"max_tokens":10,"max_completion_tokens":20,"temperature":0.5,"seed":null,"x_vendor":{"a":1},
		"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"file","file":{}}]}]}`)
	require.Equal(t, "acme/small", got.Model)
	require.Equal(t, []string{"a/b", "c"}, got.Models)
	require.True(t, got.Stream)
	require.True(t, got.StreamUsage)
	require.Equal(t, "s-1", got.SessionID)
	require.Equal(t, "u-1", got.EndUser)
	require.Equal(t, map[string]any{"tier": "gold", "n": json.Number("12345678901234567890"), "on": true, "none": nil}, got.Metadata)
	require.Equal(t, []string{"north"}, got.Provider.Order)
	require.EqualValues(t, "price", got.Routing.Mode)
	require.EqualValues(t, 20, got.OutputTokens)
	require.Equal(t, []string{"max_completion_tokens", "max_tokens", "temperature", "x_vendor"}, got.Parameters)
	require.Equal(t, []catalog.Modality{catalog.File, catalog.Image}, got.Needs)
}

func TestInputEstimate(t *testing.T) {
	text := read(t, `{"messages":[{"role":"user","content":"`+strings.Repeat("word", 1000)+`"}]}`)
	require.InDelta(t, 1000, text.InputTokens, 20)
	image := read(t, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+strings.Repeat("A", 400_000)+`"}}]}]}`)
	require.InDelta(t, 1000, image.InputTokens, 20, "the encoding of an image is not text")
	named := read(t, `{"messages":[{"role":"user","content":"say \"image_url\""}]}`)
	require.Empty(t, named.Needs)
}

func TestLastOfTwoMembersWins(t *testing.T) {
	require.Equal(t, "b", read(t, `{"model":"a","model":"b"}`).Model)
}

func TestWrongMembersAreNamed(t *testing.T) {
	cases := map[string]struct{ body, path string }{
		"model":            {`{"model":5}`, "model"},
		"long model":       {`{"model":"` + strings.Repeat("m", 257) + `"}`, "model"},
		"models":           {`{"models":"a"}`, "models"},
		"models entry":     {`{"models":["a",7]}`, "models[1]"},
		"models null":      {`{"models":[null]}`, "models[0]"},
		"too many models":  {`{"models":["` + strings.Repeat(`m","`, 25) + `m"]}`, "models"},
		"stream":           {`{"stream":"yes"}`, "stream"},
		"stream options":   {`{"stream_options":[]}`, "stream_options"},
		"include usage":    {`{"stream_options":{"include_usage":1}}`, "stream_options.include_usage"},
		"session":          {`{"session_id":{}}`, "session_id"},
		"user":             {`{"user":1}`, "user"},
		"metadata":         {`{"metadata":"x"}`, "metadata"},
		"nested metadata":  {`{"metadata":{"a":{}}}`, "metadata"},
		"max tokens":       {`{"max_tokens":"9"}`, "max_tokens"},
		"max tokens zero":  {`{"max_tokens":0}`, "max_tokens"},
		"max tokens float": {`{"max_completion_tokens":1.5}`, "max_completion_tokens"},
		"messages":         {`{"messages":{}}`, "messages"},
		"provider":         {`{"provider":{"ony":["a"]}}`, "provider.ony"},
		"routing":          {`{"routing":{"mode":"best"}}`, "routing.mode"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, refusal := facts.Read(facts.Chat, []byte(with("messages", "[]", c.body)), nil, options)
			require.NotNil(t, refusal)
			require.Equal(t, fault.ValidationError, refusal.Code)
			require.Len(t, refusal.Violations, 1)
			require.Equal(t, c.path, refusal.Violations[0].Path)
		})
	}
}

func TestAllWrongMembersAtOnce(t *testing.T) {
	_, refusal := facts.Read(facts.Chat, []byte(`{"model":1,"stream":2}`), headers("x-signalbox-metadata", "[]"), options)
	require.Len(t, refusal.Violations, 4, "the missing messages too")
	_, refusal = facts.Read(facts.Chat, []byte(`{"messages":[]`+strings.Repeat(`,"stream":2`, 10_000)+`}`), nil, options)
	require.Len(t, refusal.Violations, 64, "however often it stands there")
}

func TestInvalidJSONSaysWhere(t *testing.T) {
	_, refusal := facts.Read(facts.Chat, []byte("{\"model\":\n  oops}"), nil, options)
	require.Equal(t, fault.InvalidJSON, refusal.Code)
	require.Contains(t, refusal.Message, "line 2, column 3")
	require.NotContains(t, refusal.Message, "oops")
}

func TestFirstByteIsClamped(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5000": 5 * time.Second, "1": time.Second, "0": time.Second, "999999999": 2 * time.Minute,
		"99999999999999999999999": 2 * time.Minute, "-5": 0, "1.5": 0, "2s": 0, " 5": 0, "+5": 0,
	} {
		require.Equal(t, want, read(t, `{}`, "x-signalbox-timeout-ms", text).FirstByte, text)
	}
	require.Zero(t, read(t, `{}`).FirstByte)
}

func TestHeadersYieldToTheBody(t *testing.T) {
	own := []string{"x-signalbox-session-id", "h", "x-session-id", "h2", "x-signalbox-user-id", "hu", "x-signalbox-metadata", `{"a":1,"b":"h"}`}
	got := read(t, `{}`, own...)
	require.Equal(t, "h", got.SessionID)
	require.Equal(t, "hu", got.EndUser)
	require.Equal(t, map[string]any{"a": json.Number("1"), "b": "h"}, got.Metadata)

	got = read(t, `{"session_id":"s","user":"u","metadata":{"b":"body"}}`, own...)
	require.Equal(t, "s", got.SessionID)
	require.Equal(t, "u", got.EndUser)
	require.Equal(t, map[string]any{"a": json.Number("1"), "b": "body"}, got.Metadata)
	require.Equal(t, "h2", read(t, `{}`, "x-session-id", "h2").SessionID)
}

func TestMetadataLimits(t *testing.T) {
	many := `{"k0":0` + strings.Repeat(",", 0)
	for i := 1; i < 33; i++ {
		many += `,"k` + strings.Repeat("x", i) + `":0`
	}
	for name, text := range map[string]string{
		"not JSON": "{", "array": "[]", "nested": `{"a":[]}`, "too many": many + "}", "too large": `{"a":"` + strings.Repeat("x", 4096) + `"}`,
	} {
		_, refusal := facts.Read(facts.Chat, []byte(`{"messages":[]}`), headers("x-signalbox-metadata", text), options)
		require.NotNil(t, refusal, name)
		require.Equal(t, fault.ValidationError, refusal.Code)
		require.Len(t, refusal.Violations, 1)
	}
}

func TestClientRequestID(t *testing.T) {
	require.Equal(t, "abc 1", facts.ClientRequestID(headers("X-Request-Id", "abc 1")))
	require.Equal(t, strings.Repeat("x", 128), facts.ClientRequestID(headers("X-Request-Id", strings.Repeat("x", 128))))
	require.Empty(t, facts.ClientRequestID(headers("X-Request-Id", strings.Repeat("x", 129))))
	require.Empty(t, facts.ClientRequestID(headers("X-Request-Id", "a\tb")))
	require.Empty(t, facts.ClientRequestID(headers("X-Request-Id", "é")))
}

func BenchmarkChat(b *testing.B) {
	body := []byte(`{"model":"acme/small","messages":[{"role":"user","content":"` + strings.Repeat("x", 200) + `"}],"temperature":0.5,"stream":false}`)
	h := headers("User-Agent", "x", "Content-Type", "application/json")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = facts.Read(facts.Chat, body, h, options)
	}
}

// An agent that is no name is refused: its budget would not be held against the
// request.
func TestTheAgent(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		want   string
		code   string
	}{
		"none":        {nil, "", ""},
		"a name":      {[]string{"support"}, "support", ""},
		"any text":    {[]string{"Ünterstützung 7/a"}, "Ünterstützung 7/a", ""},
		"the longest": {[]string{strings.Repeat("a", 128)}, strings.Repeat("a", 128), ""},
		"longer":      {[]string{strings.Repeat("a", 129)}, "", "too_long"},
		"nothing":     {[]string{""}, "", "out_of_range"},
		"two":         {[]string{"a", "b"}, "", "duplicate"},
		"control":     {[]string{"a\x00b"}, "", "wrong_type"},
		"no UTF-8":    {[]string{"a\xffb"}, "", "wrong_type"},
	} {
		h := http.Header{}
		if c.values != nil {
			h["X-Signalbox-Agent-Id"] = c.values
		}
		got, refusal := facts.Read(facts.Chat, []byte(`{"messages":[]}`), h, options)
		if c.code == "" {
			require.Nil(t, refusal, name)
			require.Equal(t, c.want, got.Agent, name)
			continue
		}
		require.NotNil(t, refusal, name)
		require.Equal(t, "x-signalbox-agent-id", refusal.Violations[0].Path, name)
		require.Equal(t, c.code, refusal.Violations[0].Code, name)
	}
}
