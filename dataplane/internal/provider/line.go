package provider

import (
	"crypto/tls"
	"net"
	"sync/atomic"
)

// line is a connection that knows whether what comes in on it can be the
// answer to what went out last.
//
// A server that sends more than the length it gave leaves bytes behind an
// answer. net/http notices most of them, but a request that takes the
// connection at that very moment gets them as its own answer: one caller would
// read what was meant for another. What tells them apart is that they were
// read before the request was written.
type line struct {
	net.Conn
	state atomic.Int32
}

// The states of a line. Only the first write and the first read after a
// request took it count.
const (
	lineTaken int32 = iota
	lineAsked
	lineAnswered
)

func (l *line) Write(p []byte) (int, error) {
	l.state.CompareAndSwap(lineTaken, lineAsked)
	return l.Conn.Write(p)
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 {
		l.state.CompareAndSwap(lineAsked, lineAnswered)
	}
	return n, err
}

func (l *line) take() { l.state.Store(lineTaken) }

func (l *line) answered() bool { return l.state.Load() == lineAnswered }

// lineOf is the line under a connection of one request at a time, else nil:
// the frames of HTTP/2 say themselves what they answer.
func lineOf(conn net.Conn) *line {
	if secure, ok := conn.(*tls.Conn); ok {
		if secure.ConnectionState().NegotiatedProtocol == "h2" {
			return nil
		}
		conn = secure.NetConn()
	}
	l, _ := conn.(*line)
	return l
}
