package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// conn is one keep-alive connection that sends the same bytes again and
// again. It parses no more of a reply than its end, so that what is measured
// is the server and not the generator.
type conn struct {
	net.Conn
	in *bufio.Reader
}

const (
	dialWithin  = 5 * time.Second
	replyWithin = 30 * time.Second
	bufferSize  = 64 << 10
)

func dial(ctx context.Context, addr string) (*conn, error) {
	dialer := net.Dialer{Timeout: dialWithin}
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return &conn{Conn: c, in: bufio.NewReaderSize(c, bufferSize)}, nil
}

// reply is what is kept of an answer.
type reply struct {
	status int
	first  time.Duration // to the head
	bytes  int64         // of the body, framing left out
}

var errHead = errors.New("the reply's head cannot be read")

// do sends the request and reads the reply to its end.
func (c *conn) do(request []byte) (reply, error) {
	began := time.Now()
	if err := c.SetDeadline(began.Add(replyWithin)); err != nil {
		return reply{}, fmt.Errorf("set deadline: %w", err)
	}
	if _, err := c.Write(request); err != nil {
		return reply{}, fmt.Errorf("write request: %w", err)
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return reply{}, fmt.Errorf("read status: %w", err)
	}
	if len(line) < len("HTTP/1.1 200") {
		return reply{}, errHead
	}
	r := reply{first: time.Since(began)}
	if r.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return reply{}, errHead
	}
	length, chunked, err := c.header()
	if err != nil {
		return reply{}, err
	}
	if chunked {
		r.bytes, err = c.chunks()
		return r, err
	}
	if length < 0 {
		return reply{}, errHead
	}
	n, err := c.in.Discard(length)
	r.bytes = int64(n)
	return r, err
}

var (
	contentLength    = []byte("content-length:")
	transferEncoding = []byte("transfer-encoding:")
)

func (c *conn) header() (length int, chunked bool, err error) {
	length = -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, false, fmt.Errorf("read header: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return length, chunked, nil
		}
		switch {
		case hasPrefixFold(line, contentLength):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return 0, false, errHead
			}
		case hasPrefixFold(line, transferEncoding):
			chunked = true
		}
	}
}

func hasPrefixFold(line, prefix []byte) bool {
	return len(line) >= len(prefix) && bytes.EqualFold(line[:len(prefix)], prefix)
}

// chunks reads a chunked body to its end.
func (c *conn) chunks() (int64, error) {
	var total int64
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return total, fmt.Errorf("read chunk size: %w", err)
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return total, fmt.Errorf("read chunk size: %w", err)
		}
		if _, err := c.in.Discard(int(size) + len("\r\n")); err != nil {
			return total, fmt.Errorf("read chunk: %w", err)
		}
		total += size
		if size == 0 {
			return total, nil
		}
	}
}

// Request is a request as bytes.
type Request struct {
	Path string
	Key  string // bearer token; "" sends none
	Body string
}

func (r Request) encode(addr string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", r.Path, addr, len(r.Body))
	if r.Key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", r.Key)
	}
	b.WriteString("\r\n")
	b.WriteString(r.Body)
	return b.Bytes()
}
