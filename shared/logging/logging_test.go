package logging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func TestContextAttributesReachTheRecord(t *testing.T) {
	var out bytes.Buffer
	log, err := logging.New(&out, logging.Default())
	require.NoError(t, err)
	ctx := logging.With(context.Background(), slog.String("request_id", "req_1"))
	ctx = logging.With(ctx, slog.String("workspace", "ws_1"))
	log.With(slog.String("component", "api")).InfoContext(ctx, "request served", slog.Int("status", 200))

	var record map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &record))
	require.Equal(t, "req_1", record["request_id"])
	require.Equal(t, "ws_1", record["workspace"])
	require.Equal(t, "api", record["component"])
	require.Equal(t, "request served", record["msg"])
	require.Regexp(t, `Z$`, record["time"])
}

func TestLevelAndFormat(t *testing.T) {
	var out bytes.Buffer
	log, err := logging.New(&out, logging.Config{Level: "warn", Format: "text"})
	require.NoError(t, err)
	log.Info("not written")
	log.Warn("written", slog.Any("secret", struct{ Token secret.String }{secret.NewString("canary")}))
	require.NotContains(t, out.String(), "not written")
	require.Contains(t, out.String(), "msg=written")
	require.NotContains(t, out.String(), "canary")
}

func TestBadConfigNamesWhatIsWanted(t *testing.T) {
	for _, c := range []logging.Config{{Level: "loud", Format: "json"}, {Level: "info", Format: "xml"}} {
		_, err := logging.New(&bytes.Buffer{}, c)
		require.ErrorContains(t, err, "want")
	}
}
