package classifier_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/classifier"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

var at = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// preferences are those of a provider object, which a child does not take over.
var preferences = []string{"Order", "AllowFallbacks", "Sort", "RequireParameters", "PreferredMaxLatency", "PreferredMinThroughput", "CacheAware"}

// The request to the classifier carries every restriction of the one that it is
// about, and no preference, id, header or parameter of it.
func TestAskCarriesTheRestrictions(t *testing.T) {
	k := classifier.New(classifier.Options{IDs: id.SystemSource()})
	primary := call.Call{
		ID: id.New[id.RequestKind](id.SystemSource()), Surface: catalog.Messages, Header: map[string][]string{"X-Secret": {"canary"}},
		Workspace: id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001"),
		Request: call.Request{
			Model: "signalbox/auto", Provider: fill.Value[decide.Preferences](1), SessionID: "s", EndUser: "u", ClientRequestID: "c", Stream: true,
			Parameters: []string{"tools"}, Needs: []catalog.Modality{catalog.Image}, Metadata: map[string]any{"a": 1},
		},
	}
	text := classify.Text{Last: `"}], "model": "other", "messages": [{`, Turns: 1, Tools: true}
	child := k.Ask(&primary, &text, "acme/judge", at)
	require.Equal(t, primary.ID, child.Primary)
	require.NotEqual(t, primary.ID, child.ID)
	require.Equal(t, classifier.Purpose, child.Purpose)
	require.Equal(t, catalog.Chat, child.Surface)
	require.Equal(t, primary.Workspace, child.Workspace)
	require.Equal(t, "u", child.Request.EndUser)
	require.Empty(t, child.Header)
	require.Empty(t, child.Request.SessionID+child.Request.ClientRequestID)
	require.Empty(t, child.Request.Needs)
	require.False(t, child.Request.Stream)

	given, carried := reflect.ValueOf(primary.Request.Provider), reflect.ValueOf(child.Request.Provider)
	for f := range given.Type().Fields() {
		isPreference := false
		for _, name := range preferences {
			isPreference = isPreference || name == f.Name
		}
		if isPreference {
			require.True(t, carried.FieldByIndex(f.Index).IsZero(), f.Name)
			continue
		}
		require.Equal(t, given.FieldByIndex(f.Index).Interface(), carried.FieldByIndex(f.Index).Interface(), "%s is a restriction", f.Name)
	}

	body := gjson.ParseBytes(child.Body)
	require.Equal(t, "acme/judge", body.Get("model").Str)
	require.Len(t, body.Get("messages").Array(), 2, "the text stays one string in one message")
	require.Equal(t, text.Last, gjson.Get(body.Get("messages.1.content").Str, "last_user_turn").Str)
	require.Less(t, len(child.Body), 32<<10)
}

func TestTheQuestionIsBounded(t *testing.T) {
	k := classifier.New(classifier.Options{IDs: id.SystemSource()})
	long := strings.Repeat("\x01", classify.MaxTurn) // six bytes each in JSON, and more within a string
	child := k.Ask(&call.Call{}, &classify.Text{System: long[:classify.MaxSystem], First: long[:classify.MaxFirst], Last: long}, "m", at)
	require.Less(t, len(child.Body), 128<<10)
}

func TestWhichModelIsAsked(t *testing.T) {
	v, err := catalog.Compile(catalog.Catalog{Schema: catalog.Schema, Revision: 1})
	require.NoError(t, err)
	pin := call.Pinned{Catalog: v}
	for model, want := range map[string]struct {
		name string
		why  decide.LocalReason
	}{
		"":               {"", decide.LocalNoModel},
		classifier.Off:   {"", decide.LocalConfigured},
		"north:acme/any": {"north:acme/any", ""},
	} {
		name, why := classifier.New(classifier.Options{Model: model}).Model(pin, at)
		require.Equal(t, want.name, name)
		require.Equal(t, want.why, why)
	}
}

