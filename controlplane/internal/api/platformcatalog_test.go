package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func init() {
	for operation, body := range map[string]string{
		"setPlatformWorkspaceTags": `{"tags":["gold"]}`,
		"replacePlatformCatalog":   `{"providers":[],"models":[]}`,
		"putPlatformProvider":      `{"retry":{"max":1}}`,
		"putPlatformModel":         `{"context":400000}`,
		"putPlatformEndpoint":      `{"derank":1}`,
		"orderPlatformRules":       `{"order":[]}`,
		"putPlatformRule":          `{"when":{"source":"model","op":"exists"},"then":{"provider":"openai"}}`,
	} {
		bodies[operation] = body
	}
}

func onPlatform(method, path, body string) call {
	return call{method: method, path: "/v1/platform" + path, token: operatorToken, body: body}
}

// published is the catalog that gateways read now.
func (p *plane) published() catalog.Catalog {
	p.t.Helper()
	c, err := catalogAt(p.t.Context(), document.NewReader(p.nats.Connect()))
	require.NoError(p.t, err)
	return c
}

func catalogAt(ctx context.Context, reader *document.Reader) (c catalog.Catalog, err error) {
	entry, err := reader.Leader(ctx, wire.BucketCatalog, wire.CatalogPointer)
	if err != nil {
		return c, err
	}
	var pointer policy.Pointer
	if err := json.Unmarshal(entry.Data, &pointer); err != nil {
		return c, err
	}
	body, err := reader.Body(ctx, wire.BucketCatalog, pointer)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(body, &c)
}

// eventually waits until the published catalog is as check wants it.
func (p *plane) eventually(check func(*catalog.View) bool) {
	p.t.Helper()
	reader := document.NewReader(p.nats.Connect())
	require.Eventually(p.t, func() bool {
		c, err := catalogAt(p.t.Context(), reader)
		if err != nil {
			return false // not published yet
		}
		v, err := catalog.Compile(c)
		return err == nil && check(v)
	}, 20*time.Second, 20*time.Millisecond)
}

