package natsconn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

// echo answers on a subject with what it is asked, and says that it was.
func echo(t *testing.T, c *natsconn.Conn) (asked chan string, stop func()) {
	t.Helper()
	asked = make(chan string, 64)
	stop, err := c.Answer("ask", "group", "answers", room, func(q natsconn.Question) {
		asked <- string(q.Body)
		if err := q.Answer(append([]byte("echo "), q.Body...)); err != nil {
			t.Error(err)
		}
	})
	require.NoError(t, err)
	t.Cleanup(stop)
	require.NoError(t, c.NATS().Flush())
	return asked, stop
}

func TestOneOfThoseWhoAnswerIsAsked(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	before := c.NATS().NumSubscriptions()
	_, err := c.Ask(t.Context(), "ask", "answers.none", nil)
	require.ErrorIs(t, err, natsconn.ErrNobody)

	first, _ := echo(t, s.Ready())
	second, _ := echo(t, s.Ready())
	answer, err := c.Ask(t.Context(), "ask", "answers.one", []byte("it"))
	require.NoError(t, err)
	require.Equal(t, "echo it", string(answer))
	require.Equal(t, 1, len(first)+len(second))
	require.Equal(t, before, c.NATS().NumSubscriptions(), "nothing is left of it")

	s.Stop()
	require.Eventually(t, func() bool { return !c.Connected() }, soon, tick)
	_, err = c.Ask(t.Context(), "ask", "answers.away", nil)
	require.ErrorIs(t, err, natsconn.ErrNotConnected)
}

func TestAskingEndsWithItsContext(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	ctx, cancel := context.WithCancel(t.Context())
	stop, err := s.Ready().Answer("ask", "group", "answers", room, func(natsconn.Question) { cancel() })
	require.NoError(t, err)
	defer stop()
	require.Eventually(t, func() bool {
		_, err = c.Ask(ctx, "ask", "answers.silent", nil)
		return ctx.Err() != nil
	}, soon, tick)
	require.ErrorIs(t, err, context.Canceled)
}

// Inboxes are where JetStream answers.
func TestNobodyIsAnsweredElsewhere(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	asked, _ := echo(t, s.Ready())
	for _, elsewhere := range []string{"elsewhere", "answersx.a", "answers", nats.NewInbox()} {
		require.NoError(t, c.NATS().PublishRequest("ask", elsewhere, nil))
	}
	_, err := c.Ask(t.Context(), "ask", "answers.after", []byte("after"))
	require.NoError(t, err)
	require.Equal(t, "after", <-asked, "questions are read in their order")
}

// What came before stop is answered, and nothing afterwards.
func TestStoppingAnswersWhatHasCome(t *testing.T) {
	s := natstest.New(t)
	c, asker := s.Ready(), s.Ready()
	entered, release := make(chan struct{}), make(chan struct{})
	stop, err := c.Answer("ask", "group", "answers", room, func(q natsconn.Question) {
		if string(q.Body) == "0" {
			close(entered)
			<-release
		}
		if err := q.Answer(q.Body); err != nil {
			t.Error(err)
		}
	})
	require.NoError(t, err)
	require.NoError(t, c.NATS().Flush())
	sub, err := asker.NATS().SubscribeSync("answers.many")
	require.NoError(t, err)
	for _, question := range []string{"0", "1", "2"} {
		require.NoError(t, asker.NATS().PublishRequest("ask", "answers.many", []byte(question)))
	}
	<-entered
	require.NoError(t, asker.NATS().Flush())
	require.NoError(t, c.NATS().Flush()) // they wait behind the first
	ended := make(chan struct{})
	go func() { defer close(ended); stop() }()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := asker.Ask(ctx, "ask", "answers.probe", nil)
		return errors.Is(err, natsconn.ErrNobody)
	}, soon, tick, "no more questions are taken")
	close(release)
	<-ended
	for _, want := range []string{"0", "1", "2"} {
		m, err := sub.NextMsg(soon)
		require.NoError(t, err)
		require.Equal(t, want, string(m.Data))
	}
	_, err = asker.Ask(t.Context(), "ask", "answers.late", nil)
	require.ErrorIs(t, err, natsconn.ErrNobody)
	stop() // twice is nothing
}

func TestStoppingToAnswerEndsWhereNoServerIs(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	_, stop := echo(t, c)
	s.Stop()
	require.Eventually(t, func() bool { return !c.Connected() }, soon, tick)
	stop()
	c.NATS().Close()
	stop()
	_, err := c.Answer("ask", "group", "answers", room, func(natsconn.Question) {})
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
}
