package checks_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/checks"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

var question = wire.CheckRequest{Workspace: id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001"), Provider: "north", Sealed: []byte("sealed")}

func TestOneGatewayIsAsked(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	asker := checks.NewAsker(conn, id.SystemSource())
	_, err := asker.Check(t.Context(), question)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.ErrorIs(t, err, byok.ErrNotAsked, "it is known at once that nobody is there")

	answers := make(chan []byte, 8)
	asked := make(chan wire.CheckRequest, 8)
	for range 2 {
		gateway := server.Connect().NATS()
		_, err := gateway.QueueSubscribe(wire.SubjectCheck, wire.QueueCheck, func(m *nats.Msg) {
			var q wire.CheckRequest
			if json.Unmarshal(m.Data, &q) == nil {
				asked <- q
			}
			_ = m.Respond(<-answers) // the test fails by what it does not hear
		})
		require.NoError(t, err)
		require.NoError(t, gateway.Flush())
	}
	answers <- []byte(`{"status":"valid","http_status":200,"call":"list_models"}`)
	reply, err := asker.Check(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, wire.CheckReply{Status: wire.CheckValid, HTTPStatus: 200, Call: wire.CheckListModels}, reply)
	require.Equal(t, question, <-asked)
	require.Empty(t, asked, "one of them")

	for _, unreadable := range []string{`{`, `{}`, ``, `{"status":"splendid","call":"list_models"}`, `{"trouble":"newer"}`} {
		answers <- []byte(unreadable)
		_, err = asker.Check(t.Context(), question)
		require.True(t, fault.Is(err, fault.Unavailable), "%q: %v", unreadable, err)
		require.NotErrorIs(t, err, byok.ErrNotAsked, "a call may have been made")
	}
	server.Stop()
	require.Eventually(t, func() bool { return !conn.Connected() }, 20*time.Second, time.Millisecond)
	_, err = asker.Check(t.Context(), question)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.ErrorIs(t, err, byok.ErrNotAsked)
}
