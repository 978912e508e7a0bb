package reference_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsserver"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
	"github.com/signalbox-dev/signalbox/test/reference"
)

// TestReferenceCurl runs every curl line of the pages against a platform with
// the models of `signalbox dev`.
func TestReferenceCurl(t *testing.T) {
	p, key := devLike(t)
	getenv := func(name string) string {
		return map[string]string{"SIGNALBOX_API_KEY": key.Secret}[name]
	}
	for page, least := range map[string]int{"README.md": 1, filepath.Join("docs", "reference", "inference-api.md"): 12} {
		ran := 0
		for _, language := range []string{"", "sh"} {
			blocks, err := reference.Blocks(filepath.Join(root, page), language)
			require.NoError(t, err)
			for _, block := range blocks {
				requests, err := reference.Requests(block, getenv)
				require.NoError(t, err, page)
				for _, r := range requests {
					ran++
					t.Run(fmt.Sprintf("%s:%d", page, r.Line), func(t *testing.T) { answers(t, p, r) })
				}
			}
		}
		require.GreaterOrEqual(t, ran, least, "curl lines that were found in %s", page)
	}
}

func answers(t *testing.T, p client.Platform, r reference.Request) {
	t.Helper()
	const written = "http://127.0.0.1:8080"
	require.True(t, strings.HasPrefix(r.URL, written+"/"), "the page writes the address of `make dev`: %s", r.URL)
	url := p.Gateways[0] + strings.TrimPrefix(r.URL, written)
	resp, err := p.Open(t.Context(), client.Call{Method: r.Method, URL: url, Header: r.Header, Body: []byte(r.Body)})
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, r.Status, resp.StatusCode, "%s", body)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		require.True(t, strings.HasSuffix(string(body), "data: [DONE]\n\n"), "the stream is whole: %s", body)
	}
}

// devLike is a platform with the simulated providers of `signalbox dev`.
func devLike(t *testing.T) (client.Platform, client.Key) {
	t.Helper()
	nats, err := natsserver.Start(natsserver.Options{StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(nats.Shutdown)
	provider, err := upstream.Listen("127.0.0.1:0", simulator.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, provider.Close()) })
	control, gateway := processConfigs(t, nats.URL(), simulator.Catalog(provider.URL))
	keyring := filepath.Join(t.TempDir(), "keyring.json")
	_, err = seal.LoadOrCreateFile(keyring)
	require.NoError(t, err)
	control.KeyringFile, gateway.KeyringFile = keyring, keyring
	p, again := start(t, control, gateway, io.Discard)
	p.Gateways = []string{again()}
	w, err := p.CreateWorkspace(t.Context(), "acme")
	require.NoError(t, err)
	key, publication, err := w.CreateKey(t.Context(), client.NewKey{Name: "docs"}, soon)
	require.NoError(t, err)
	require.Zero(t, publication.Pending)
	return p, key
}

func TestCurlLinesAreReadAsTheShellDoes(t *testing.T) {
	block := reference.Block{Line: 10, Text: "export X=1\n# answers 401\ncurl -N http://h/p?a=b \\\n  -H \"A: $KEY\" \\\n  -d '{\"a\": \"$KEY\",\n  \"b\": 1}'\ncurl … -d x\ncurl http://h/q\n"}
	got, err := reference.Requests(block, func(string) string { return "v" })
	require.NoError(t, err)
	require.Equal(t, []reference.Request{
		{
			Line: 12, Method: http.MethodPost, URL: "http://h/p?a=b", Body: "{\"a\": \"$KEY\",\n  \"b\": 1}", Status: http.StatusUnauthorized,
			Header: http.Header{"A": {"v"}, "Content-Type": {"application/x-www-form-urlencoded"}},
		},
		{Line: 17, Method: http.MethodGet, URL: "http://h/q", Header: http.Header{}, Status: http.StatusOK},
	}, got)

	for _, wrong := range []string{"curl --compressed http://h", "curl http://h http://i", "curl -H", "curl -s", "curl 'http://h\n", "curl -H nocolon http://h"} {
		_, err := reference.Requests(reference.Block{Text: wrong}, func(string) string { return "v" })
		require.Error(t, err, wrong)
	}
	_, err = reference.Requests(reference.Block{Text: `curl "http://$HOST"`}, func(string) string { return "" })
	require.ErrorContains(t, err, "HOST")
}
