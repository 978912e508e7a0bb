package reference_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

const (
	soon          = 20 * time.Second
	often         = 20 * time.Millisecond
	operatorToken = "operator-token-of-the-test-platform"
)

// processConfigs are those of two processes beside a NATS server.
func processConfigs(t *testing.T, natsURL, catalog string) (controlplane.Config, dataplane.Config) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	require.NoError(t, os.WriteFile(file, []byte(catalog), 0o600))
	control := controlplane.Default()
	control.Listen = "127.0.0.1:0"
	control.Database.URL = secret.NewString(pgtest.New(t).URL)
	control.NATS.URL = natsURL
	control.OperatorToken = secret.NewString(operatorToken)
	control.CatalogFiles = []string{file}
	gateway := dataplane.Default()
	gateway.Listen = "127.0.0.1:0"
	gateway.DataDir = t.TempDir()
	gateway.NATS.URL = natsURL
	return control, gateway
}

// start runs a control plane, and returns what runs the gateway and says where
// it is. Called again it stops the gateway first, and does what it is given
// while there is none.
func start(t *testing.T, control controlplane.Config, gateway dataplane.Config, logged io.Writer) (client.Platform, func(...func()) string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(logged, nil))
	c, err := controlplane.New(t.Context(), control, controlplane.Deps{Log: log, Now: time.Now, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(serve(t, c.Run))
	p := client.Platform{Control: "http://" + c.Addr(), Operator: operatorToken, HTTP: &http.Client{Transport: &http.Transport{}}}
	ready := func(url string) string {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		require.NoError(t, p.AwaitReady(ctx, url+"/readyz"))
		return url
	}
	ready(p.Control)
	stop := func() {}
	t.Cleanup(func() { stop() })
	return p, func(between ...func()) string {
		p.HTTP.CloseIdleConnections()
		stop()
		for _, do := range between {
			do()
		}
		g, err := dataplane.New(t.Context(), gateway, dataplane.Deps{Log: log, Now: time.Now, Version: "test", AccessLog: io.Discard})
		require.NoError(t, err)
		stop = serve(t, g.Run)
		return ready("http://" + g.Addr())
	}
}

// serve runs an app until the function that it returns is called.
func serve(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}
