package document_test

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// deaf is a server that keeps connections and answers no question, as one that
// was restarted does for what was asked before.
func deaf(t *testing.T) *natsconn.Conn {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		_, err = c.Write([]byte(`INFO {"server_id":"deaf","version":"2.11.0","headers":true,"max_payload":1048576}` + "\r\n"))
		for lines := bufio.NewScanner(c); err == nil && lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "PING") {
				_, err = c.Write([]byte("PONG\r\n"))
			}
		}
	}()
	conn, err := natsconn.Connect(t.Context(), natsconn.Config{URL: "nats://" + listener.Addr().String()}, natsconn.Options{Log: natstest.Discard()})
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		_ = listener.Close()
		<-served
	})
	require.Eventually(t, conn.Connected, 20*time.Second, time.Millisecond)
	return conn
}

// TestASwallowedQuestionEndsByItself: no read waits as long as its caller
// would, who compares whole buckets and has minutes for that.
func TestASwallowedQuestionEndsByItself(t *testing.T) {
	reader := document.NewReader(deaf(t))
	for name, read := range map[string]func(ctx context.Context) error{
		"any":      func(ctx context.Context) error { _, err := reader.Any(ctx, wire.BucketPolicy, "a"); return err },
		"leader":   func(ctx context.Context) error { _, err := reader.Leader(ctx, wire.BucketPolicy, "a"); return err },
		"state":    func(ctx context.Context) error { _, err := reader.State(ctx, wire.BucketPolicy); return err },
		"count":    func(ctx context.Context) error { _, err := reader.Count(ctx, wire.BucketPolicy, "a.>"); return err },
		"names":    func(ctx context.Context) error { _, err := reader.Names(ctx, wire.BucketPolicy, "a.>"); return err },
		"hasLarge": func(ctx context.Context) error { _, err := reader.HasLarge(ctx, policy.Body{Name: "a"}); return err },
		"since": func(ctx context.Context) error {
			return reader.Since(ctx, wire.BucketPolicy, "a.>", 0, func(document.Entry) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			require.Error(t, read(ctx))
			require.NoError(t, ctx.Err(), "the caller's own deadline ended it")
		})
	}
}
