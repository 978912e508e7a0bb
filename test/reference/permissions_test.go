package reference_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/shared/wire"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
	"github.com/signalbox-dev/signalbox/test/reference"
)

// TestDeployPermissions runs the platform on the NATS configuration that the
// deployment guide shows, and tries what a gateway must not do.
func TestDeployPermissions(t *testing.T) {
	url := guidedNATS(t)
	refused := &violations{}
	providers, err := upstream.Start(simulator.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, providers.Close()) })
	keyed := fmt.Sprintf("providers:\n  - {slug: keyed, type: openai, base_url: %q}\n", providers.North.URL)
	control, gateway := processConfigs(t, url, strings.Replace(providers.Catalog(), "providers:\n", keyed, 1))
	keyring := filepath.Join(t.TempDir(), "keyring.json")
	_, err = seal.CreateFile(keyring)
	require.NoError(t, err)
	control.KeyringFile, gateway.KeyringFile = keyring, keyring
	control.NATS.User, control.NATS.Password = "controlplane", secret.NewString("control-password")
	gateway.NATS.User, gateway.NATS.Password = "gateway", secret.NewString("gateway-password")
	p, again := start(t, control, gateway, refused)
	p.Gateways = []string{again()}

	w, err := p.CreateWorkspace(t.Context(), "acme")
	require.NoError(t, err)
	key, publication, err := w.CreateKey(t.Context(), client.NewKey{Name: "k"}, soon)
	require.NoError(t, err)
	require.Zero(t, publication.Pending, "the gateway heard of the key and its receipt came back")
	answer, err := w.Chat(t.Context(), 0, key.Secret, upstream.Small, "Say hello")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	require.Eventually(t, func() bool {
		_, err := w.Log(t.Context(), answer.Header.Get(client.HeaderRequestID))
		return err == nil
	}, soon, often, "the request is in the log")
	require.Eventually(t, func() bool {
		ready, err := w.Do(t.Context(), client.Call{Method: http.MethodGet, URL: w.Gateways[0] + "/readyz?verbose"})
		return err == nil && strings.Contains(string(ready.Body), `"spool_pending":0`)
	}, soon, often, "the gateway was told that its usage is in Postgres")
	// A control plane has the gateway verify a provider key.
	brought, err := w.Manage(t.Context(), http.MethodPost, "/v1/byok", json.RawMessage(`{"provider":"keyed","name":"ours","key":"any-key-will-do"}`))
	require.NoError(t, err)
	verified, err := w.Manage(t.Context(), http.MethodPost, "/v1/byok/"+brought.Get("data.id").Str+"/verify", nil)
	require.NoError(t, err)
	require.Equal(t, "valid", verified.Get("data.verification.status").Str, "%s", verified.Body)
	// A gateway that was away reads what it missed.
	w.Gateways[0] = again(func() {
		_, err := w.RevokeKey(t.Context(), key.ID, 0)
		require.NoError(t, err)
	})
	require.Eventually(t, func() bool {
		answer, err := w.Chat(t.Context(), 0, key.Secret, upstream.Small, "Say hello")
		return err == nil && answer.Get("error.reason").Str == "key_revoked"
	}, soon, often, "the restarted gateway refuses the key")

	health, err := w.Manage(t.Context(), http.MethodGet, "/v1/routing/health", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, health.Status, "a gateway was asked what it publishes of endpoints: %s", health.Body)
	gatewayReads(t, control.NATS.Config, gateway.NATS.Config, refused)
	gatewayLimits(t, control.NATS.Config, gateway.NATS.Config, refused)
	gatewayCounts(t, gateway.NATS.Config, refused)
	require.Empty(t, refused.list(), "everything that the processes do is allowed")

	for _, subject := range []string{
		"$KV.POLICY.ws.x", "$KV.POLICY.preset.x.1", "$KV.POLICY.public.x.y", "$KV.KEYS.x", "$KV.CATALOG.current", "$O.SNAPSHOTS.C.x", "push.keys.x",
		"$JS.API.STREAM.UPDATE.KV_POLICY", "$JS.API.STREAM.PURGE.KV_KEYS", "$JS.API.STREAM.DELETE.USAGE", "$JS.API.STREAM.PURGE.RATE",
		"$JS.API.STREAM.MSG.GET.USAGE", "$JS.API.CONSUMER.CREATE.USAGE", "_INBOX_CONTROLPLANE.x", "gateway.check",
		"cells.epoch", "$JS.API.STREAM.PURGE.CELLS", "$JS.API.STREAM.MSG.DELETE.CELLS",
	} {
		require.True(t, denied(t, gateway.NATS.Config, func(nc *nats.Conn) error { return nc.Publish(subject, []byte("{}")) }), "publish to %s", subject)
	}
	for _, subject := range []string{"usage.>", "_INBOX_CONTROLPLANE.>", "gateway.>", "gateway.checked.>", "$KV.>", ">"} {
		require.True(t, denied(t, gateway.NATS.Config, func(nc *nats.Conn) error {
			_, err := nc.SubscribeSync(subject)
			return err
		}), "subscribe to %s", subject)
	}
	require.True(t, denied(t, control.NATS.Config, func(nc *nats.Conn) error { return nc.Publish("usage.x", nil) }), "the control plane makes usage up")
}

