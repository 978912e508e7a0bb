package stream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/stream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// side is one side of a conversation in memory.
type side struct {
	says  chan call.Frame
	fails chan error
	heard chan string

	mu    sync.Mutex
	ended chan struct{}
	why   call.Ending
	deaf  bool
	still bool // gives no sign of life

	meanwhile func() // called before a failure is
}

func newSide() *side {
	return &side{says: make(chan call.Frame), fails: make(chan error, 1), heard: make(chan string, 16), ended: make(chan struct{})}
}

func (s *side) Receive(context.Context) (call.Frame, error) {
	select {
	case f := <-s.says:
		return f, nil
	case err := <-s.fails:
		if s.meanwhile != nil {
			s.meanwhile()
		}
		return call.Frame{}, err
	case <-s.ended:
		return call.Frame{}, errors.New("ended")
	}
}

func (s *side) Send(_ context.Context, f call.Frame) error {
	if s.deaf {
		return errors.New("broken pipe")
	}
	s.heard <- string(f.Data)
	return nil
}

func (s *side) Alive(ctx context.Context) error {
	if !s.still {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended:
		return errors.New("ended")
	}
}

func (s *side) End(why call.Ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
	default:
		s.why = why
		close(s.ended)
	}
}

// upgradable is a sink that turns into a conversation.
type upgradable struct {
	*side
	header  http.Header
	refuses error
	failure *fault.Error
}

func (u *upgradable) Upgrade(h call.Head) (call.Frames, error) {
	u.header = h.Header
	return u.side, u.refuses
}
func (u *upgradable) Start(call.Head) error              { panic("not a plain answer") }
func (u *upgradable) Write([]byte) error                 { panic("not a plain answer") }
func (u *upgradable) Fail(f *fault.Error, _ http.Header) { u.failure = f }
func (u *upgradable) Started() bool                      { return true }
func (u *upgradable) Status() int                        { return http.StatusSwitchingProtocols }

// talking delivers a conversation and returns what Deliver returned.
func talking(ctx context.Context, t *testing.T, caller *upgradable, provider *side) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		closer := &closing{side: provider}
		_, err := stream.New().Deliver(ctx, &call.Reply{
			Stream: true, Frames: provider, Body: closer, Meter: nothing{},
		}, http.Header{"X-Signalbox-Model": {"acme/voice"}}, caller)
		if !closer.closed {
			err = errors.New("the reply was not closed")
		}
		done <- err
	}()
	return done
}

type closing struct {
	*side
	closed bool
}

func (c *closing) Read([]byte) (int, error) { return 0, io.EOF }
func (c *closing) Close() error             { c.closed = true; return nil }

type nothing struct{}

func (nothing) Seen() call.Seen { return call.Seen{} }

func TestFramesAreCarriedBothWays(t *testing.T) {
	caller, provider := &upgradable{side: newSide()}, newSide()
	done := talking(t.Context(), t, caller, provider)
	caller.says <- call.Frame{Text: true, Data: []byte("hello")}
	require.Equal(t, "hello", <-provider.heard)
	provider.says <- call.Frame{Text: true, Data: []byte("hi")}
	require.Equal(t, "hi", <-caller.heard)
	caller.fails <- io.EOF
	require.NoError(t, <-done)
	require.Equal(t, call.Complete, provider.why)
	require.Equal(t, []string{"acme/voice"}, caller.header["X-Signalbox-Model"])
}

