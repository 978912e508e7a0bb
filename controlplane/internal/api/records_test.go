package api_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var ids = id.SystemSource()

// served puts a request of who on the usage stream, as a gateway does, and
// waits until the control plane has it.
func (p *plane) served(who tenant, key, session string) wire.UsageEvent {
	p.t.Helper()
	started := time.Now().UTC().Truncate(time.Millisecond)
	decision, err := json.Marshal(decide.Record{
		RequestedModel: "acme/small", DecidedModel: "acme/small", Seed: 18446744073709551615,
		Recollection: json.RawMessage(`{"subject":"1","inputs":[{"source":"user_id","values":["end-user-7"]}],"request":{}}`),
		Candidates:   []decide.RankedCandidate{{Model: "acme/small", Endpoint: "north:acme/small", Provider: "north", Score: 1.5}},
		Attempts: []decide.AttemptRecord{
			{Model: "acme/small", Provider: "south", Endpoint: "south:acme/small", Credential: "managed", Started: started, Duration: time.Second, Status: 503, Failure: "server_error", Retryable: true, Reason: "first_choice"},
			{Model: "acme/small", Provider: "north", Endpoint: "north:acme/small", Credential: "managed", Started: started.Add(time.Second), FirstByte: 5 * time.Millisecond, Duration: 20 * time.Millisecond, Status: 200, Reason: "fallback_provider"},
		},
	})
	require.NoError(p.t, err)
	request := id.New[id.RequestKind](ids)
	event := wire.UsageEvent{
		Schema: wire.UsageSchema, ID: request, PrimaryID: request,
		Workspace: id.MustParse[id.WorkspaceKind](who.id), Key: id.MustParse[id.KeyKind](key), User: id.MustParse[id.UserKind](who.user),
		Gateway: id.New[id.GatewayKind](ids), Sequence: 1, Surface: "chat", SessionID: session, EndUser: "end-user-7", ClientRequestID: "client-7",
		StartedAt: started, Duration: 1020 * time.Millisecond, FirstByte: 1005 * time.Millisecond, Outcome: wire.Success, Status: 200,
		RequestedModel: "acme/small", DecidedModel: "acme/small", ServedModel: "acme-small-1", Provider: "north", Endpoint: "north:acme/small",
		Attempts: 2, Usage: meter.Usage{Input: 1000, Output: 500},
		Cost: meter.Cost{Total: 1_234_567_890_123, Lines: []meter.Line{
			{Meter: "input", Units: 1000, Price: 3, Cost: 1}, {Meter: "output", Units: 500, Price: 4, Cost: 1_234_567_890_122},
		}},
		PolicyRevision: 3, CatalogRevision: 1, Decision: decision,
	}
	body, err := json.Marshal(event)
	require.NoError(p.t, err)
	conn := p.nats.Ready()
	_, err = conn.JetStream().Publish(p.t.Context(), wire.SubjectUsage+"."+event.Gateway.String(), body)
	require.NoError(p.t, err)
	require.Eventually(p.t, func() bool {
		return p.raw(call{method: "GET", path: "/v1/logs/" + request.String(), token: who.key}).status == http.StatusOK
	}, 15*time.Second, 20*time.Millisecond, "the usage event did not arrive")
	return event
}