// lag has a gateway of an older catalog be live from now on.
func (p *plane) lag() {
	p.t.Helper()
	token := p.tenant("lag").key
	gateway, conn := id.New[id.GatewayKind](id.SystemSource()), p.nats.Connect()
	beat := func() {
		body, _ := json.Marshal(wire.Heartbeat{
			Gateway: gateway, Instance: "one", Version: "test", Address: "127.0.0.1:1", StartedAt: time.Now(), SentAt: time.Now(), CatalogRevision: 1,
		})
		_ = conn.NATS().Publish(wire.SubjectHeartbeat+"."+gateway.String(), body)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			beat()
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	p.t.Cleanup(func() { cancel(); done.Wait() })
	require.EventuallyWithT(p.t, func(c *assert.CollectT) {
		assert.Contains(c, p.raw(call{method: "GET", path: "/v1/gateways", token: token}).body, gateway.String())
	}, 20*time.Second, 20*time.Millisecond)
}

const north = `{"type":"openai-compatible","base_url":"http://127.0.0.1:1/v1","api_key":"sk-north-canary-31415"}`

func TestTheOperatorsCatalog(t *testing.T) {
	p := newPlane(t)
	empty := p.do(onPlatform("GET", "/catalog", "")).is(http.StatusOK)
	require.EqualValues(t, 0, empty.data()["version"])
	require.Equal(t, `"0"`, empty.header.Get("ETag"))

	// A provider, a model with an endpoint, a price, a rule.
	made := p.do(onPlatform("PUT", "/catalog/providers/north", north)).is(http.StatusOK)
	require.Equal(t, `"1"`, made.header.Get("ETag"))
	entry := made.data()["providers"].([]any)[0].(map[string]any)
	require.Equal(t, true, entry["api_key_set"])
	require.Equal(t, "north", entry["slug"])
	p.do(onPlatform("PUT", "/catalog/models/acme/small/endpoints/north@eu", `{"upstream_model":"small-v1","price":{"input":"1"}}`)).is(http.StatusOK)
	p.do(onPlatform("PUT", "/catalog/models/acme/small", `{"context":1000,"endpoints":[{"provider":"north","region":"eu","upstream_model":"small-v1","price":{"input":"2","output":"3"}}]}`)).is(http.StatusOK)
	p.do(onPlatform("PUT", "/catalog/models/acme/small/rules/gold", `{"when":{"source":"metadata","path":"plan","op":"equals","value":null},"then":{"provider":"north"}}`)).is(http.StatusOK)
	p.eventually(func(v *catalog.View) bool {
		m, ok := v.Model("acme/small")
		if !ok || len(v.Rules(m)) != 1 {
			return false
		}
		o, ok := v.Endpoint("north:acme/small@eu")
		return ok && o.Endpoint.Price.Input.String() == "2.00" && m.Context == 1000 && !o.Provider.Credential.IsZero()
	})

	// Fields of an offered model, joined with what lies beneath.
	p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/endpoints/openai", `{"derank":2}`)).is(http.StatusOK)
	p.eventually(func(v *catalog.View) bool {
		o, ok := v.Endpoint("openai:openai/gpt-5")
		return ok && o.Endpoint.Derank == 2 && o.Endpoint.Price != nil
	})
	// What changed nothing makes no version; what was published says so.
	same := p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/endpoints/openai", `{"derank":2,"provider":"openai"}`)).is(http.StatusOK)
	require.Equal(t, `"5"`, same.header.Get("ETag"))
	require.Empty(t, same.json()["changes"])
	waited := p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/endpoints/openai?wait=10s", `{"derank":1}`)).is(http.StatusOK)
	require.NotZero(t, waited.json()["publication"].(map[string]any)["catalog_revision"])

	old := p.do(onPlatform("GET", "/catalog?version=1", "")).is(http.StatusOK).data()
	require.Empty(t, old["models"])
	p.do(onPlatform("GET", "/catalog?version=99", "")).problem(http.StatusNotFound, "not_found")

	// The whole as it was read can be written again, and keeps the key.
	whole := p.do(onPlatform("GET", "/catalog", "")).is(http.StatusOK).data()
	body, err := json.Marshal(map[string]any{"providers": whole["providers"], "models": whole["models"]})
	require.NoError(t, err)
	require.Empty(t, p.do(onPlatform("PUT", "/catalog", string(body))).is(http.StatusOK).json()["changes"])
	// A gateway that serves an older catalog has a change waited for, a dry run not.
	p.lag()
	p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/endpoints/openai?wait=1ms", `{"derank":1}`)).is(http.StatusAccepted)
	dry := p.do(onPlatform("PUT", "/catalog?dry_run=true&wait=30s", `{"providers":[],"models":[]}`)).is(http.StatusOK)
	require.EqualValues(t, 1, dry.json()["publication"].(map[string]any)["pending"])
	require.NotEmpty(t, dry.json()["changes"])
	require.Equal(t, whole["version"], dry.data()["version"], "nothing was changed")

	for _, path := range []string{"/models/acme/small/endpoints/south", "/models/acme/none", "/providers/none", "/models/acme/small/rules/none"} {
		p.do(onPlatform("DELETE", "/catalog"+path, "")).problem(http.StatusNotFound, "not_found")
	}
	// The rule would be left without its endpoint.
	p.do(onPlatform("DELETE", "/catalog/models/acme/small/endpoints/north@eu", "")).problem(http.StatusBadRequest, "validation_error")
	p.do(onPlatform("DELETE", "/catalog/models/acme/small/rules/gold", "")).is(http.StatusOK)
	p.do(onPlatform("DELETE", "/catalog/models/acme/small/endpoints/north@eu", "")).is(http.StatusOK)
	p.do(onPlatform("DELETE", "/catalog/models/acme/small", "")).is(http.StatusOK)
	p.do(onPlatform("DELETE", "/catalog/models/openai/gpt-5", "")).is(http.StatusOK)
	p.do(onPlatform("DELETE", "/catalog/providers/north", "")).is(http.StatusOK)
	p.eventually(func(v *catalog.View) bool {
		_, ok := v.Model("acme/small")
		o, _ := v.Endpoint("openai:openai/gpt-5")
		return !ok && o.Endpoint.Derank == 0
	})

	events := p.do(onPlatform("GET", "/audit-events?limit=250", "")).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, events, 11)
	last := events[len(events)-1].(map[string]any)
	require.Equal(t, "provider.put", last["action"])
	require.Contains(t, toJSON(t, last["diff"]), `{"after":"changed","before":"","path":"providers.north.api_key"}`)
	p.noSecret("sk-north-canary-31415")
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	require.NoError(t, err)
	return string(body)
}

