package dev_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dev"
	"github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is a temporary folder that the user that Postgres runs as can reach;
// a cluster in any other moves to the machine's state directory and stays there.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		require.NoError(t, os.Chmod(at, 0o755))
	}
	return dir
}

func options(dir string) dev.Options {
	o := dev.Default()
	o.Data, o.GatewayListen, o.ControlListen = dir, "127.0.0.1:0", "127.0.0.1:0"
	o.Version, o.Out, o.Log = "test", io.Discard, io.Discard
	return o
}

// start runs the platform until stop is called, and waits for dev.json.
func start(t *testing.T, o dev.Options) (access dev.Access, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- dev.Run(ctx, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
		http.DefaultClient.CloseIdleConnections()
	})
	t.Cleanup(stop)
	path := filepath.Join(o.Data, "dev.json")
	require.Eventually(t, func() bool {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("dev ended: %v", err)
		default:
		}
		raw, err := os.ReadFile(path)
		return err == nil && json.Unmarshal(raw, &access) == nil
	}, 60*time.Second, 10*time.Millisecond)
	return access, stop
}

func chat(t *testing.T, access dev.Access, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, access.GatewayURL+"/v1/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+access.APIKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

const hello = `{"model": "signalbox-sim/small", "messages": [{"role": "user", "content": "Hello"}]}`

func TestEverythingRunsAndASecondStartFindsIt(t *testing.T) {
	o := options(folder(t))
	o.Gateways = 2
	var out transcript.Buffer
	o.Out = &out
	first, stop := start(t, o)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), first.APIKey) }, 5*time.Second, time.Millisecond)

	status, text := chat(t, first, hello)
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, "You wrote")
	status, text = chat(t, first, strings.Replace(hello, `{"model"`, `{"stream": true, "model"`, 1))
	require.Equal(t, http.StatusOK, status, text)
	require.True(t, strings.HasSuffix(text, "data: [DONE]\n\n"), text)

	webhook := `{"name": "here", "url": "http://127.0.0.1:1/alerts", "events": ["budget.alert"]}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, first.ControlURL+"/v1/webhooks", strings.NewReader(webhook))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+first.ManagementKey)
	r.Header.Set("Content-Type", "application/json")
	made, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, made.Body.Close())
	require.Equal(t, http.StatusCreated, made.StatusCode, "a receiver on this machine can be tried")

	today := time.Now().UTC().Truncate(24 * time.Hour)
	require.NoError(t, app.Reconcile(t.Context(), "", app.Books{First: today, Last: today, Database: secret.NewString(first.DatabaseURL)},
		func(d app.Difference) error { return fmt.Errorf("the books differ: %+v", d) }))

	info, err := os.Stat(filepath.Join(o.Data, "dev.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds credentials")
	stop()
	require.NoFileExists(t, filepath.Join(o.Data, "dev.json"), "it is there only while everything is ready")

	second, _ := start(t, o)
	require.Equal(t, first.APIKey, second.APIKey)
	require.Equal(t, first.ManagementKey, second.ManagementKey)
	require.Equal(t, first.WorkspaceID, second.WorkspaceID)
	status, text = chat(t, second, hello)
	require.Equal(t, http.StatusOK, status, text)
}

func TestThePrintedCurlLineIsTheOneThatWorks(t *testing.T) {
	var out transcript.Buffer
	o := options(folder(t))
	o.Out = &out
	access, _ := start(t, o)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "Ctrl-C") }, 5*time.Second, time.Millisecond)
	_, line, ok := strings.Cut(out.String(), "\n  curl ")
	require.True(t, ok, out.String())
	line, _, _ = strings.Cut(line, "\n")
	require.NotContains(t, line, "$", "it needs no variable")
	require.Contains(t, line, access.GatewayURL+"/v1/chat/completions")
	require.Contains(t, line, "'Authorization: Bearer "+access.APIKey+"'")
	_, body, _ := strings.Cut(line, "-d '")
	status, text := chat(t, access, strings.TrimSuffix(body, "'"))
	require.Equal(t, http.StatusOK, status, text)
}

var providersLine = regexp.MustCompile(`Providers +openai`)

func TestProviderKeysOfTheEnvironmentOpenThatProvidersModels(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-canary-of-the-test")
	o := options(folder(t))
	var out, log transcript.Buffer
	o.Out, o.Log, o.LogLevel = &out, &log, "debug"
	access, stop := start(t, o)
	require.Eventually(t, func() bool { return providersLine.MatchString(out.String()) }, 5*time.Second, time.Millisecond)
	request, err := http.NewRequest(http.MethodGet, access.GatewayURL+"/v1/models?author=openai", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+access.APIKey)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	require.NoError(t, err)
	require.Contains(t, string(text), `"openai/gpt-`)
	stop()
	require.NotContains(t, log.String(), "sk-canary")
	require.NoError(t, filepath.WalkDir(filepath.Join(o.Data, "gateway-1"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NotContains(t, string(raw), "sk-canary", path)
		return err
	}))
}

