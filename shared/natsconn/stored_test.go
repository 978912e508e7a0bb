package natsconn_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

func TestStoredMessages(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	js := conn.JetStream()
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "THINGS", Subjects: []string{"things.>"}, Storage: jetstream.MemoryStorage, AllowDirect: true, MaxMsgsPerSubject: 1})
	require.NoError(t, err)

	visited := make(map[string]string)
	visit := func(subject string, body []byte) error {
		visited[subject] = string(body)
		return nil
	}
	state, err := conn.LastOfEach(t.Context(), "THINGS", []string{"things.a", "things.b"}, visit)
	require.NoError(t, err)
	require.Zero(t, state)
	msg, err := conn.Last(t.Context(), "THINGS", "things.a")
	require.NoError(t, err)
	require.Nil(t, msg)
	msg, err = conn.First(t.Context(), "THINGS", "things.*")
	require.NoError(t, err)
	require.Nil(t, msg)

	before := time.Now()
	for _, m := range [][2]string{{"things.a", "1"}, {"things.b", "2"}, {"things.a", "3"}, {"things.c", "4"}} {
		_, err := js.Publish(t.Context(), m[0], []byte(m[1]))
		require.NoError(t, err)
	}
	state, err = conn.LastOfEach(t.Context(), "THINGS", []string{"things.a", "things.b", "things.none"}, visit)
	require.NoError(t, err)
	require.EqualValues(t, 4, state)
	require.Equal(t, map[string]string{"things.a": "3", "things.b": "2"}, visited)
	msg, err = conn.Last(t.Context(), "THINGS", "things.a")
	require.NoError(t, err)
	require.Equal(t, "3", string(msg.Data))
	require.EqualValues(t, 3, msg.Sequence)
	require.WithinRange(t, msg.Time, before, time.Now())
	msg, err = conn.First(t.Context(), "THINGS", "things.*")
	require.NoError(t, err)
	require.Equal(t, "things.b", msg.Subject)

	_, err = conn.Last(t.Context(), "NOTHING", "things.a")
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
}

// TestALostAnswerIsNoticed: a subject that is not among the answers must not read
// as one that has nothing.
func TestALostAnswerIsNoticed(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	answer := func(to string, header ...string) {
		m := nats.NewMsg(to)
		for i := 0; i < len(header); i += 2 {
			m.Header.Set(header[i], header[i+1])
		}
		require.NoError(t, conn.NATS().PublishMsg(m))
	}
	_, err := conn.NATS().Subscribe("$JS.API.DIRECT.GET.LOSSY", func(m *nats.Msg) {
		answer(m.Reply, "Nats-Subject", "things.b", "Nats-Sequence", "2", "Nats-Last-Sequence", "1")
		answer(m.Reply, "Status", "204", "Nats-Last-Sequence", "2", "Nats-UpTo-Sequence", "2")
	})
	require.NoError(t, err)
	_, err = conn.LastOfEach(t.Context(), "LOSSY", []string{"things.a", "things.b"}, func(string, []byte) error { return nil })
	require.ErrorContains(t, err, "a message of the answer is missing")
}
