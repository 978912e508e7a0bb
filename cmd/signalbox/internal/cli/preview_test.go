package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

const previewed = `{"data":{"surface":"chat","ordering":"sampled","max_attempts":8,"refusal":null,
"chain":[{"model":"acme/small","candidates":[{"provider":"north","endpoint":"north:acme/small","share":0.9,
"credentials":[{"source":"byok","id":"cred_1"},{"source":"managed"}]},{"provider":"south","endpoint":"south:acme/small","share":0.1,"credentials":[{"source":"managed"},{"source":"byok","id":"cred_2"}]}]}],
"decision":{"requested_model":"acme/small","policy_revision":4,"catalog_revision":2,"seed":"1",
"policy":[{"field":"routing_mode","rung":"workspace","value":"price"}],"ordering":"sampled","chain":["acme/small"],
"candidates":[{"model":"acme/small","endpoint":"north:acme/small","provider":"north","rank":0,"score":1,"share":0.9},
{"model":"acme/small","endpoint":"south:acme/small","provider":"south","rank":1,"score":2,"share":0.1}],
"exclusions":[{"model":"acme/small","endpoint":"east:acme/small","stage":"region","reason":"region_mismatch"}]}}}`

const refusedPreview = `{"data":{"surface":"chat","chain":[],"refusal":{"status":404,"code":"model_not_found","message":"There is no model with this id."},
"decision":{"requested_model":"acme/none","policy_revision":4,"catalog_revision":2,"seed":"1","refusal":{"code":"model_not_found"}}}}`

// A preview reads the body from a file or the standard input, sends it as it
// is, and tells the answer as a story.
func TestPreview(t *testing.T) {
	answer := previewed
	var got *http.Request
	var body string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		_, _ = io.WriteString(w, answer)
	}))
	defer gateway.Close()
	run := func(stdin string, args ...string) result {
		var out, errs bytes.Buffer
		code := cli.Execute(t.Context(), cli.Deps{
			Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: t.TempDir(), HTTP: gateway.Client(), Version: "test",
			Getenv: func(name string) string {
				return map[string]string{"SIGNALBOX_GATEWAY_URL": gateway.URL, "SIGNALBOX_API_KEY": "sb_v1_test"}[name]
			},
		}, append([]string{"preview"}, args...))
		return result{t: t, code: code, out: out.String(), err: errs.String()}
	}
	file := filepath.Join(t.TempDir(), "body.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"model":"acme/small"}`), 0o600))

	run("", "-f", file).is(cli.ExitOK).shows("would go to acme/small, tried at north, then south",
		"The workspace's own keys come first: cred_1 at north.", "drawn for each request",
		"At most 8 upstream calls", "from the workspace", "90 %", "region_mismatch")
	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, "/v1/routing/preview", got.URL.Path)
	require.Equal(t, "chat", got.URL.Query().Get("surface"))
	require.Equal(t, "Bearer sb_v1_test", got.Header.Get("Authorization"))
	require.JSONEq(t, `{"model":"acme/small"}`, body)

	require.Equal(t, "chat", run(`{"x":1}`, "-f", "-", "--surface", "gemini", "--model", "acme/small", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)["surface"])
	require.JSONEq(t, `{"x":1}`, body)
	require.Equal(t, "acme/small", got.URL.Query().Get("model"))

	answer = refusedPreview
	run("{}", "-f", "-").is(cli.ExitOK).shows("would be refused with status 404: There is no model with this id.", "No candidate was left")

	answer = `{"data":{}}`
	require.Contains(t, run("{}", "-f", "-").err, "neither a model nor a refusal")
	for _, args := range [][]string{{}, {"-f", filepath.Join(t.TempDir(), "absent.json")}} {
		require.Equal(t, cli.ExitUsage, run("", args...).code)
	}
}
