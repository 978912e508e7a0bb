package stream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/stream"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// body is a reply's body with what happened to it.
type body struct {
	pieces []string
	err    error
	before func(n int) // called before piece n
	n      int
	closed int
}

func (b *body) Next() ([]byte, error) {
	if b.before != nil {
		b.before(b.n)
	}
	if b.n == len(b.pieces) {
		if b.err != nil {
			return nil, b.err
		}
		return nil, io.EOF
	}
	b.n++
	return []byte(b.pieces[b.n-1]), nil
}

func (b *body) Read([]byte) (int, error) { return 0, errors.New("the pieces are to be used") }
func (b *body) Close() error             { b.closed++; return nil }
func (b *body) Seen() call.Seen {
	return call.Seen{Usage: meter.Usage{Output: int64(b.n), Estimated: true}, Finished: b.err == nil}
}

// sink notes what came, in order, and fails from a write on.
type sink struct {
	head     call.Head
	log      []string
	failAt   int // write, from 1; 0 never
	failHead bool
}

func (s *sink) Start(h call.Head) error {
	s.head = h
	s.log = append(s.log, "start")
	if s.failHead {
		return errors.New("broken pipe")
	}
	return nil
}

func (s *sink) Write(p []byte) error {
	s.log = append(s.log, string(p))
	if s.failAt > 0 && len(s.log)-1 >= s.failAt {
		return errors.New("broken pipe")
	}
	return nil
}

func (s *sink) Fail(*fault.Error, http.Header) { s.log = append(s.log, "fail") }
func (s *sink) Started() bool                  { return len(s.log) > 0 }
func (s *sink) Status() int                    { return s.head.Status }

func reply(b *body, streams bool) *call.Reply {
	return &call.Reply{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"x/y"}, "X-Both": {"upstream"}},
		Stream: streams, Body: b, Pieces: b, Meter: b,
	}
}

func deliver(ctx context.Context, b *body, s *sink, streams bool) (call.Seen, *fault.Error) {
	head := http.Header{"X-Both": {"gateway"}, "X-Own": {"1"}}
	seen, err := stream.New().Deliver(ctx, reply(b, streams), head, s)
	return seen, fault.Of(err)
}

func TestStreamGoesOutPieceByPiece(t *testing.T) {
	s := &sink{}
	b := &body{pieces: []string{"a", "", "b", "c"}}
	b.before = func(n int) { require.Len(t, s.log, n+1, "each piece is out before the next one is asked for") }
	seen, failure := deliver(t.Context(), b, s, true)
	require.Nil(t, failure)
	require.Equal(t, []string{"start", "a", "", "b", "c"}, s.log)
	require.Equal(t, call.Head{Status: http.StatusOK, Header: http.Header{
		"Content-Type": {"x/y"}, "X-Both": {"gateway"}, "X-Own": {"1"},
	}}, s.head)
	require.EqualValues(t, 4, seen.Usage.Output)
	require.Equal(t, 1, b.closed)
}

func TestOpaqueReplyGoesOutPieceByPieceWithoutALength(t *testing.T) {
	s := &sink{}
	b := &body{pieces: []string{"a", "b"}}
	b.before = func(n int) { require.Len(t, s.log, n+1, "each piece is out before the next one is asked for") }
	r := reply(b, false)
	r.Opaque = true
	_, err := stream.New().Deliver(t.Context(), r, nil, s)
	require.NoError(t, err)
	require.Equal(t, []string{"start", "a", "b"}, s.log)
	require.Equal(t, "x/y", s.head.Header.Get("Content-Type"))
	require.Empty(t, s.head.Header.Get("Content-Length"), "nobody knows it yet")
}