func TestAUsersCatalogGoesOverEverything(t *testing.T) {
	dir := folder(t)
	file := filepath.Join(dir, "mine.yaml")
	require.NoError(t, os.WriteFile(file, []byte("models:\n  - id: acme/mine\n    endpoints:\n      - {provider: sim, upstream_model: small}\n"), 0o600))
	o := options(filepath.Join(dir, "data"))
	o.Catalog = file
	access, _ := start(t, o)
	status, text := chat(t, access, strings.Replace(hello, "signalbox-sim/small", "acme/mine", 1))
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, `"model":"acme/mine"`)
}

func TestStartsThatCannotSucceedSayWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	require.NoError(t, os.WriteFile(broken, []byte("models:\n  - id: no slash\n  - idd: a/b\n"), 0o600))

	cases := map[string]struct {
		change func(*dev.Options)
		want   []string
	}{
		"occupied gateway port": {func(o *dev.Options) { o.GatewayListen = taken.Addr().String() }, []string{taken.Addr().String(), "in use", "--gateway-listen"}},
		"occupied control port": {func(o *dev.Options) { o.ControlListen = taken.Addr().String() }, []string{taken.Addr().String(), "in use", "--control-listen"}},
		"occupied NATS port":    {func(o *dev.Options) { o.NATSListen = taken.Addr().String() }, []string{"--nats-listen"}},
		"broken catalog":        {func(o *dev.Options) { o.Catalog = broken }, []string{"broken.yaml:2", "broken.yaml:3", "idd"}},
		"missing catalog":       {func(o *dev.Options) { o.Catalog = "/nowhere.yaml" }, []string{"/nowhere.yaml"}},
		"unreachable database":  {func(o *dev.Options) { o.DatabaseURL = "postgres://nobody@127.0.0.1:1/none" }, []string{"DATABASE_URL", "127.0.0.1:1"}},
		"malformed database":    {func(o *dev.Options) { o.DatabaseURL = "not a url" }, []string{"DATABASE_URL"}},
		"no gateway":            {func(o *dev.Options) { o.Gateways = 0 }, []string{"--gateways"}},
		"bad address":           {func(o *dev.Options) { o.GatewayListen = "nonsense" }, []string{"--gateway-listen", "host:port"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := options(folder(t))
			c.change(&o)
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			err := dev.Run(ctx, o)
			require.NotErrorIs(t, ctx.Err(), context.DeadlineExceeded, "it hung")
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.NoFileExists(t, filepath.Join(o.Data, "dev.json"))
		})
	}
}

func TestDamagedFoldersSayWhatToDo(t *testing.T) {
	t.Run("credentials", func(t *testing.T) {
		o := options(folder(t))
		require.NoError(t, os.WriteFile(filepath.Join(o.Data, "credentials.json"), []byte("{"), 0o600))
		require.ErrorContains(t, dev.Run(t.Context(), o), "remove it")
	})
	t.Run("postgres", func(t *testing.T) {
		o := options(folder(t))
		data := filepath.Join(o.Data, "postgres", "data")
		require.NoError(t, os.MkdirAll(data, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(data, "something"), []byte("else"), 0o644))
		require.ErrorContains(t, dev.Run(t.Context(), o), "damaged")
	})
	t.Run("a second dev on one folder", func(t *testing.T) {
		o := options(folder(t))
		start(t, o)
		require.ErrorContains(t, dev.Run(t.Context(), o), "--data")
	})
	t.Run("no Postgres binaries", func(t *testing.T) {
		t.Setenv("SIGNALBOX_PG_BIN", t.TempDir())
		require.ErrorContains(t, dev.Run(t.Context(), options(folder(t))), "Postgres")
	})
}

// Under a deleted data folder nothing can work; it says so and ends.
func TestADeletedDataFolderEndsIt(t *testing.T) {
	o := options(folder(t))
	ended := make(chan error, 1)
	go func() { ended <- dev.Run(context.WithoutCancel(t.Context()), o) }()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(o.Data, "dev.json"))
		return err == nil
	}, 60*time.Second, 10*time.Millisecond)
	require.NoError(t, os.Remove(filepath.Join(o.Data, "lock")))
	require.ErrorContains(t, <-ended, "was deleted while this ran")
	http.DefaultClient.CloseIdleConnections()
}