// noSecret looks for a text in the log and in every table of the platform.
func (p *plane) noSecret(text string) {
	p.t.Helper()
	require.NotContains(p.t, p.log.String(), text)
	conn, err := pgx.Connect(p.t.Context(), p.db.URL)
	require.NoError(p.t, err)
	defer func() { _ = conn.Close(p.t.Context()) }()
	for _, table := range []string{"platform_catalogs", "platform_audit_events", "idempotency_keys"} {
		var all string
		require.NoError(p.t, conn.QueryRow(p.t.Context(), "SELECT coalesce(string_agg(x::text, ''), '') FROM "+table+" x").Scan(&all))
		require.NotContains(p.t, all, text, table)
	}
	require.NotContains(p.t, toJSON(p.t, p.published()), text)
}

// TestAWrongOperatorsCatalogChangesNothing: every problem is listed, at its
// place in what was sent, and no value is repeated.
func TestAWrongOperatorsCatalogChangesNothing(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("wrong")
	p.do(onPlatform("PUT", "/catalog/providers/north", north)).is(http.StatusOK)
	p.do(onPlatform("PUT", "/catalog/models/acme/big/endpoints/north", `{"upstream_model":"big"}`)).is(http.StatusOK)
	stored := func() []any {
		d := p.do(onPlatform("GET", "/catalog", "")).is(http.StatusOK).data()
		return []any{d["version"], d["providers"], d["models"], d["problems"]}
	}
	before := stored()
	cases := map[string]struct {
		path, body string
		want       []string
	}{
		"provider": {"/providers/south", `{"type":"smoke","base_url":"canary","retry":{"max":9},"shade":"canary","regions":"eu"}`, []string{"base_url", "regions", "retry.max", "shade", "type"}},
		"endpoint": {"/models/acme/small/endpoints/south", `{"upstream_model":"","price":{"input":-1,"output":"canary"},"derank":7}`, []string{"derank", "price.input", "price.output", "provider", "upstream_model"}},
		"rule": {
			"/models/acme/big/rules/r", `{"when":{"source":"body","op":"like"},"then":{"provider":"nowhere","fallbacks":[{"credential":"canary"}]},"else":1}`,
			[]string{"else", "then.fallbacks[0].credential", "then.provider", "when.op", "when.source"},
		},
		"another name": {"/providers/south", `{"slug":"north"}`, []string{"slug"}},
		"no object":    {"/providers/south", `[]`, []string{""}},
		"NUL":          {"/providers/south", `{"name":"a\u0000b","type":"openai","base_url":"http://x/v1"}`, []string{""}},
		"a variable":   {"/providers/north", `{"api_key":"${SIGNALBOX_DATABASE_URL}"}`, []string{"api_key"}},
		"whole":        {"", `{"providers":[{"type":"openai"}],"models":[{"id":"Bad"}],"more":1}`, []string{""}},
		"whole, names": {"", `{"providers":[{"slug":"x"},{"slug":"x"}],"models":[{"id":"acme/big","rules":[{"name":"r"}]}]}`, []string{
			"models[0].rules[0].then", "models[0].rules[0].when", "providers[0].base_url", "providers[0].type", "providers[1]",
		}},
		"look-alikes":       {"", `{"providers":[{"slug":"north"}],"Providers":[],"models":[]}`, []string{""}},
		"a look-alike":      {"", `{"Providers":[{"slug":"canary"}]}`, []string{""}},
		"no lists":          {"", `{"providers":{"slug":"north"},"models":[null]}`, []string{"models", "providers"}},
		"an inner one":      {"", `{"providers":[{"slug":"north","Slug":"canary"}]}`, []string{"providers[0]", "providers[0].base_url", "providers[0].type"}},
		"one in an entry":   {"/providers/north", `{"type":"openai","base_url":"http://x/v1","retry":{"Max":1}}`, []string{"retry"}},
		"one in a rule":     {"/models/acme/big/rules/r", `{"When":{"source":"canary"},"when":{"source":"model","op":"exists"},"then":{"provider":"north"}}`, []string{""}},
		"no key of a type":  {"/providers/north", `{"type":"openai","base_url":"http://x/v1","api_key":"two canary\n"}`, []string{"api_key"}},
		"key of another":    {"/providers/openai", `{"api_key":"{\"tenant_id\":\"canary\"}"}`, []string{"api_key"}},
		"key in a document": {"", `{"providers":[{"slug":"openai","api_key":"two canary"}]}`, []string{"providers[0].api_key"}},
		"too long a key":    {"/providers/openai", `{"api_key":"` + strings.Repeat("canary", 2000) + `"}`, []string{"api_key"}},
		"order":             {"/models/acme/big/rules", `{"order":["x"]}`, []string{"order"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inner := *p
			inner.t = t
			problem := inner.do(onPlatform("PUT", "/catalog"+c.path, c.body)).problem(http.StatusBadRequest, "validation_error")
			var paths []string
			for _, v := range *problem.Violations {
				paths = append(paths, v.Path)
			}
			require.ElementsMatch(t, c.want, paths, toJSON(t, problem))
			require.NotContains(t, toJSON(t, problem), "canary")
		})
	}
	stale := onPlatform("PUT", "/catalog/providers/north", `{"retry":{"max":1}}`)
	problem := p.do(header(stale, "If-Match", `"1"`)).problem(http.StatusPreconditionFailed, "precondition_failed")
	require.EqualValues(t, 2, *problem.CurrentVersion)
	require.Equal(t, before, stored())
	for _, token := range []string{w.key, "", "x"} {
		c := onPlatform("PUT", "/catalog/providers/north", north)
		c.token = token
		require.Contains(t, []int{401, 403}, p.do(c).status)
	}
	// Repeated safely, once.
	first := header(onPlatform("PUT", "/catalog/providers/north", `{"type":"openai","base_url":"http://127.0.0.1:2/v1"}`), "Idempotency-Key", "once")
	a, b := p.do(first).is(http.StatusOK), p.do(first).is(http.StatusOK)
	require.Equal(t, "true", b.header.Get("Idempotency-Replayed"))
	require.Equal(t, a.header.Get("ETag"), b.header.Get("ETag"))
	require.Equal(t, true, a.data()["providers"].([]any)[0].(map[string]any)["api_key_set"], "the key stays when none is sent")
	gone := p.do(onPlatform("PUT", "/catalog/providers/north", `{"type":"openai","base_url":"http://127.0.0.1:2/v1","api_key":null}`)).is(http.StatusOK)
	require.NotContains(t, gone.body, "api_key_set")
}

