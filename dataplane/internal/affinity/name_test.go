package affinity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity/affinitytest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// read is a call as its surface reads it.
func read(t *testing.T, format facts.Format, body string) *call.Call {
	t.Helper()
	q, refusal := facts.Read(format, []byte(body), nil, facts.Options{})
	require.Nil(t, refusal, body)
	return &call.Call{Surface: catalog.Chat, Workspace: ws, Request: q, Body: []byte(body)}
}

// TestTheTurnsOfAConversationHaveOneName: the first body begins a conversation,
// the others go on with it. Those of different are of others.
func TestTheTurnsOfAConversationHaveOneName(t *testing.T) {
	for name, c := range map[string]struct {
		format          facts.Format
		first           string
		same, different []string
	}{
		"chat": {
			facts.Chat,
			`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`,
			[]string{
				`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"user","content":"v"}],"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"temperature":1}`,
				`{"model":"m","tools":[{"type":"function","function":{"name":"f","cache_control":{}},"cache_control":{}}],"messages":[{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"text":"u","type":"text"}]},{"role":"assistant"}]}`,
			},
			[]string{
				`{"model":"n","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`,
				`{"model":"m","tools":[{"type":"function","function":{"name":"g"}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`,
				`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`,
				`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"system","content":"t"},{"role":"user","content":"u"}]}`,
				`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"v"}]}`,
				`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"s"},{"role":"user","content":"u"}]}`,
				`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"system","content":"su"},{"role":"user","content":""}]}`,
				`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"u"},{"type":"image_url","image_url":{}}]}]}`,
			},
		},
		"responses": {
			facts.Responses, `{"model":"m","instructions":"i","input":"u"}`,
			[]string{
				`{"model":"m","instructions":"i","input":"u","max_output_tokens":5}`,
			},
			[]string{`{"model":"m","instructions":"j","input":"u"}`, `{"model":"m","input":"u"}`, `{"model":"m","instructions":"i","input":"v"}`},
		},
		"responses, items": {
			facts.Responses, `{"model":"m","input":[{"role":"developer","content":"d"},{"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]}]}`,
			[]string{
				`{"model":"m","input":[{"role":"developer","content":"d"},{"id":"msg_1","status":"completed","role":"user","content":"u"},{"type":"reasoning"},{"role":"user","content":"v"}]}`,
			},
			[]string{`{"model":"m","input":[{"role":"user","content":"u"}]}`},
		},
		"responses, kept by the provider": {
			facts.Responses, `{"model":"m","conversation":"conv_1","input":"u"}`,
			[]string{`{"model":"m","conversation":"conv_1","input":"something else"}`},
			[]string{`{"model":"m","conversation":"conv_2","input":"u"}`},
		},
		"messages": {
			facts.Messages, `{"model":"m","max_tokens":5,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"f","input_schema":{}}],"messages":[{"role":"user","content":[{"type":"text","text":"u","cache_control":{"type":"ephemeral"}}]}]}`,
			[]string{
				`{"model":"m","max_tokens":9,"system":"s","tools":[{"name":"f","input_schema":{},"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"user","content":[{"type":"text","text":"v","cache_control":{"type":"ephemeral"}}]}]}`,
			},
			[]string{`{"model":"m","max_tokens":5,"system":"s","tools":[{"name":"f","input_schema":{"x":1}}],"messages":[{"role":"user","content":"u"}]}`},
		},
		"gemini": {
			facts.Gemini, `{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"u"}]}]}`,
			[]string{`{"system_instruction":{"role":"system","parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]},{"parts":[{"text":"v"}]}],"generationConfig":{}}`},
			[]string{`{"systemInstruction":{"parts":[{"text":"t"}]},"contents":[{"parts":[{"text":"u"}]}]}`, `{"contents":[{"parts":[{"text":"u"}]}]}`},
		},
		"completions": {
			facts.Completions, `{"model":"m","prompt":"` + strings.Repeat("p", 5000) + `"}`,
			[]string{`{"model":"m","prompt":"` + strings.Repeat("p", 5000) + ` and more"}`},
			[]string{`{"model":"m","prompt":"` + strings.Repeat("q", 5000) + `"}`, `{"model":"m","prompt":"p"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, affinitytest.NewMemory(start), nowOf(start))
			first := g.find(read(t, c.format, c.first))
			require.Equal(t, decide.FromOpening, first.Source)
			for _, body := range c.same {
				require.Equal(t, first.Name, g.find(read(t, c.format, body)).Name, body)
			}
			for _, body := range c.different {
				require.NotEqual(t, first.Name, g.find(read(t, c.format, body)).Name, body)
			}
			foreign := read(t, c.format, c.first)
			foreign.Workspace = other
			require.NotEqual(t, first.Name, g.find(foreign).Name)
		})
	}
}

func TestWhatAConversationIsRecognizedBy(t *testing.T) {
	const opening = `"messages":[{"role":"user","content":"u"}]`
	for name, c := range map[string]struct {
		body   string
		rules  decide.AffinityRules
		source decide.PinSource
		sure   bool
	}{
		"a session first":       {`{"session_id":"s","prompt_cache_key":"k",` + opening + `}`, all, decide.FromSession, true},
		"then a key":            {`{"prompt_cache_key":"k",` + opening + `}`, all, decide.FromCacheKey, true},
		"then the opening":      {`{` + opening + `}`, all, decide.FromOpening, false},
		"marked":                {`{"cache_control":{},` + opening + `}`, all, decide.FromOpening, true},
		"no session":            {`{"session_id":"s","prompt_cache_key":"k",` + opening + `}`, decide.AffinityRules{CacheAware: true}, decide.FromCacheKey, true},
		"no session and no key": {`{"session_id":"s",` + opening + `}`, decide.AffinityRules{CacheAware: true}, decide.FromOpening, false},
		"nothing":               {`{"session_id":"s","prompt_cache_key":"k",` + opening + `}`, decide.AffinityRules{Session: true}, "", false},
	} {
		g := newGateway(t, affinitytest.NewMemory(start), nowOf(start))
		found := g.Find(t.Context(), read(t, facts.Chat, c.body), c.rules)
		require.Equal(t, c.source, found.Source, name)
		require.Equal(t, c.sure, found.Sure, name)
	}
}

// What comes after the bound tells nothing apart, since nobody reads that far:
// not even that it is no JSON. Before it everything does, and what is left out
// of the name does not move the bound.
func TestALongOpeningIsReadAsFarAsItIsHashed(t *testing.T) {
	const bound = 256 << 10
	g := newGateway(t, affinitytest.NewMemory(start), nowOf(start))
	name := func(turns string) [16]byte {
		c := turnOf("")
		c.Request.Caching.Opening = call.Opening{Turns: []byte(turns)}
		return g.find(c).Name
	}
	long := strings.Repeat("x", bound)
	said := func(text string) string { return `[{"role":"user","content":"` + text + `"}]` }
	first := name(said(long))
	require.Equal(t, first, name(said(long+long+"y")), "it goes on")
	require.Equal(t, first, name(`[{"role":"user","content":"`+long+long+"\x00 no JSON"), "nobody reads it")
	require.NotEqual(t, first, name(said("y"+long)))
	require.NotEqual(t, first, name(said(long[:bound-1000]+"y"+long)), "just before the bound")
	marked := `[{"role":"user","content":[{"type":"text","cache_control":{"type":"ephemeral"},"text":"` + long + `"}]},{"role":"assistant"}]`
	require.Equal(t, first, name(marked), "a mark that comes and goes")
	// What is passed over has a bound of its own.
	passing := func(text string) string {
		return `[{"role":"user","content":[{"cache_control":"` + strings.Repeat("c", bound+64<<10) + `","text":"` + text + `"}]}]`
	}
	require.Equal(t, name(passing("one")), name(passing("two")))
	// A list of many parts ends at the bound too.
	parts := func(n int) string {
		return `[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"`+strings.Repeat("p", 1000)+`"},`, n) + `{"type":"text","text":"end"}]}]`
	}
	require.Equal(t, name(parts(300)), name(parts(301)))
	require.NotEqual(t, name(parts(200)), name(parts(201)))
	// So do tools, which come before the turns.
	c := turnOf("")
	c.Request.Caching.Opening = call.Opening{Tools: []byte(`[{"name":"` + long + `"}]`), Turns: []byte(said("one"))}
	one := g.find(c).Name
	c.Request.Caching.Opening.Turns = []byte(said("two"))
	require.Equal(t, one, g.find(c).Name)
}

// A session id that is written like another's key, or the other way round, is
// another conversation; so is the same under another secret.
func TestNamesTellNothing(t *testing.T) {
	g := newGateway(t, affinitytest.NewMemory(start), nowOf(start))
	seen := map[[16]byte]string{}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(1, 40, 200).Draw(rt, "text")
		session := turnOf(text)
		key := turnOf("")
		key.Request.Caching.Key = text
		for source, c := range map[string]*call.Call{"session ": session, "key ": key} {
			found := g.find(c)
			before, taken := seen[found.Name]
			require.True(rt, !taken || before == source+text)
			seen[found.Name] = source + text
			require.Len(rt, found.Hint.String(), 32)
			require.NotEqual(rt, found.Name[:], found.Hint[:])
		}
	})
	one, two := g.find(turnOf("s")), newGateway(t, affinitytest.NewMemory(start), nowOf(start)).find(turnOf("s"))
	require.Equal(t, one.Name, two.Name, "the same on every gateway")
	require.Equal(t, one.Hint, two.Hint)
}

func TestParseName(t *testing.T) {
	n := affinity.Name{Workspace: ws, Digest: [16]byte{1, 2, 255}}
	got, ok := affinity.ParseName(n.String())
	require.True(t, ok)
	require.Equal(t, n, got)
	for _, key := range []string{"", ".", ws.String(), ws.String() + ".", ws.String() + ".0102", "x." + strings.Repeat("0", 32), n.String() + "0", strings.ToUpper(n.String()), ws.String() + "." + strings.Repeat("g", 32)} {
		_, ok := affinity.ParseName(key)
		require.False(t, ok, key)
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "key")
		if got, ok := affinity.ParseName(text); ok {
			require.Equal(rt, text, got.String())
		}
	})
}

// Bodies that are barely JSON of their format are hashed without a fault.
func FuzzOpening(f *testing.F) {
	for _, body := range []string{`{"messages":[1,"x",{"role":1}],"tools":[2,[]]}`, `{"messages":[{"role":"user","content":{}}]}`, `{"messages":[{"content":[[],{"text":1}]}]}`} {
		f.Add(body)
	}
	g := affinity.New(affinity.Options{Store: affinitytest.NewMemory(start), Now: nowOf(start)}, noRegistry{})
	f.Fuzz(func(t *testing.T, body string) {
		q, refusal := facts.Read(facts.Chat, []byte(body), nil, facts.Options{})
		if refusal != nil {
			return
		}
		c := &call.Call{Workspace: id.Workspace(ws), Request: q}
		once, again := g.Find(t.Context(), c, all).Name, g.Find(t.Context(), c, all).Name
		require.Equal(t, once, again)
	})
}
