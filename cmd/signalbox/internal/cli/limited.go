package cli

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// limited turns answers that do not come from the generated client as they are
// needed into failures: a 429, which says in a header when to try again, and none
// of the control plane to what has an Idempotency-Key.
type limited struct{ http *http.Client }

func (l limited) Do(r *http.Request) (*http.Response, error) {
	response, err := l.http.Do(r) //nolint:gosec // the person who calls says where the control plane is
	key := r.Header.Get("Idempotency-Key")
	if err != nil {
		return nil, lost(err, key)
	}
	limits, open := response.StatusCode == http.StatusTooManyRequests, key != "" && undecided(response)
	if !limits && !open {
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

// lost adds to a failure the key that the call had, if it had one and there was
// anybody to send it to.
func lost(err error, key string) error {
	if failed, ok := errors.AsType[*net.OpError](err); key == "" || ok && failed.Op == "dial" {
		return err
	}
	return unanswered{err, key}
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
