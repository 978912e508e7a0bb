package ratelimit

import (
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// validate returns every violation of p at once.
func validate(p Policy) error {
	var v rule.Violations
	v.Name("name", p.Name)
	within(&v, "requests_per_minute", p.Requests, MaxRequests)
	within(&v, "tokens_per_minute", p.Tokens, MaxTokens)
	within(&v, "concurrent_requests", p.Concurrent, MaxConcurrent)
	if p.Requests == 0 && p.Tokens == 0 && p.Concurrent == 0 {
		v.Add("requests_per_minute", rule.Required, "must be a number where tokens_per_minute and concurrent_requests are none: a policy has at least one limit")
	}
	choices := []policy.Unavailable{policy.AllowUnavailable, policy.DenyUnavailable, policy.ShareUnavailable}
	switch {
	case !slices.Contains(choices, p.Unavailable):
		v.Add("on_unavailable", rule.NotAllowed, "must be allow, deny or local_share")
	case p.FailClosed && p.Unavailable == policy.AllowUnavailable:
		v.Add("on_unavailable", rule.Contradiction, "must be deny or local_share where fail_closed is true: such a policy admits nothing that it could not count")
	}
	return v.Err()
}

// within checks a limit; 0 is none.
func within(v *rule.Violations, path string, n, most int64) {
	if n < 0 || n > most {
		v.Add(path, rule.OutOfRange, fmt.Sprintf("must be from 1 to %d", most))
	}
}
