package api_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
	"github.com/signalbox-dev/signalbox/shared/testkit/transcript"
)

// exercised collects "operation class" over all tests, so that TestMain can
// tell which part of the contract no test has seen.
var exercised sync.Map

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if everything := flag.Lookup("test.run").Value.String() == ""; code == 0 && everything {
		code = unexercised()
	}
	if code == 0 {
		if err := goleak.Find(natstest.Leaks()...); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// unexercised fails when an operation was never carried out or never refused.
func unexercised() int {
	doc, err := gen.GetSpec()
	if err != nil {
		return 1
	}
	code := 0
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, class := range []string{"2", "4", "5"} {
				if _, ok := exercised.Load(op.OperationID + " " + class); !ok && (class != "5" || op.OperationID != "getWhoami") {
					_, _ = fmt.Fprintf(os.Stderr, "no test got a %sxx from %s\n", class, op.OperationID)
					code = 1
				}
			}
		}
	}
	return code
}

const operatorToken = "operator-token-of-the-tests-0123456789"

// plane is a whole control plane over real Postgres and NATS. Every answer is
// held against the contract.
type plane struct {
	t      *testing.T
	url    string
	db     pgtest.Database
	nats   *natstest.Server
	log    *transcript.Buffer
	router routers.Router

	configure func(*app.Config) // before the start; may be nil
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	p := newUnstartedPlane(t)
	p.start()
	return p
}

func newUnstartedPlane(t *testing.T) *plane {
	t.Helper()
	return &plane{t: t, db: pgtest.New(t), nats: natstest.New(t), log: &transcript.Buffer{}, router: contractRouter(t)}
}

// start runs an app and waits until it is ready.
func (p *plane) start() {
	p.t.Helper()
	log, err := logging.New(p.log, logging.Config{Level: "debug", Format: "json"})
	require.NoError(p.t, err)
	cfg := app.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Database.URL = secret.NewString(p.db.URL)
	cfg.NATS.URL = p.nats.URL()
	cfg.OperatorToken = secret.NewString(operatorToken)
	cfg.HTTP.MaxBody = 16 << 10
	cfg.KeyringFile = filepath.Join(p.t.TempDir(), "keyring.json")
	_, err = seal.CreateFile(cfg.KeyringFile)
	require.NoError(p.t, err)
	if p.configure != nil {
		p.configure(&cfg)
	}
	a, err := app.New(p.t.Context(), cfg, app.Deps{Log: log, Now: time.Now, Version: "test", Env: func(string) (string, bool) { return "", false }})
	require.NoError(p.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	p.t.Cleanup(func() {
		cancel()
		require.NoError(p.t, <-done)
		http.DefaultClient.CloseIdleConnections()
	})
	p.url = "http://" + a.Addr()
	p.ready()
}

// ready waits until the control plane says that it is.
func (p *plane) ready() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		response, err := http.Get(p.url + "/readyz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond, "it did not become ready")
}

func contractRouter(t *testing.T) routers.Router {
	t.Helper()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	doc.Servers = nil // whichever port this is
	router, err := legacy.NewRouter(doc)
	require.NoError(t, err)
	return router
}

// call is one request to make.
type call struct {
	method, path string
	token        string
	body         string
	header       http.Header
}

// answer is what came back.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// do makes the call and holds the answer against the contract.
func (p *plane) do(c call) answer {
	p.t.Helper()
	a := p.raw(c)
	request, err := http.NewRequest(c.method, p.url+c.path, strings.NewReader(c.body))
	require.NoError(p.t, err)
	route, params, err := p.router.FindRoute(request)
	if err != nil {
		return a // not in the contract: the test looks at the problem itself
	}
	exercised.Store(fmt.Sprintf("%s %d", route.Operation.OperationID, a.status/100), true)
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route},
		Status:                 a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	require.NoError(p.t, openapi3filter.ValidateResponse(p.t.Context(), input), "%s %s answered %d: %s", c.method, c.path, a.status, a.body)
	return a
}

func (p *plane) raw(c call) answer {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), c.method, p.url+c.path, strings.NewReader(c.body))
	require.NoError(p.t, err)
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.header {
		request.Header[name] = values
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(p.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	return answer{t: p.t, status: response.StatusCode, header: response.Header, body: string(body)}
}

// data is the answer's data.
func (a answer) data() map[string]any {
	a.t.Helper()
	return a.json()["data"].(map[string]any)
}

func (a answer) json() map[string]any {
	a.t.Helper()
	var v map[string]any
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &v), a.body)
	return v
}

// is checks the status and returns the answer for more.
func (a answer) is(status int) answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	return a
}

