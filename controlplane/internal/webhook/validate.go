package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

const resolveWithin = 2 * time.Second

// check reports every violation of what p names.
func (s *Service) check(ctx context.Context, p Patch) error {
	var v rule.Violations
	if p.Name != nil {
		v.Name("name", *p.Name)
	}
	if p.Events != nil {
		if len(*p.Events) == 0 {
			v.Add("events", rule.Required, "name at least one type of event")
		}
		v.Strings("events", texts(*p.Events), len(Types()), MaxURL, func(text string) bool { return slices.Contains(Types(), Type(text)) })
	}
	if p.URL != nil {
		t, err := ParseTarget(*p.URL, s.d.Open)
		switch {
		case err != nil:
			v.Adopt(fault.Of(err).Violations...)
		case !s.d.Open && s.closed(ctx, t):
			v.Add("url", rule.NotAllowed, unreachable)
		}
	}
	return v.Err()
}

// closed reports whether the host resolves to an address that is not reached.
// One that does not resolve is no mistake: whoever delivers looks again, and
// decides.
func (s *Service) closed(ctx context.Context, t Target) bool {
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	addresses, err := s.d.Resolver.LookupNetIP(ctx, "ip", t.Host)
	if err != nil {
		return false
	}
	for _, a := range addresses {
		if !Reachable(a) {
			return true
		}
	}
	return false
}
