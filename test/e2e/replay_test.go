package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
)

// The values that requests carry here.
const (
	canaryPlan = "Canary-Oleander"
	otherPlan  = "canary-foxglove"
)

// byPlan is a graph that sends the requests of a plan to another model.
func byPlan(op string) string {
	return `{"schema_version":1,"entry":"start","nodes":[{"id":"start","type":"start","next":"plan"},
		{"id":"plan","type":"condition","when":{"source":"metadata","path":"customer_plan","op":"` + op + `","value":"canary-oleander"},"true":"other","false":"end"},
		{"id":"other","type":"model","model":"sim/both","next":"end"},{"id":"end","type":"end"}]}`
}

// TestReplayOfRealTraffic asks through real gateways under a route whose only
// versions are drafts, and has the drafts say what they would have changed.
func TestReplayOfRealTraffic(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 2, Models: []string{"plain"}})
	key := p.Key()
	made := p.Change(http.MethodPost, "/v1/routing/dynamic-routes", `{"name":"plans","config":`+byPlan("equals")+`}`)
	route := "/v1/routing/dynamic-routes/" + made.Get("data.id").Str
	p.Change(http.MethodPut, route+"/keys", `{"key_ids":["`+key.ID+`"]}`)

	var header http.Header
	ask := func(plan string, times int) {
		for i := range times {
			body := fmt.Sprintf(`{"model":"sim/plain","metadata":{"customer_plan":%q},"messages":[{"role":"user","content":"hello"}]}`, plan)
			answer, err := p.Post(t.Context(), i%2, key.Secret, "/v1/chat/completions", []byte(body))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			header = answer.Header
		}
		p.Logged(header) // the last one of one gateway; the report below waits for all
	}
	ask(canaryPlan, 7)
	ask(otherPlan, 4)
	replay := func(version string, requests int64) gjson.Result {
		t.Helper()
		var report gjson.Result
		p.Eventually(func() bool {
			answer, err := p.Manage(t.Context(), http.MethodPost, route+"/versions/"+version+"/replay", json.RawMessage(`{}`))
			report = answer.Get("data")
			return err == nil && report.Get("requests").Int() == requests
		}, "%d requests in the log", requests)
		return report
	}
	report := replay("1", 11)
	require.Equal(t, []int64{11, 7, 7, 0}, numbers(report, "comparable", "moved", "moved_models", "unknown_total"), report.Raw)
	require.Equal(t, "null", report.Get("baseline_version").Raw)
	require.JSONEq(t, `[{"from":"sim/plain","to":"sim/both","requests":7}]`, report.Get("models").Raw)
	require.EqualValues(t, 7, report.Get(`by_node.#(node=="other").moved`).Int(), "there is no other way that it could leave")
	require.EqualValues(t, 11, report.Get(`by_node.#(node=="plan").requests`).Int())

	p.Change(http.MethodPost, route+"/versions", `{"config":`+byPlan("matches")+`}`)
	report = replay("2", 11)
	require.Equal(t, []int64{0, 0, 11}, numbers(report, "comparable", "moved", "unknown_total"), report.Raw)
	require.JSONEq(t, `[{"version":2,"node":"plan","reason":"hidden","requests":11}]`, report.Get("unknown").Raw)
	require.EqualValues(t, 11, report.Get(`by_node.#(node=="plan").unknown`).Int())
	nowhere(t, p, otherPlan)

	p.Change(http.MethodPatch, "/v1/settings", `{"replay_values":true}`)
	ask("of canary-oleander", 2)
	report = replay("2", 13)
	require.Equal(t, []int64{2, 2, 11}, numbers(report, "comparable", "moved", "unknown_total"), report.Raw)
	p.Change(http.MethodPost, route+"/versions/1/deploy", "")
	report = replay("2", 13)
	require.EqualValues(t, 1, report.Get("baseline_version").Int())
	require.Equal(t, []int64{2, 2, 11}, numbers(report, "comparable", "moved", "unknown_total"), report.Raw)
	require.EqualValues(t, 2, report.Get(`by_node.#(node=="plan").moved`).Int(), "which parts them from the other version's way")
}

func numbers(of gjson.Result, names ...string) (list []int64) {
	for _, name := range names {
		list = append(list, of.Get(name).Int())
	}
	return list
}

// nowhere holds everything that is kept to not having a text: each row of the
// database, and each file of NATS, of the gateways' spools and of their last good
// policy.
func nowhere(t *testing.T, p *harness.Platform, text string) {
	t.Helper()
	kept := map[string][]byte{}
	conn, err := pgx.Connect(t.Context(), p.DatabaseURL())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	rows, err := conn.Query(t.Context(), "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, table := range tables {
		rows, err := conn.Query(t.Context(), "SELECT t::text FROM "+pgx.Identifier{table}.Sanitize()+" t")
		require.NoError(t, err)
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		for _, row := range list {
			kept["table "+table] = append(kept["table "+table], row...)
		}
	}
	require.NotEmpty(t, kept)
	require.NoError(t, filepath.WalkDir(p.Dir(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		kept[path], err = os.ReadFile(path)
		return err
	}))
	logged, spooled := false, false
	for where, content := range kept {
		if bytes.Contains(content, []byte("hmac")) {
			table := strings.HasPrefix(where, "table request_log")
			logged, spooled = logged || table, spooled || !table
		}
		require.False(t, bytes.Contains(bytes.ToLower(content), []byte(text)), "%s has it", where)
	}
	require.True(t, logged && spooled, "the digests are there, so this looked where the texts would be")
}
