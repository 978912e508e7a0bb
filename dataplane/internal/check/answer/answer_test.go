package answer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/check/answer"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

var good = wire.CheckRequest{Workspace: id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001"), Provider: "north", Sealed: []byte("sealed")}

// checker holds every check until it is let go.
type checker struct {
	begun chan wire.CheckRequest
	let   chan struct{}
}

func (c *checker) Check(ctx context.Context, q wire.CheckRequest) wire.CheckReply {
	c.begun <- q
	select {
	case <-c.let:
		return wire.CheckReply{Status: wire.CheckValid}
	case <-ctx.Done():
		return wire.CheckReply{Status: wire.CheckUnreachable}
	}
}

func run(t *testing.T) (conn *nats.Conn, c *checker, stop func()) {
	t.Helper()
	server := natstest.New(t)
	c = &checker{begun: make(chan wire.CheckRequest, 64), let: make(chan struct{})}
	gateway := server.Connect()
	a := answer.New(answer.Options{Conn: gateway, Checker: c, Log: natstest.Discard()})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-ended)
		}
	}
	t.Cleanup(stop)
	conn = server.Connect().NATS()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, err := ask(conn, "probe", []byte("?"))
		require.NoError(c, err)
	}, 20*time.Second, 10*time.Millisecond, "it listens")
	return conn, c, stop
}

// ask asks and waits for the answer.
func ask(conn *nats.Conn, name string, body []byte) (reply wire.CheckReply, err error) {
	to := wire.SubjectChecked + "." + name
	sub, err := conn.SubscribeSync(to)
	if err != nil {
		return reply, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := conn.PublishRequest(wire.SubjectCheck, to, body); err != nil {
		return reply, err
	}
	m, err := sub.NextMsg(10 * time.Second)
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(m.Data, &reply)
}

func encoded(t *testing.T, q wire.CheckRequest) []byte {
	t.Helper()
	body, err := json.Marshal(q)
	require.NoError(t, err)
	return body
}

func TestAQuestionIsAnswered(t *testing.T) {
	conn, c, _ := run(t)
	close(c.let)
	reply, err := ask(conn, "one", encoded(t, good))
	require.NoError(t, err)
	require.Equal(t, wire.CheckReply{Status: wire.CheckValid}, reply)
	require.Equal(t, good, <-c.begun)
	for _, bad := range [][]byte{nil, []byte("{"), encoded(t, wire.CheckRequest{Provider: "north", Sealed: []byte("x")}), encoded(t, wire.CheckRequest{Workspace: good.Workspace})} {
		reply, err = ask(conn, "two", bad)
		require.NoError(t, err)
		require.Equal(t, wire.CheckReply{Trouble: wire.CheckNotReadable}, reply)
	}
}

// Answers go to the subjects of answers alone: an inbox is where JetStream
// answers.
func TestNothingIsAnsweredElsewhere(t *testing.T) {
	conn, c, _ := run(t)
	close(c.let)
	sub, err := conn.SubscribeSync("elsewhere")
	require.NoError(t, err)
	require.NoError(t, conn.PublishRequest(wire.SubjectCheck, "elsewhere", encoded(t, good)))
	_, err = ask(conn, "after", encoded(t, good)) // questions are read in their order
	require.NoError(t, err)
	require.Len(t, c.begun, 1, "the one that may be answered")
	pending, _, err := sub.Pending()
	require.NoError(t, err)
	require.Zero(t, pending)
}

// of is a question about a key of another workspace for each number.
func of(t *testing.T, workspace int) []byte {
	t.Helper()
	q := good
	q.Workspace = id.MustParse[id.WorkspaceKind](fmt.Sprintf("ws_%026d", workspace+1))
	return encoded(t, q)
}

func TestTooManyChecksAreSentAway(t *testing.T) {
	conn, c, stop := run(t)
	hold := func(workspace int) {
		t.Helper()
		require.NoError(t, conn.PublishRequest(wire.SubjectCheck, wire.SubjectChecked+".held", of(t, workspace)))
		<-c.begun
	}
	away := func(workspace int, why string) {
		t.Helper()
		reply, err := ask(conn, "away", of(t, workspace))
		require.NoError(t, err)
		require.Equal(t, wire.CheckReply{Trouble: wire.CheckNotReady}, reply, why)
	}
	hold(0)
	hold(0)
	away(0, "a third of one workspace")
	for i := 2; i < 8; i++ {
		hold(i / 2)
	}
	away(4, "a ninth")
	stop() // and the end waits for the checks that run, which end with it
}

// A check that has ended makes room for another of its workspace.
func TestRoomIsGivenBack(t *testing.T) {
	conn, c, _ := run(t)
	close(c.let)
	for range 20 {
		require.EventuallyWithT(t, func(e *assert.CollectT) { // the answer is sent a moment before there is room
			reply, err := ask(conn, "one", of(t, 0))
			assert.NoError(e, err)
			assert.Equal(e, wire.CheckReply{Status: wire.CheckValid}, reply)
		}, 20*time.Second, time.Millisecond)
	}
}

// The end of a gateway says nothing of a provider: who asked can ask another.
func TestWhatDoesNotEndBeforeTheGatewayIsNotReady(t *testing.T) {
	conn, c, stop := run(t)
	told, question := make(chan wire.CheckReply, 1), encoded(t, good)
	go func() {
		reply, _ := ask(conn, "cut", question) // the zero reply fails the test
		told <- reply
	}()
	<-c.begun
	stop()
	require.Equal(t, wire.CheckReply{Trouble: wire.CheckNotReady}, <-told)
}