func TestHowAConversationEnds(t *testing.T) {
	late := fault.New(fault.UpstreamTimeout, "too long").Because(fault.RequestTimeout)
	for name, c := range map[string]struct {
		happens func(caller *upgradable, provider *side, stop context.CancelCauseFunc)
		code    fault.Code // "" for none
		told    bool       // the caller hears of it
		why     call.Ending
	}{
		"the provider ends it": {func(_ *upgradable, p *side, _ context.CancelCauseFunc) { p.fails <- io.EOF }, "", false, call.Complete},
		"the provider breaks off": {
			func(_ *upgradable, p *side, _ context.CancelCauseFunc) { p.fails <- errors.New("reset") },
			fault.UpstreamServerError, true, call.Broken,
		},
		"its time is over": {func(_ *upgradable, p *side, _ context.CancelCauseFunc) { p.fails <- late }, fault.UpstreamTimeout, true, call.Broken},
		"the provider hears nothing": {func(u *upgradable, p *side, _ context.CancelCauseFunc) {
			p.deaf = true
			u.says <- call.Frame{Text: true}
		}, fault.UpstreamServerError, true, call.Broken},
		"the caller breaks off": {
			func(u *upgradable, _ *side, _ context.CancelCauseFunc) { u.fails <- errors.New("reset") },
			fault.ClientClosed, false, call.Broken,
		},
		"the caller says too much": {func(u *upgradable, _ *side, _ context.CancelCauseFunc) {
			u.fails <- fault.New(fault.PayloadTooLarge, "too big")
		}, fault.PayloadTooLarge, true, call.TooBig},
		"the gateway stops": {func(_ *upgradable, _ *side, stop context.CancelCauseFunc) {
			stop(fault.New(fault.Unavailable, "stopping"))
		}, fault.Unavailable, true, call.Restart},
		"the caller is believed no more": {func(_ *upgradable, _ *side, stop context.CancelCauseFunc) {
			stop(fault.New(fault.Unauthorized, "revoked"))
		}, fault.Unauthorized, true, call.Refused},
		"the gateway stops, which the provider's side sees first": {func(_ *upgradable, p *side, stop context.CancelCauseFunc) {
			p.meanwhile = func() { stop(fault.New(fault.Unavailable, "stopping")) }
			p.fails <- fault.New(fault.ClientClosed, "over")
		}, fault.Unavailable, true, call.Restart},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			caller, provider := &upgradable{side: newSide()}, newSide()
			done := talking(ctx, t, caller, provider)
			c.happens(caller, provider, stop)
			err := <-done
			if c.code == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, c.code, fault.Of(err).Code)
			}
			require.Equal(t, c.told, caller.failure != nil)
			require.Equal(t, c.why, caller.why)
		})
	}
}

// A side that has gone without a word must not keep a gateway from stopping.
func TestTheGatewayStopsWhileItWaitsForASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		caller, provider := &upgradable{side: newSide()}, newSide()
		caller.still, provider.still = true, true
		began := time.Now()
		time.AfterFunc(21*time.Second, func() { stop(fault.New(fault.Unavailable, "stopping")) })
		require.Equal(t, fault.Unavailable, fault.Of(<-talking(ctx, t, caller, provider)).Code)
		require.Equal(t, 21*time.Second, time.Since(began))
		require.Equal(t, call.Restart, caller.why)

		caller, provider = &upgradable{side: newSide()}, newSide()
		provider.still = true
		require.Equal(t, fault.UpstreamServerError, fault.Of(<-talking(t.Context(), t, caller, provider)).Code)
	})
}

// TestAGoodbyeCountsWhoeverHearsItFirst: who speaks to a side that just left
// learns of it sooner than who listens to it.
func TestAGoodbyeCountsWhoeverHearsItFirst(t *testing.T) {
	caller, provider := &upgradable{side: newSide()}, newSide()
	caller.deaf = true
	done := talking(t.Context(), t, caller, provider)
	provider.says <- call.Frame{Text: true, Data: []byte("hi")}
	caller.fails <- io.EOF
	require.NoError(t, <-done)
}

func TestACallerWhoCannotBeUpgraded(t *testing.T) {
	caller, provider := &upgradable{side: newSide(), refuses: errors.New("not a WebSocket")}, newSide()
	require.Equal(t, fault.ClientClosed, fault.Of(<-talking(t.Context(), t, caller, provider)).Code)
}
