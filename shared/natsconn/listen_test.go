package natsconn_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

var room = natsconn.Room{Messages: 64, Bytes: 1 << 20}

// held is a handler that stays in its first call until it is let go.
type held struct {
	entered chan struct{}
	release chan struct{}
	left    atomic.Bool
	calls   atomic.Int32
}

func newHeld() *held { return &held{entered: make(chan struct{}, 64), release: make(chan struct{})} }

func (h *held) handle(*nats.Msg) { h.call() }

func (h *held) call() {
	h.calls.Add(1)
	h.entered <- struct{}{}
	<-h.release
	h.left.Store(true)
}

// waits ends something while the handler runs: it must end after it.
func (h *held) waits(t *testing.T, stop func()) {
	t.Helper()
	<-h.entered
	ended := make(chan bool)
	go func() { stop(); ended <- h.left.Load() }()
	for range 1000 { // chances for one that does not wait
		runtime.Gosched()
		select {
		case <-ended:
			t.Fatal("ended under a running handler")
		default:
		}
	}
	close(h.release)
	require.True(t, <-ended, "the handler had left")
}

func TestStoppingWaitsForTheHandlerThatRuns(t *testing.T) {
	c := natstest.New(t).Ready()
	h := newHeld()
	stop, err := c.Listen("x", "", room, h.handle)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, c.NATS().Publish("x", nil))
	}
	h.waits(t, stop)
	calls := h.calls.Load()
	require.NoError(t, c.NATS().Publish("x", nil))
	require.NoError(t, c.NATS().Flush())
	require.Equal(t, calls, h.calls.Load(), "nor is it called afterwards")
	stop() // twice is nothing
}

func TestStoppingEndsWithAConnectionThatIsClosed(t *testing.T) {
	c := natstest.New(t).Ready()
	stop, err := c.Listen("x", "", room, func(*nats.Msg) {})
	require.NoError(t, err)
	c.NATS().Close()
	stop()
	_, err = c.Listen("x", "", room, func(*nats.Msg) {})
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
}

func TestListeningSurvivesTheServer(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	heard := make(chan string, 8)
	stop, err := c.Listen("x", "", room, func(m *nats.Msg) { heard <- string(m.Data) })
	require.NoError(t, err)
	defer stop()
	s.Restart()
	require.Eventually(t, func() bool {
		_ = c.NATS().Publish("x", []byte("again"))
		select {
		case text := <-heard:
			return text == "again"
		default:
			return false
		}
	}, soon, tick)
}

func TestOneOfAQueueGroupHears(t *testing.T) {
	c := natstest.New(t).Ready()
	var heard atomic.Int32
	for range 2 {
		stop, err := c.Listen("x", "group", room, func(*nats.Msg) { heard.Add(1) })
		require.NoError(t, err)
		defer stop()
	}
	const sent = 20
	for range sent {
		require.NoError(t, c.NATS().Publish("x", nil))
	}
	require.Eventually(t, func() bool { return heard.Load() == sent }, soon, tick)
}

func TestCancelingWaitsForTheListenerOfConnects(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	h := newHeld()
	cancel := c.OnConnect(h.call)
	s.Restart()
	h.waits(t, cancel)
}
