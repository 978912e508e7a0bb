package cli

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// limited turns the control plane's 429 into a refusal that says when to try
// again: that is in a header, which the answers of the generated client do not
// have in common.
type limited struct{ http *http.Client }

func (l limited) Do(r *http.Request) (*http.Response, error) {
	response, err := l.http.Do(r) //nolint:gosec // the person who calls says where the control plane is
	if err != nil || response.StatusCode != http.StatusTooManyRequests {
		return response, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, err
	}
	return nil, later(refused(response.StatusCode, body), response.Header)
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