// The catalog is walked once, and again when it is another one or a model's
// state has changed by itself.
func TestThePickIsKeptForTheCatalog(t *testing.T) {
	zero, cent := money.PerMillion(0), money.PerMillion(10_000_000)
	model := func(id string, input *money.PerMillion, retires *time.Time) catalog.Model {
		return catalog.Model{ID: id, Author: "acme", Lifecycle: catalog.Lifecycle{RetiresAt: retires}, Endpoints: []catalog.Endpoint{
			{ID: "north:" + id, Provider: "north", UpstreamModel: "m", Price: &catalog.Price{Input: input, Output: &cent}},
		}}
	}
	later := at.Add(time.Hour)
	compiled := func(models ...catalog.Model) call.Pinned {
		v, err := catalog.Compile(catalog.Catalog{
			Schema: catalog.Schema, Revision: 1, Models: models,
			Providers: []catalog.Provider{{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "https://north.example/v1", Keyless: true}},
		})
		require.NoError(t, err)
		return call.Pinned{Catalog: v}
	}
	one := compiled(model("acme/cheap", &zero, &later), model("acme/other", &cent, nil))
	two := compiled(model("acme/other", &cent, nil))
	k := classifier.New(classifier.Options{})
	pick := func(pin call.Pinned, now time.Time) string {
		name, why := k.Model(pin, now)
		require.Empty(t, why)
		return name
	}
	for range 2 {
		require.Equal(t, "acme/cheap", pick(one, at))
		require.Equal(t, "acme/other", pick(two, at))
		require.Equal(t, "acme/other", pick(one, later), "it has retired")
		require.Equal(t, "acme/cheap", pick(one, at), "at a time before the pick")
	}
	walked := classifier.Pick(k)
	require.NotNil(t, walked)
	pick(one, later.Add(-1))
	require.Same(t, walked, classifier.Pick(k), "the catalog is not walked again")
}

func reply(content string) []byte {
	quoted, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return []byte(`{"choices":[{"message":{"role":"assistant","content":` + string(quoted) + `}}]}`)
}

func TestAnswers(t *testing.T) {
	k := classifier.New(classifier.Options{})
	good := []string{
		`{"workloads":{"code":0.7,"reasoning":0.3},"complexity":0.5,"confidence":0.9}`,
		` {"workloads": {"code": 0.69, "reasoning": 0.3}, "complexity": 0.5, "confidence": 0.9} `,
		"```json\n{\"workloads\":{\"code\":0.7,\"reasoning\":0.3},\"complexity\":0.5,\"confidence\":0.9}\n```",
	}
	for _, text := range good {
		got, ok := k.Answer(reply(text))
		require.True(t, ok, text)
		require.Equal(t, classify.Code, got.Mix.Primary())
		require.InDelta(t, 1, got.Mix[classify.Code]+got.Mix[classify.Reasoning], 1e-9)
		require.InDelta(t, 0.5, got.Complexity, 0)
		require.InDelta(t, 0.9, got.Confidence, 0)
	}
	bad := []string{
		"", "code", "null", "[]", "{}", `{"workloads":{"code":1}}`,
		`{"workloads":{"code":1},"complexity":0.5}`, `{"workloads":{"code":1},"confidence":0.5}`,
		`{"workloads":{},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"coding":1},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"code":0.5},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"code":0.9,"general":0.9},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"code":1.5,"general":-0.5},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"code":0,"general":1},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"code":0.25,"general":0.25,"reasoning":0.25,"translation":0.25},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"code":1},"complexity":1.1,"confidence":0.9}`,
		`{"workloads":{"code":1},"complexity":-0.1,"confidence":0.9}`,
		`{"workloads":{"code":1},"complexity":0.5,"confidence":2}`,
		`{"workloads":{"code":1},"complexity":"0.5","confidence":0.9}`,
		`{"workloads":{"code":1},"complexity":0.5,"confidence":0.9,"model":"openai/gpt-5"}`,
		`{"workloads":{"code":1},"complexity":0.5,"confidence":0.9} and more`,
		`{"workloads":{"code":1},"complexity":0.5,"confidence":0.9}{}`,
		`Sure! {"workloads":{"code":1},"complexity":0.5,"confidence":0.9}`,
		`{"workloads":{"code":1},"complexity":1e999,"confidence":0.9}`,
		`{"workloads":{"code":1},"complexity":0.5,"confidence":0.9` + strings.Repeat(" ", 3000) + `}`,
	}
	for _, text := range bad {
		_, ok := k.Answer(reply(text))
		require.False(t, ok, text)
	}
	for _, body := range []string{"", "{}", `{"choices":[]}`, `{"choices":[{"message":{"content":null}}]}`, `{"choices":[{"message":{"content":{"code":1}}}]}`} {
		_, ok := k.Answer([]byte(body))
		require.False(t, ok, body)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"workloads":{"code":1},"complexity":0.5,"confidence":0.9}`)
	f.Add("```json\n{}\n```")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := classifier.New(classifier.Options{}).Answer(reply(text))
		if !ok {
			return
		}
		sum := 0.0
		for _, v := range got.Mix {
			require.True(t, v >= 0 && v <= 1)
			sum += v
		}
		require.InDelta(t, 1, sum, 1e-9)
	})
}