func TestLogsTellARequest(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("logs")
	key, _ := p.newKey(w, "used")
	event := p.served(w, key, "session-7")

	got := p.do(call{method: "GET", path: "/v1/logs/" + event.ID.String(), token: w.key}).is(http.StatusOK)
	log := got.data()
	require.EqualValues(t, 1_234_567_890_123, log["cost_nanos"])
	require.Contains(t, got.body, `"cost_nanos":1234567890123`)
	require.Equal(t, "1234.567890123", log["cost_usd"])
	require.Contains(t, got.body, `"seed":"18446744073709551615"`, "the record lost precision")
	require.Len(t, log["attempts"], 2)
	require.Equal(t, "server_error", log["attempts"].([]any)[0].(map[string]any)["failure"])
	require.Equal(t, event.ID.String(), log["primary_request_id"])
	require.Len(t, log["cost_lines"], 2)
	require.Equal(t, key, log["key_id"])
	require.Equal(t, "end-user-7", log["end_user"])
	require.EqualValues(t, 1020, log["duration_ms"])

	for query, want := range map[string]int{
		"?primary_request_id=" + event.ID.String(): 1, "?primary_request_id=" + id.New[id.RequestKind](ids).String(): 0,
		"?key_id=" + key: 1, "?model=acme/small": 1, "?model=other/model": 0, "?provider=north": 1, "?status=2xx": 1, "?status=5xx": 0,
		"?outcome=success": 1, "?outcome=refused": 0, "?session_id=session-7": 1, "?session_id=other": 0,
		"?since=2001-01-01T00:00:00Z": 1, "?until=2001-01-01T00:00:00Z": 0,
	} {
		require.Len(t, p.do(call{method: "GET", path: "/v1/logs" + query, token: w.key}).is(http.StatusOK).json()["data"], want, query)
	}
	usage := p.do(call{method: "GET", path: "/v1/usage?group_by=key", token: w.key}).is(http.StatusOK).data()
	row := usage["rows"].([]any)[0].(map[string]any)
	require.Equal(t, key, row["group"])
	require.EqualValues(t, 1, row["requests"])
	require.EqualValues(t, 1000, row["tokens"].(map[string]any)["input"])
	require.Equal(t, "1234.567890123", usage["totals"].(map[string]any)["cost_usd"])
	require.Contains(t, p.do(call{method: "GET", path: "/v1/usage?interval=hour", token: w.key}).is(http.StatusOK).data()["rows"].([]any)[0], "start")
}

// become gives the owner another role, as an administrator of the database.
func (p *plane) become(who tenant, role string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.db.URL)
	require.NoError(p.t, err)
	defer conn.Close(p.t.Context())
	tag, err := conn.Exec(p.t.Context(), "UPDATE members SET role = $1 WHERE user_id = $2", role, id.MustParse[id.UserKind](who.user).UUID())
	require.NoError(p.t, err)
	require.EqualValues(p.t, 1, tag.RowsAffected())
}

func TestViewersSeeNoIdentities(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("viewer")
	key, _ := p.newKey(w, "used")
	event := p.served(w, key, "session-7")
	p.become(w, "viewer")
	for _, path := range []string{"/v1/logs", "/v1/logs/" + event.ID.String()} {
		got := p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK)
		for _, identity := range []string{key, w.user, "session-7", "end-user-7", "client-7"} {
			require.NotContains(t, got.body, identity, path)
		}
		require.Contains(t, got.body, event.ID.String())
	}
	for _, query := range []string{"?key_id=" + key, "?session_id=session-7"} {
		p.do(call{method: "GET", path: "/v1/logs" + query, token: w.key}).problem(http.StatusForbidden, "forbidden")
	}
	p.do(call{method: "POST", path: "/v1/keys", token: w.key, body: `{"name":"x"}`}).problem(http.StatusForbidden, "forbidden")
}

func TestMembersTouchOnlyTheirOwnKeys(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("member")
	theirs, _ := p.newKey(w, "of another")
	conn, err := pgx.Connect(t.Context(), p.db.URL)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "UPDATE api_keys SET created_by = NULL WHERE id = $1", id.MustParse[id.KeyKind](theirs).UUID())
	require.NoError(t, err)
	p.become(w, "member")
	own, _ := p.newKey(w, "own")
	for _, c := range []call{
		{method: "PATCH", path: "/v1/keys/%", body: `{"name":"x"}`},
		{method: "POST", path: "/v1/keys/%/pause"},
		{method: "POST", path: "/v1/keys/%/resume"},
		{method: "POST", path: "/v1/keys/%/rotate", body: `{}`},
		{method: "DELETE", path: "/v1/keys/%"},
	} {
		pattern := c.path
		c.token = w.key
		c.path = regexp.MustCompile("%").ReplaceAllString(pattern, theirs)
		p.do(c).problem(http.StatusForbidden, "forbidden")
		c.path = regexp.MustCompile("%").ReplaceAllString(pattern, own)
		p.do(c).is(http.StatusOK)
	}
	require.Equal(t, "active", p.do(call{method: "GET", path: "/v1/keys/" + theirs, token: w.key}).is(http.StatusOK).data()["status"])
	p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"max_attempts":2}`}).problem(http.StatusForbidden, "forbidden")
}

var moving = regexp.MustCompile(`"(last_used_at|published_at)":"[^"]*",?`)

// still drops the times that move by themselves.
func still(body string) string { return moving.ReplaceAllString(body, "") }