// problem checks that the answer is a problem with the code.
func (a answer) problem(status int, code string) gen.Problem {
	a.t.Helper()
	a.is(status)
	require.Equal(a.t, "application/problem+json", a.header.Get("Content-Type"))
	var p gen.Problem
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &p))
	require.Equal(a.t, code, p.Code, a.body)
	require.Equal(a.t, status, p.Status)
	require.NotEmpty(a.t, p.Detail)
	require.Equal(a.t, a.header.Get("X-Signalbox-Request-Id"), p.RequestID)
	return p
}

// tenant is a workspace with its full-control key.
type tenant struct {
	id, user, key string
	keyID         string
}

func (p *plane) tenant(slug string) tenant {
	p.t.Helper()
	made := p.do(call{
		method: "POST", path: "/v1/platform/workspaces", token: operatorToken,
		body: fmt.Sprintf(`{"name":"Workspace %s","slug":"%s","owner":{"email":"%s@example.com","name":"Owner"}}`, slug, slug, slug),
	}).is(http.StatusCreated).data()
	key := made["management_key"].(map[string]any)
	return tenant{
		id: made["workspace"].(map[string]any)["id"].(string), user: made["owner"].(map[string]any)["user_id"].(string),
		key: key["key"].(string), keyID: key["id"].(string),
	}
}

// newKey creates an API key and returns its id and plaintext.
func (p *plane) newKey(who tenant, name string) (id, plaintext string) {
	p.t.Helper()
	made := p.do(call{method: "POST", path: "/v1/keys", token: who.key, body: fmt.Sprintf(`{"name":%q}`, name)}).is(http.StatusCreated).data()
	return made["id"].(string), made["key"].(string)
}

