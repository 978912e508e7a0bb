package logging_test

import (
	"bytes"
	"log"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/logging"
)

func TestTheStandardLoggerQuotesNobody(t *testing.T) {
	writer, flags := log.Writer(), log.Flags()
	t.Cleanup(func() { log.SetOutput(writer); log.SetFlags(flags) })
	var out bytes.Buffer
	l, err := logging.New(&out, logging.Default())
	require.NoError(t, err)
	logging.TakeStandard(l)

	// As net/http says it (transport.go, readLoopPeekFailLocked).
	log.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=%v", "HTTP/1.1 200 OK canary", nil)
	require.Contains(t, out.String(), "Unsolicited response received on idle HTTP channel")
	require.NotContains(t, out.String(), "canary")
	require.Contains(t, out.String(), `"cut":true`)
	out.Reset()
	log.Print("http: TLS handshake error")
	require.Contains(t, out.String(), "TLS handshake error")
}
