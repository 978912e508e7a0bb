package flow

import (
	"sort"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// Evaluate follows the graph and appends the ids of the nodes that it visits,
// the last one included. Where visited has room it allocates nothing.
func (p *Program) Evaluate(f *Facts, visited []string) (Action, []string) {
	a, visited, _ := p.follow(f, visited, nil)
	return a, visited
}

// Replay is Evaluate on recorded facts, in which texts may be hidden and parts
// may not be recorded. It stops at the first node where the way on cannot be
// known and names it; unknownAt is "" otherwise. Unlike at a live request, what
// is not known of the key's usage is unknown.
func (p *Program) Replay(f *Facts, h condition.Hider, visited []string) (a Action, path []string, unknownAt string) {
	return p.follow(f, visited, &h)
}

// follow evaluates live facts, or recorded ones where there is a hider.
func (p *Program) follow(f *Facts, visited []string, h *condition.Hider) (a Action, path []string, unknownAt string) {
	a = p.base
	at, subject := p.start, f.SubjectHash
	if subject == 0 && (f.Subject != "" || h == nil) {
		subject = HashSubject(f.Subject)
	}
	for range p.steps { // no way is longer: a valid graph has no cycle
		s := &p.steps[at]
		visited = append(visited, s.id)
		switch s.kind {
		case ends:
			a.Reject = s.rejected
			return a, visited, ""
		case sets:
			a.merge(s.sets)
			at = s.yes
		case draws:
			if subject == 0 {
				return a, visited, s.id
			}
			at = s.draw.next(subject)
		case tests, limits:
			switch s.answer(f, h) {
			case condition.True:
				at = s.yes
			case condition.False:
				at = s.no
			default:
				return a, visited, s.id
			}
		default:
			at = s.yes
		}
	}
	return a, visited, ""
}

// answer is true where a test holds or a limit is kept.
func (s *step) answer(f *Facts, h *condition.Hider) condition.Truth {
	holds := false
	switch {
	case s.kind == limits:
		bucket := f.Usage.bucket(s.limit.window)
		if !bucket.Known && h != nil {
			return condition.Unknown
		}
		holds = !s.limit.exceeded(bucket)
	case h != nil:
		return s.when.Judge(f.Request, *h)
	default:
		holds = s.when.Holds(f.Request)
	}
	if holds {
		return condition.True
	}
	return condition.False
}

func (l *limit) exceeded(b *Bucket) bool {
	switch {
	case !b.Known:
		return false
	case l.requests >= 0:
		return b.Requests >= l.requests
	default:
		return b.Cost >= l.cost
	}
}

func (u *Usage) bucket(window int) *Bucket {
	return [...]*Bucket{&u.Daily, &u.Weekly, &u.Monthly}[window]
}

func (d *draw) next(subject uint64) int {
	slot := slotOf(d.seed, subject)
	i := sort.Search(len(d.stretches), func(i int) bool { return slot < d.stretches[i].end })
	return d.stretches[i].next
}

// merge sets what b sets, field by field.
func (a *Action) merge(b *Action) {
	pick(&a.Model, b.Model)
	pick(&a.Mode, b.Mode)
	pick(&a.Sort, b.Sort)
	pick(&a.Region, b.Region)
	pickList(&a.FallbackModels, b.FallbackModels)
	pickList(&a.Order, b.Order)
	pickList(&a.Only, b.Only)
	pickList(&a.Ignore, b.Ignore)
	pick(&a.AllowFallbacks, b.AllowFallbacks)
	pick(&a.RequireParameters, b.RequireParameters)
	pick(&a.RequireZDR, b.RequireZDR)
	pick(&a.DenyTraining, b.DenyTraining)
	pick(&a.MaxInputPrice, b.MaxInputPrice)
	pick(&a.MaxOutputPrice, b.MaxOutputPrice)
	pick(&a.PreferredMaxLatency, b.PreferredMaxLatency)
	pick(&a.PreferredMinThroughput, b.PreferredMinThroughput)
	pick(&a.Cache, b.Cache)
	pick(&a.Session, b.Session)
}

// pick takes what is set.
func pick[T comparable](have *T, set T) {
	var none T
	if set != none {
		*have = set
	}
}

// pickList takes a list that is set, if only to none.
func pickList(have *[]string, set []string) {
	if set != nil {
		*have = set
	}
}
