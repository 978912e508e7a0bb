package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// Workspace is a tenant with a management key of full control.
type Workspace struct {
	Platform
	ID            string
	ManagementKey string
}

// CreateWorkspace makes a tenant as the operator does.
func (p Platform) CreateWorkspace(ctx context.Context, slug string) (Workspace, error) {
	answer, err := p.manage(ctx, p.Operator, http.MethodPost, "/v1/platform/workspaces", map[string]any{
		"name": slug, "slug": slug, "owner": map[string]string{"email": "owner@" + slug + ".example", "name": "Owner"},
	})
	if err != nil {
		return Workspace{}, err
	}
	w := Workspace{
		Platform: p, ID: answer.Get("data.workspace.id").Str, ManagementKey: answer.Get("data.management_key.key").Str,
	}
	if w.ID == "" || w.ManagementKey == "" {
		return Workspace{}, fmt.Errorf("the new workspace has no id or key: %.300s", answer.Body)
	}
	return w, nil
}

// Operate makes any other management call as the operator; an empty body is
// none.
func (p Platform) Operate(ctx context.Context, method, path, body string) (Answer, error) {
	if body == "" {
		return p.manage(ctx, p.Operator, method, path, nil)
	}
	return p.manage(ctx, p.Operator, method, path, json.RawMessage(body))
}

// Key is an API key with its plaintext.
type Key struct {
	ID     string
	Secret string
}

// NewKey is what a key is made of.
type NewKey struct {
	Name      string     `json:"name"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	Models    []string   `json:"models,omitempty"`
	Surfaces  []string   `json:"surfaces,omitempty"`
}

// Publication is what a mutation said of its way to the gateways.
type Publication struct {
	ID       string
	Revision int64
	Pending  int64
}

// CreateKey makes a key and waits up to wait for the gateways.
func (w Workspace) CreateKey(ctx context.Context, k NewKey, wait time.Duration) (Key, Publication, error) {
	answer, err := w.manage(ctx, w.ManagementKey, http.MethodPost, "/v1/keys"+waiting(wait), k)
	if err != nil {
		return Key{}, Publication{}, err
	}
	key := Key{ID: answer.Get("data.id").Str, Secret: answer.Get("data.key").Str}
	if key.ID == "" || key.Secret == "" {
		return Key{}, Publication{}, fmt.Errorf("the new key has no id or secret")
	}
	return key, publication(answer), nil
}

// RevokeKey ends a key and waits up to wait for the gateways.
func (w Workspace) RevokeKey(ctx context.Context, id string, wait time.Duration) (Publication, error) {
	answer, err := w.manage(ctx, w.ManagementKey, http.MethodDelete, "/v1/keys/"+id+waiting(wait), nil)
	return publication(answer), err
}

// KeyAction posts to one of a key's verbs: pause, resume or rotate.
func (w Workspace) KeyAction(ctx context.Context, id, verb string, body any, wait time.Duration) (Answer, error) {
	return w.manage(ctx, w.ManagementKey, http.MethodPost, "/v1/keys/"+id+"/"+verb+waiting(wait), body)
}

// PatchSettings changes the workspace's settings.
func (w Workspace) PatchSettings(ctx context.Context, patch map[string]any, wait time.Duration) (Publication, error) {
	answer, err := w.manage(ctx, w.ManagementKey, http.MethodPatch, "/v1/settings"+waiting(wait), patch)
	return publication(answer), err
}

// Receipts reads how far a publication has come.
func (w Workspace) Receipts(ctx context.Context, id string) (gjson.Result, error) {
	answer, err := w.manage(ctx, w.ManagementKey, http.MethodGet, "/v1/publications/"+id, nil)
	return answer.Get("data.receipts"), err
}

// Log reads one request's account.
func (w Workspace) Log(ctx context.Context, request string) (gjson.Result, error) {
	answer, err := w.manage(ctx, w.ManagementKey, http.MethodGet, "/v1/logs/"+request, nil)
	return answer.Get("data"), err
}

// Logs reads the entry of every logged request, newest first.
func (w Workspace) Logs(ctx context.Context) ([]gjson.Result, error) {
	var entries []gjson.Result
	query := url.Values{"limit": {"250"}}
	for {
		answer, err := w.manage(ctx, w.ManagementKey, http.MethodGet, "/v1/logs?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		entries = append(entries, answer.Get("data").Array()...)
		next := answer.Get("next_cursor").Str
		if next == "" {
			return entries, nil
		}
		query.Set("cursor", next)
	}
}

// Usage reads the totals of all time.
func (w Workspace) Usage(ctx context.Context) (gjson.Result, error) {
	answer, err := w.manage(ctx, w.ManagementKey, http.MethodGet, "/v1/usage", nil)
	return answer.Get("data"), err
}

// LiveGateways counts the gateways that the control plane calls live.
func (w Workspace) LiveGateways(ctx context.Context) (int, error) {
	answer, err := w.manage(ctx, w.ManagementKey, http.MethodGet, "/v1/gateways", nil)
	if err != nil {
		return 0, err
	}
	live := 0
	for _, g := range answer.Get("data").Array() {
		if g.Get("state").Str == "live" {
			live++
		}
	}
	return live, nil
}

// Manage makes any other management call as the workspace's owner.
func (w Workspace) Manage(ctx context.Context, method, path string, body json.RawMessage) (Answer, error) {
	if body == nil {
		return w.manage(ctx, w.ManagementKey, method, path, nil)
	}
	return w.manage(ctx, w.ManagementKey, method, path, body)
}

func waiting(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return "?wait=" + strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

func publication(a Answer) Publication {
	p := a.Get("publication")
	return Publication{ID: p.Get("id").Str, Revision: p.Get("revision").Int(), Pending: p.Get("pending").Int()}
}
