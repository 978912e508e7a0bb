package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

func TestRunServesUntilTheContextEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	// Nothing answers at the NATS address: a gateway starts all the same.
	require.NoError(t, os.WriteFile(file, []byte("listen: "+address+"\ndata_dir: "+t.TempDir()+"\nnats:\n  url: nats://127.0.0.1:1\nhttp:\n  drain_timeout: 1s\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"--config", file}, io.Discard, io.Discard) }()
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

func TestWrongSettingsAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	require.NoError(t, os.WriteFile(file, []byte("listn: :1\n"), 0o600))
	require.ErrorContains(t, run(t.Context(), []string{"--config", file}, io.Discard, io.Discard), "listn")
	t.Setenv("SIGNALBOX_NATS_REPLICAS", "many")
	require.ErrorContains(t, run(t.Context(), nil, io.Discard, io.Discard), "replicas")
}

func TestVersion(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"--version"}, &out, io.Discard))
	require.Equal(t, "dev\n", out.String())
}

// A hangup has a gateway look at its keyring, and does not end it.
func TestAHangupIsNoEnd(t *testing.T) {
	dir := t.TempDir()
	keyring := filepath.Join(dir, "keyring.json")
	first, err := seal.CreateFile(keyring)
	require.NoError(t, err)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	t.Setenv("SIGNALBOX_LISTEN", address)
	t.Setenv("SIGNALBOX_DATA_DIR", filepath.Join(dir, "data"))
	t.Setenv("SIGNALBOX_NATS_URL", "nats://127.0.0.1:1")
	t.Setenv("SIGNALBOX_KEYRING_FILE", keyring)
	t.Setenv("SIGNALBOX_HTTP_DRAIN_TIMEOUT", "1s")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- run(ctx, nil, io.Discard, io.Discard) }()
	shows := func(text string) {
		t.Helper()
		require.Eventually(t, func() bool {
			response, err := http.Get("http://" + address + "/metrics")
			if err != nil {
				return false
			}
			defer func() { _ = response.Body.Close() }()
			page, err := io.ReadAll(response.Body)
			return err == nil && strings.Contains(string(page), text)
		}, 20*time.Second, 10*time.Millisecond)
	}
	shows("signalbox_keyring_taken_total 0\n")
	rotated, err := first.Rotate()
	require.NoError(t, err)
	require.NoError(t, rotated.WriteFile(keyring))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	shows("signalbox_keyring_taken_total 1\n")
	cancel()
	require.NoError(t, <-done)
	http.DefaultClient.CloseIdleConnections()
}