// guidedNATS runs a server with the configuration of the deployment guide.
func guidedNATS(t *testing.T) (url string) {
	t.Helper()
	blocks, err := reference.Blocks(filepath.Join(root, "docs", "guides", "deploy.md"), "conf")
	require.NoError(t, err)
	require.Len(t, blocks, 1)
	t.Setenv("SIGNALBOX_NATS_CONTROLPLANE", "control-password")
	t.Setenv("SIGNALBOX_NATS_GATEWAY", "gateway-password")
	path := filepath.Join(t.TempDir(), "nats.conf")
	require.NoError(t, os.WriteFile(path, []byte(blocks[0].Text), 0o600))
	options, err := server.ProcessConfigFile(path)
	require.NoError(t, err)
	options.Host, options.Port = "127.0.0.1", server.RANDOM_PORT
	options.StoreDir = t.TempDir()
	options.NoLog, options.NoSigs = true, true
	s, err := server.NewServer(options)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(soon))
	return s.ClientURL()
}

// gatewayReads has the control plane's user write a body that does not fit into
// a bucket, and the gateway's user read it, and what was missed in a gap.
func gatewayReads(t *testing.T, control, gateway natsconn.Config, logged io.Writer) {
	t.Helper()
	body := bytes.Repeat([]byte("policy "), 4*wire.MaxKVBody)
	log := slog.New(slog.NewTextHandler(logged, nil))
	sum := sha256.Sum256(body)
	name := wire.CatalogBody(hex.EncodeToString(sum[:]))
	connected := func(c natsconn.Config) *natsconn.Conn {
		conn, err := natsconn.Connect(t.Context(), c, natsconn.Options{Log: log})
		require.NoError(t, err)
		require.Eventually(t, conn.Connected, soon, often)
		return conn
	}
	writing, reading := connected(control), connected(gateway)
	defer writing.Close()
	defer reading.Close()
	where, err := document.NewWriter(writing).Body(t.Context(), wire.BucketCatalog, name, body)
	require.NoError(t, err)
	require.Equal(t, policy.InObject, where)
	reader := document.NewReader(reading)
	read, err := reader.Body(t.Context(), wire.BucketCatalog, policy.Pointer{Name: name, Where: where})
	require.NoError(t, err)
	require.Equal(t, body, read)

	// A version of a preset, and a public preset.
	version := policy.PresetVersion{Schema: policy.Schema, Preset: id.New[id.PresetKind](id.SystemSource()), Version: 1}
	_, err = document.NewWriter(writing).PresetVersion(t.Context(), version)
	require.NoError(t, err)
	_, err = document.NewWriter(writing).PublicPreset(t.Context(), "acme", "help.desk:v1", policy.PublicPreset{Preset: version.Preset, Version: 1, Revision: 1})
	require.NoError(t, err)
	for _, name := range []string{wire.PresetVersion(version.Preset, 1), wire.PublicPreset("acme", "help.desk:v1")} {
		_, err = reader.Any(t.Context(), wire.BucketPolicy, name)
		require.NoError(t, err, name)
		_, err = reader.Leader(t.Context(), wire.BucketPolicy, name)
		require.NoError(t, err, name)
	}

	// What a gateway asks for after a gap.
	for bucket, filter := range map[string]string{wire.BucketKeys: document.KeyFilter, wire.BucketPolicy: document.PointerFilter} {
		found := 0
		require.NoError(t, reader.Since(t.Context(), bucket, filter, 0, func(document.Entry) error { found++; return nil }))
		require.Positive(t, found, bucket)
	}
}