func TestRulesHaveAnOrder(t *testing.T) {
	p := newPlane(t)
	put := func(name, query string) {
		p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/rules/"+name+query,
			`{"when":{"source":"workspace_tag","op":"equals","value":"`+name+`"},"then":{"provider":"openai"}}`)).is(http.StatusOK)
	}
	names := func() (list []string) {
		for _, r := range p.do(onPlatform("GET", "/catalog/models/openai/gpt-5/rules", "")).is(http.StatusOK).json()["data"].([]any) {
			require.Equal(t, "platform", r.(map[string]any)["origin"])
			list = append(list, r.(map[string]any)["name"].(string))
		}
		return list
	}
	put("a", "")
	put("b", "")
	put("c", "?position=0")
	require.Equal(t, []string{"c", "a", "b"}, names())
	put("c", "?position=9")
	require.Equal(t, []string{"a", "b", "c"}, names())
	put("a", "")
	require.Equal(t, []string{"a", "b", "c"}, names(), "it stays where it is")
	p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/rules", `{"order":["b","c","a"]}`)).is(http.StatusOK)
	require.Equal(t, []string{"b", "c", "a"}, names())
	for _, order := range []string{`["b","c"]`, `["b","c","c"]`, `["b","c","a","a"]`} {
		p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/rules", `{"order":`+order+`}`)).problem(http.StatusBadRequest, "validation_error")
	}
	p.do(onPlatform("GET", "/catalog/models/acme/none/rules", "")).problem(http.StatusNotFound, "not_found")
	rule := `{"when":{"source":"model","op":"exists"},"then":{"provider":"openai"}}`
	p.do(onPlatform("PUT", "/catalog/models/acme/none/rules/a", rule)).problem(http.StatusNotFound, "not_found")
	p.do(onPlatform("PUT", "/catalog/models/acme/none/rules", `{"order":[]}`)).problem(http.StatusNotFound, "not_found")
	require.NotContains(t, p.do(onPlatform("GET", "/catalog", "")).is(http.StatusOK).body, "acme/none", "a rule makes no model")
	p.do(onPlatform("DELETE", "/catalog/models/openai/gpt-5/rules/c", "")).is(http.StatusOK)
	require.Equal(t, []string{"b", "a"}, names())
}

