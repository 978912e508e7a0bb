package cli

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"
)

// limited turns answers that do not come from the generated client as they are
// needed into failures: a 429, which says in a header when to try again, and none
// of the control plane to what has an Idempotency-Key.
type limited struct{ http *http.Client }

func (l limited) Do(r *http.Request) (*http.Response, error) {
	key := r.Header.Get("Idempotency-Key")
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	response, err := l.http.Do(r.WithContext(traced)) //nolint:gosec // the person who calls says where the control plane is
	switch {
	case err != nil && !sent.Load():
		return nil, err
	case err != nil:
		return nil, lost(err, key)
	}
	limits, open := response.StatusCode == http.StatusTooManyRequests, key != "" && undecided(response)
	if !limits && !open {
		response.Body = &broken{response.Body, key}
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, lost(err, key)
	}
	no := refused(response.StatusCode, body)
	if limits {
		return nil, later(no, response.Header)
	}
	return nil, lost(no, key)
}

// undecided reports whether an answer leaves open what became of the call: one of
// what stands before the control plane, or that the call is still under way, which
// is said when a connection broke and it was sent again.
func undecided(r *http.Response) bool {
	switch r.StatusCode {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	case http.StatusConflict:
		return r.Header.Get("Retry-After") != ""
	}
	return false
}

// unanswered is a call of which nobody knows whether it was carried out. With its
// key it can be repeated.
type unanswered struct {
	cause error
	key   string
}

func (e unanswered) Error() string { return e.cause.Error() }
func (e unanswered) Unwrap() error { return e.cause }

// lost adds to the failure of a call that was sent the key that it had, if any.
func lost(err error, key string) error {
	if key == "" {
		return err
	}
	return unanswered{err, key}
}

// broken is the body of an answer, which may break off.
type broken struct {
	io.ReadCloser
	key string
}

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = lost(err, b.key)
	}
	return n, err
}

// later adds to a refusal for being too frequent when that ends, if the answer
// tells it in seconds.
func later(err error, h http.Header) error {
	no, ok := err.(refusal) //nolint:errorlint // made by the caller, wrapped by nobody
	if !ok || no.status != http.StatusTooManyRequests {
		return err
	}
	if seconds, bad := strconv.Atoi(h.Get("Retry-After")); bad == nil && seconds > 0 {
		no.after = time.Duration(seconds) * time.Second
	}
	return no
}