func TestPlainReplyGoesOutAtOnceWithItsLength(t *testing.T) {
	s := &sink{}
	b := &body{pieces: []string{"hello"}}
	seen, failure := deliver(t.Context(), b, s, false)
	require.Nil(t, failure)
	require.Equal(t, []string{"start", "hello"}, s.log)
	require.Empty(t, s.head.Header.Get("Content-Length"), "net/http counts it")
	require.True(t, seen.Finished)
	require.Equal(t, 1, b.closed)

	s = &sink{}
	_, failure = deliver(t.Context(), &body{pieces: []string{strings.Repeat("x", 2049)}}, s, false)
	require.Nil(t, failure)
	require.Equal(t, "2049", s.head.Header.Get("Content-Length"), "more than it holds back")
}

// lastSink lets the last piece wait for the end of the response.
type lastSink struct{ sink }

func (s *lastSink) WriteLast(p []byte) error {
	s.log = append(s.log, "last "+string(p))
	return nil
}

// endedBody knows after which piece nothing has to be waited for.
type endedBody struct {
	*body
	known bool
}

func (b *endedBody) Ended() bool { return b.known && b.n == len(b.pieces) }

func TestLastPieceWaitsForTheEndOnlyWhenThatIsAtHand(t *testing.T) {
	for known, want := range map[bool]string{true: "last b", false: "b"} {
		s := &lastSink{}
		b := &endedBody{&body{pieces: []string{"a", "b"}}, known}
		r := reply(b.body, true)
		r.Pieces = b
		_, err := stream.New().Deliver(t.Context(), r, nil, s)
		require.NoError(t, err)
		require.Equal(t, []string{"start", "a", want}, s.log)
	}
}

func TestUpstreamFailureIsReturned(t *testing.T) {
	s := &sink{}
	cut := fault.New(fault.UpstreamServerError, "cut").Because(fault.StreamCut)
	b := &body{pieces: []string{"a"}, err: cut}
	seen, failure := deliver(t.Context(), b, s, true)
	require.Same(t, cut, failure)
	require.Equal(t, []string{"start", "a"}, s.log, "telling it is the pipeline's")
	require.False(t, seen.Finished)
	require.Equal(t, 1, b.closed)
}

func TestCallerGone(t *testing.T) {
	for name, s := range map[string]*sink{
		"at the head": {failHead: true}, "at the first write": {failAt: 1}, "later": {failAt: 2},
	} {
		for _, streams := range []bool{true, false} {
			if name == "later" && !streams {
				continue
			}
			t.Run(name, func(t *testing.T) {
				s := *s
				b := &body{pieces: []string{"a", "b", "c"}}
				seen, failure := deliver(t.Context(), b, &s, streams)
				require.Equal(t, fault.ClientClosed, failure.Code)
				require.Equal(t, 1, b.closed, "the upstream call ends")
				require.True(t, seen.Usage.Estimated, "what was seen is still billed")
			})
		}
	}
}

func TestContextEndsDelivery(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	b := &body{pieces: []string{"a"}, err: fault.New(fault.UpstreamServerError, "cut")}
	b.before = func(n int) {
		if n == 1 {
			leave()
		}
	}
	_, failure := deliver(ctx, b, &sink{}, true)
	require.Equal(t, fault.ClientClosed, failure.Code, "the body broke because the caller left")
	require.ErrorIs(t, failure, context.Canceled)
}

func BenchmarkDeliver(b *testing.B) {
	piece := make([]byte, 200)
	r := &endless{piece: piece, left: b.N}
	b.ReportAllocs()
	b.ResetTimer()
	_, err := stream.New().Deliver(b.Context(), &call.Reply{Stream: true, Body: r, Pieces: r, Meter: r}, nil, &discard{})
	require.NoError(b, err)
}

type endless struct {
	body
	piece []byte
	left  int
}

func (e *endless) Next() ([]byte, error) {
	if e.left == 0 {
		return nil, io.EOF
	}
	e.left--
	return e.piece, nil
}

type discard struct{ sink }

func (*discard) Start(call.Head) error { return nil }
func (*discard) Write([]byte) error    { return nil }
