package natsconn_test

import (
	"runtime"
	"strconv"
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
	after := make(chan struct{})
	follow, err := c.Listen("x", "", room, func(m *nats.Msg) {
		if string(m.Data) == "after" {
			close(after)
		}
	})
	require.NoError(t, err)
	defer follow()
	h.waits(t, stop)
	calls := h.calls.Load()
	require.NoError(t, c.NATS().Publish("x", []byte("after")))
	<-after // and with it, had it been wanted, the call of the one that was stopped
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
	const sent, members = 20, 2
	heard, fenced := make(chan string, members*sent), make(chan int)
	for member := range members {
		stop, err := c.Listen("x", "group", room, func(m *nats.Msg) {
			if string(m.Data) == "fence" {
				fenced <- member
				return
			}
			heard <- string(m.Data)
		})
		require.NoError(t, err)
		defer stop()
	}
	for i := range sent {
		require.NoError(t, c.NATS().Publish("x", []byte(strconv.Itoa(i))))
	}
	// Who hears a fence has heard all that was sent to it before.
	passed := make(map[int]bool)
	for len(passed) < members {
		require.NoError(t, c.NATS().Publish("x", []byte("fence")))
		passed[<-fenced] = true
	}
	times := make(map[string]int)
	for len(heard) > 0 {
		times[<-heard]++
	}
	require.Len(t, times, sent)
	for message, n := range times {
		require.Equal(t, 1, n, message)
	}
}

func TestCancelingWaitsForTheListenerOfConnects(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	h := newHeld()
	cancel := c.OnConnect(h.call)
	s.Restart()
	h.waits(t, cancel)
}
