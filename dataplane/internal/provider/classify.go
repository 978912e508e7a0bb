package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// classify names the failure of a call that got no head.
func classify(err error) upstream.Class {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return upstream.CallerGone // attempt knows better when a limit of its own ran out
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return upstream.DNSFailed
	}
	if isTLS(err) {
		return upstream.TLSFailed
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		if op.Timeout() {
			return upstream.ConnectTimeout
		}
		return upstream.ConnectFailed
	}
	if isBadHead(err) {
		return upstream.BadHead
	}
	return upstream.Reset
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "TLS handshake") || strings.Contains(text, "tls: ")
}

// isBadHead recognizes answers that are not HTTP. net/http has no types for
// these; the texts are its own since its first release.
func isBadHead(err error) bool {
	text := err.Error()
	if strings.Contains(text, "received from peer") || strings.Contains(text, "GOAWAY") {
		return false // it is the server that complains
	}
	return slices.ContainsFunc(badHeads, func(words string) bool { return strings.Contains(text, words) })
}

var badHeads = []string{
	"malformed", "response headers exceeded", "Content-Length", "unsupported transfer encoding", "too many 1xx",
	"PROTOCOL_ERROR", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR", "frame too large", // of HTTP/2
}

// unquoted is the cause of a bad head, for the log: net/http quotes what it
// could not read.
type unquoted struct{ error }

// Error implements error.
func (u unquoted) Error() string { return upstream.Sanitize(u.error.Error()) }

// Unwrap returns the cause itself.
func (u unquoted) Unwrap() error { return u.error }

// failed is the failure of a call that got no head.
func failed(err error) *upstream.Failure {
	class := classify(err)
	if class == upstream.BadHead {
		err = unquoted{err}
	}
	return upstream.Fail(class, err)
}

// isClosed recognizes a connection that the other side closed.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "server closed idle connection")
}