func TestTags(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("tags")
	path := "/workspaces/" + w.id + "/tags"
	require.Empty(t, p.do(onPlatform("GET", path, "")).is(http.StatusOK).data()["tags"])
	set := p.do(onPlatform("PUT", path+"?wait=20s", `{"tags":["gold","eu"]}`)).is(http.StatusOK)
	require.Equal(t, []any{"eu", "gold"}, set.data()["tags"])
	require.Equal(t, []any{"eu", "gold"}, p.do(onPlatform("GET", path, "")).is(http.StatusOK).data()["tags"])
	p.do(header(onPlatform("PUT", path, `{"tags":[]}`), "If-Match", `"1"`)).problem(http.StatusPreconditionFailed, "precondition_failed")
	p.do(onPlatform("PUT", path, `{"tags":["Not A Tag"]}`)).problem(http.StatusBadRequest, "validation_error")
	p.do(onPlatform("PUT", "/workspaces/ws_0000000000e008ztk5wvz3r2m1/tags", `{"tags":[]}`)).problem(http.StatusNotFound, "not_found")
	events := p.do(call{method: "GET", path: "/v1/audit-events?limit=1", token: w.key}).is(http.StatusOK).body
	require.Contains(t, events, `"operator"`)
	require.Contains(t, events, "eu, gold")
}

// TestOverridesOutliveARestart, and say so when a newer catalog beneath them
// does not fit: the published catalog stays as it is.
func TestOverridesOutliveARestart(t *testing.T) {
	p := newPlane(t)
	p.do(onPlatform("PUT", "/catalog/models/openai/gpt-5/endpoints/openai?wait=20s", `{"derank":3}`)).is(http.StatusOK)
	before := p.published()
	leader := *p // goes on beside the one that starts now
	p.start()
	require.EqualValues(t, 1, p.do(onPlatform("GET", "/catalog", "")).is(http.StatusOK).data()["version"])

	// As if the catalog beneath had lost a provider that the overrides name.
	conn, err := pgx.Connect(t.Context(), p.db.URL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), `INSERT INTO platform_catalogs (version, document, keys, actor_kind, actor_name, created_at)
		VALUES (2, '{"providers":[],"models":[{"id":"openai/gpt-5","endpoints":[{"provider":"vanished","upstream_model":"x"}]}]}', '{}', 'operator', 'operator', now())`)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "NOTIFY signalbox_outbox")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return strings.Contains(leader.raw(call{method: "GET", path: "/readyz?verbose"}).body, "does not fit this version")
	}, 30*time.Second, 50*time.Millisecond)
	problems := p.do(onPlatform("GET", "/catalog", "")).is(http.StatusOK).data()["problems"]
	require.Contains(t, toJSON(t, problems), "models[0].endpoints[0].provider")
	require.Contains(t, leader.raw(call{method: "GET", path: "/metrics"}).body, "signalbox_catalog_refused 1")
	require.Equal(t, before.Revision, p.published().Revision)
	p.do(onPlatform("GET", "/catalog/models/openai/gpt-5/rules", "")).problem(http.StatusConflict, "conflict")

	// A change that mends it is published.
	p.do(onPlatform("PUT", "/catalog", `{"providers":[],"models":[{"id":"openai/gpt-5","context":7}]}`)).is(http.StatusOK)
	p.eventually(func(v *catalog.View) bool {
		m, _ := v.Model("openai/gpt-5")
		return m.Context == 7
	})
}