// newProviderKey brings a key for openai and returns the credential's id.
func (p *plane) newProviderKey(who tenant, name, key string) string {
	p.t.Helper()
	body := fmt.Sprintf(`{"provider":"openai","name":%q,"key":%q}`, name, key)
	return p.do(call{method: "POST", path: "/v1/byok", token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// newProfile creates a routing profile and returns its id.
func (p *plane) newProfile(who tenant, body string) string {
	p.t.Helper()
	return p.do(call{method: "POST", path: "/v1/routing/profiles", token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// newGuardrail creates a guardrail and returns its id.
func (p *plane) newGuardrail(who tenant, body string) string {
	p.t.Helper()
	return p.do(call{method: "POST", path: "/v1/guardrails", token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// newRatePolicy creates a rate-limit policy and returns its id.
func (p *plane) newRatePolicy(who tenant, body string) string {
	p.t.Helper()
	return p.do(call{method: "POST", path: "/v1/rate-limits/policies", token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// newAssignment assigns a rate-limit policy and returns the assignment's id.
func (p *plane) newAssignment(who tenant, body string) string {
	p.t.Helper()
	return p.do(call{method: "POST", path: assignmentsPath, token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

const assignmentsPath = "/v1/rate-limits/assignments"

// newDynamicRoute creates a dynamic route with a graph as version 1, and
// returns its id.
func (p *plane) newDynamicRoute(who tenant, name string) string {
	p.t.Helper()
	body := fmt.Sprintf(`{"name":%q,"config":%s}`, name, aGraph)
	return p.do(call{method: "POST", path: routesPath, token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// routesPath is where dynamic routes are, and aGraph a graph that fits the
// catalog.
const (
	routesPath = "/v1/routing/dynamic-routes"
	aGraph     = `{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},{"id":"m","type":"model","model":"openai/gpt-5","next":"e"},{"id":"e","type":"end"}]}`
)

// newPreset creates a preset and returns its id.
func (p *plane) newPreset(who tenant, body string) string {
	p.t.Helper()
	return p.do(call{method: "POST", path: "/v1/presets", token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// newDepartment creates a department and returns its id.
func (p *plane) newDepartment(who tenant, body string) string {
	p.t.Helper()
	return p.do(call{method: "POST", path: "/v1/departments", token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// newBudget creates a budget and returns its id.
func (p *plane) newBudget(who tenant, body string) string {
	p.t.Helper()
	return p.do(call{method: "POST", path: "/v1/budgets", token: who.key, body: body}).is(http.StatusCreated).data()["id"].(string)
}

// scoped makes a management key with those scopes.
func (p *plane) scoped(who tenant, scopes ...string) string {
	p.t.Helper()
	list, err := json.Marshal(scopes)
	require.NoError(p.t, err)
	made := p.do(call{
		method: "POST", path: "/v1/management-keys", token: who.key, body: fmt.Sprintf(`{"name":"scoped","scopes":%s}`, list),
	}).is(http.StatusCreated).data()
	return made["key"].(string)
}

// catalogPlaces fill the parameters that name parts of the catalog.
var catalogPlaces = strings.NewReplacer("{provider}", "openai", "{author}", "openai", "{model}", "gpt-5", "{endpoint}", "openai", "{rule}", "gold",
	"{version}", "1", "{other_version}", "1", "{other}", "1")

// operations lists the contract's operations with a path in which every
// parameter is filled from ids.
func operations(t *testing.T, ids map[string]string) []call {
	t.Helper()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	var list []call
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			filled := catalogPlaces.Replace(path)
			for name, id := range ids {
				filled = strings.ReplaceAll(filled, "{"+name+"}", id)
			}
			require.NotContains(t, filled, "{", "no id for a parameter")
			c := call{method: method, path: filled}
			query := url.Values{}
			for _, parameter := range op.Parameters {
				if parameter.Value.In == openapi3.ParameterInQuery && parameter.Value.Required {
					query.Set(parameter.Value.Name, "x")
				}
			}
			if len(query) > 0 {
				c.path += "?" + query.Encode()
			}
			if op.RequestBody != nil {
				c.body = bodies[op.OperationID]
				require.NotEmpty(t, c.body, "no valid body for %s", op.OperationID)
			}
			list = append(list, c)
		}
	}
	return list
}

// bodies are valid bodies for the operations that take one.
var bodies = map[string]string{
	"updateWorkspace":           `{"name":"Renamed"}`,
	"createKey":                 `{"name":"a key"}`,
	"updateKey":                 `{"name":"renamed"}`,
	"rotateKey":                 `{}`,
	"createManagementKey":       `{"name":"another","template":"read-only"}`,
	"rotateManagementKey":       `{}`,
	"createByokCredential":      `{"provider":"openai","name":"ours","key":"sk-proj-0123456789abcdefghij"}`,
	"updateByokCredential":      `{"name":"renamed"}`,
	"reorderByokCredentials":    `{"provider":"openai","use":"priority","credentials":["byok_0000000000e008ztk5wvz3r2m1"]}`,
	"updateSettings":            `{"max_attempts":3}`,
	"updateAutoRouting":         `{"objective":"cost"}`,
	"createDepartment":          `{"name":"a department"}`,
	"updateDepartment":          `{"name":"another department"}`,
	"createRoutingProfile":      `{"name":"a profile","routing":{"routing_mode":"price"}}`,
	"updateRoutingProfile":      `{"routing":{"routing_mode":"latency"}}`,
	"createDynamicRoute":        `{"name":"a route","config":` + aGraph + `}`,
	"updateDynamicRoute":        `{"status":"paused"}`,
	"setDynamicRouteKeys":       `{"key_ids":[]}`,
	"saveDynamicRouteVersion":   `{"config":` + aGraph + `}`,
	"testDynamicRouteVersion":   `{"facts":{"body":{"model":"openai/gpt-5"}}}`,
	"replayDynamicRouteVersion": `{}`,
	"startDynamicRouteRollout":  `{"steps":[{"percent":10,"hold":"1m"}],"guard":{"max_error_rate":0.1,"min_requests":10}}`,
	"createGuardrail":           `{"name":"a guardrail","models":{"block":["openai/gpt-5"]}}`,
	"updateGuardrail":           `{"data_policy":{"deny_training":true}}`,
	"addGuardrailKeys":          `{"key_ids":["key_0000000000e008ztk5wvz3r2m1"]}`,
	"removeGuardrailKeys":       `{"key_ids":["key_0000000000e008ztk5wvz3r2m1"]}`,
	"addGuardrailMembers":       `{"user_ids":["user_0000000000e008ztk5wvz3r2m1"]}`,
	"removeGuardrailMembers":    `{"user_ids":["user_0000000000e008ztk5wvz3r2m1"]}`,
	"createRateLimitPolicy":     `{"name":"a policy","requests_per_minute":60}`,
	"updateRateLimitPolicy":     `{"tokens_per_minute":1000}`,
	"createRateLimitAssignment": `{"policy_id":"rlp_0000000000e008ztk5wvz3r2m1","target_type":"end_user_default"}`,
	"putDepartmentMember":       `{"position":"lead"}`,
	"createBudget":              `{"interval":"daily","limit_usd":"12.50"}`,
	"updateBudget":              `{"limit_usd":"20"}`,
	"createDepartmentBudget":    `{"department_id":"dept_0000000000e008ztk5wvz3r2m1","interval":"weekly","limit_usd":"12.50"}`,
	"updateDepartmentBudget":    `{"limit_usd":"20"}`,
	"createPreset":              `{"slug":"a-preset","config":{"model":"openai/gpt-5"}}`,
	"updatePreset":              `{"description":"renamed"}`,
	"forkPreset":                `{"from":"@nobody/nothing","slug":"forked"}`,
	"publishPreset":             `{}`,
	"updatePresetUpstream":      `{}`,
	"putPublisher":              `{"handle":"some-handle"}`,
	"createWebhook":             `{"name":"a webhook","url":"https://1.1.1.1/","events":["budget.alert"]}`,
	"updateWebhook":             `{"name":"another webhook"}`,
	"setBudgetAlertShares":      `{"shares":[50,100]}`,
	"createPlatformWorkspace":   `{"name":"Made","owner":{"email":"made@example.com"}}`,
}