// gatewayLimits has the control plane's user mark the documents of strict limits,
// and the gateway's user do with them what a gateway does.
func gatewayLimits(t *testing.T, control, gateway natsconn.Config, logged io.Writer) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(logged, nil))
	connected := func(c natsconn.Config) *natsconn.Conn {
		conn, err := natsconn.Connect(t.Context(), c, natsconn.Options{Log: log})
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		require.Eventually(t, conn.Connected, soon, often)
		return conn
	}
	write := func(conn *natsconn.Conn, subject string) {
		reply, err := conn.NATS().RequestWithContext(t.Context(), subject, []byte("x"))
		require.NoError(t, err, subject)
		require.NotContains(t, string(reply.Data), "error", subject)
	}
	write(connected(control), wire.SubjectCellsEpoch)
	conn := connected(gateway)
	for _, subject := range []string{
		wire.SubjectCellsMinute + ".ws.name", wire.SubjectCellsSlots + ".ws.name", wire.SubjectCellsHeld + ".ws.name", wire.SubjectCellsProbe + ".gw",
	} {
		write(conn, subject)
	}
	for ask, body := range map[string]string{
		"$JS.API.STREAM.MSG.GET." + wire.StreamCells: `{"last_by_subj":"` + wire.SubjectCellsEpoch + `"}`, "$JS.API.STREAM.INFO." + wire.StreamCells: "",
	} {
		reply, err := conn.NATS().RequestWithContext(t.Context(), ask, []byte(body))
		require.NoError(t, err, ask)
		require.NotContains(t, string(reply.Data), `"error"`, ask)
	}
	beats, err := conn.NATS().SubscribeSync(wire.SubjectHeartbeat + ".*")
	require.NoError(t, err)
	_, err = beats.NextMsgWithContext(t.Context())
	require.NoError(t, err, "gateways hear each other")
}

// gatewayCounts has the gateway's user count and read what was used in the last
// minute, and count what was used on a day and ever.
func gatewayCounts(t *testing.T, gateway natsconn.Config, logged io.Writer) {
	t.Helper()
	conn, err := natsconn.Connect(t.Context(), gateway, natsconn.Options{Log: slog.New(slog.NewTextHandler(logged, nil))})
	require.NoError(t, err)
	defer conn.Close()
	require.Eventually(t, conn.Connected, soon, often)
	ws := id.New[id.WorkspaceKind](id.SystemSource())
	increased := nats.NewMsg("")
	for _, subject := range []string{
		wire.SubjectRateMark, wire.RateIn(1, ws, "s", 1), wire.SpendOn("tried", time.Now(), ws, wire.AccountWorkspace), wire.SpendEver("tried", ws, wire.AccountWorkspace),
	} {
		increased.Subject = subject
		increased.Header.Set("Nats-Incr", "1")
		_, err := conn.JetStream().PublishMsg(t.Context(), increased)
		require.NoError(t, err, subject)
	}
	for _, ask := range []string{"$JS.API.STREAM.MSG.GET." + wire.StreamRate, "$JS.API.DIRECT.GET." + wire.StreamRate} {
		reply, err := conn.NATS().RequestWithContext(t.Context(), ask, []byte(`{"last_by_subj":"`+wire.SubjectRateMark+`"}`))
		require.NoError(t, err, ask)
		require.NotContains(t, string(reply.Data), "error", ask)
	}
}

// denied tries something with a user's credentials and reports whether the
// server refused it for want of permission.
func denied(t *testing.T, c natsconn.Config, try func(*nats.Conn) error) bool {
	t.Helper()
	nc, err := nats.Connect(c.URL, nats.UserInfo(c.User, c.Password.Reveal()),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // LastError has it
	require.NoError(t, err)
	defer nc.Close()
	require.NoError(t, try(nc))
	require.NoError(t, nc.Flush())
	// The refusal is written before the answer to the flush.
	return errors.Is(nc.LastError(), nats.ErrPermissionViolation)
}

// violations keeps the log lines that tell of a refusal by NATS.
type violations struct {
	mu    sync.Mutex
	lines []string
}

func (v *violations) Write(line []byte) (int, error) {
	if strings.Contains(strings.ToLower(string(line)), "permissions violation") {
		v.mu.Lock()
		v.lines = append(v.lines, string(line))
		v.mu.Unlock()
	}
	return len(line), nil
}

func (v *violations) list() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lines
}
