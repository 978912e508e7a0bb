package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// join makes a new member of who's workspace the creator of the management key
// with that credential, as an invitation and their own sign-in would.
func (p *plane) join(who tenant, credential, role string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.db.URL)
	require.NoError(p.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	user := id.New[id.UserKind](id.SystemSource()).UUID()
	ws, err := id.Parse[id.WorkspaceKind](who.id)
	require.NoError(p.t, err)
	for _, c := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, 'Other', now())`, []any{user, user.String() + "@example.com"}},
		{`INSERT INTO members (workspace_id, user_id, role, created_at) VALUES ($1, $2, $3, now())`, []any{ws.UUID(), user, role}},
		{`UPDATE management_keys SET created_by = $1 WHERE workspace_id = $2 AND kid = split_part($3, '_', 4)`, []any{user, ws.UUID(), credential}},
	} {
		tag, err := conn.Exec(p.t.Context(), c.query, c.args...)
		require.NoError(p.t, err)
		require.EqualValues(p.t, 1, tag.RowsAffected())
	}
}

// TestRotationGivesNobodyMoreThanTheyHave tries to get a stronger key's new
// secret.
func TestRotationGivesNobodyMoreThanTheyHave(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("rotation")
	rotate := func(token string) answer {
		return p.do(call{method: "POST", path: "/v1/management-keys/" + w.keyID + "/rotate", token: token, body: `{}`})
	}
	weak := p.scoped(w, "management_keys:write", "keys:read")
	problem := rotate(weak).problem(http.StatusForbidden, "insufficient_scope")
	require.Contains(t, *problem.MissingScopes, "workspaces:delete")
	require.NotContains(t, *problem.MissingScopes, "keys:read")

	// Whoever has every scope still has not the owner's role, nor their name.
	admin := p.do(call{method: "POST", path: "/v1/management-keys", token: w.key, body: `{"name":"admin","template":"full-control"}`}).is(http.StatusCreated).data()["key"].(string)
	p.join(w, admin, "admin")
	rotate(admin).problem(http.StatusForbidden, "forbidden")

	got := rotate(w.key).is(http.StatusOK)
	p.do(call{method: "GET", path: "/v1/whoami", token: w.key}).problem(http.StatusUnauthorized, "unauthorized")
	p.do(call{method: "GET", path: "/v1/whoami", token: got.data()["key"].(string)}).is(http.StatusOK)
}

func TestACursorIsForItsListOnly(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("cursors")
	for i := range 2 {
		p.newKey(w, fmt.Sprint("key ", i))
	}
	first := p.do(call{method: "GET", path: "/v1/keys?limit=1", token: w.key}).is(http.StatusOK).json()
	cursor := url.QueryEscape(first["next_cursor"].(string))
	second := p.do(call{method: "GET", path: "/v1/keys?cursor=" + cursor, token: w.key}).is(http.StatusOK).json()
	require.Len(t, second["data"], 1)
	for _, list := range []string{"/v1/management-keys", "/v1/audit-events", "/v1/publications", "/v1/logs", "/v1/workspaces", "/v1/workspaces/" + w.id + "/members"} {
		problem := p.do(call{method: "GET", path: list + "?cursor=" + cursor, token: w.key}).problem(http.StatusBadRequest, "validation_error")
		require.Equal(t, "cursor", (*problem.Violations)[0].Path, list)
	}
}

func TestAnswersAreNotKept(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("headers")
	for _, c := range []call{
		post("/v1/keys", `{"name":"fresh"}`), get("/v1/keys"), get("/v1/keys/none"), {method: "GET", path: "/v1/whoami", token: "wrong"},
	} {
		if c.token == "" {
			c.token = w.key
		}
		got := p.do(c)
		require.Equal(t, "no-store", got.header.Get("Cache-Control"), c.path)
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"), c.path)
	}
}
