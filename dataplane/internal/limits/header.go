package limits

import (
	"net/http"
	"strconv"
	"time"
)

// The rate-limit headers, in canonical form.
var headers = map[metric][3]string{
	requests: {"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	tokens:   {"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
}

// set writes the headers of one limit.
func set(h http.Header, m metric, limit, remaining int64, reset time.Duration) {
	values := []string{
		strconv.FormatInt(limit, 10), strconv.FormatInt(max(0, remaining), 10),
		strconv.FormatInt(int64((max(0, reset)+time.Second-1)/time.Second), 10) + "s",
	}
	for i, name := range headers[m] {
		h[name] = values[i : i+1 : i+1]
	}
}

// success are the headers of the tightest limits that a request passed: the ones
// that leave least. The request itself is counted among the requests, and leaves
// in a minute; what tokens it uses is not known yet.
func success(checks []check) http.Header {
	var tightest [2]*check
	for i := range checks {
		c := &checks[i]
		if c.rate == nil || c.unknown || c.metric == concurrent {
			continue
		}
		best := &tightest[0]
		if c.metric == tokens {
			best = &tightest[1]
		}
		if *best == nil || c.limit-c.used < (*best).limit-(*best).used {
			*best = c
		}
	}
	if tightest == [2]*check{} {
		return nil
	}
	h := make(http.Header, 6)
	if c := tightest[0]; c != nil {
		set(h, requests, c.limit, c.limit-c.used-1, time.Minute)
	}
	if c := tightest[1]; c != nil {
		set(h, tokens, c.limit, c.limit-c.used, c.clears)
	}
	return h
}
