package flow

import "time"

// Relief is the end of the shortest window whose limit a way exceeded, which
// is when the same request may pass: of the nodes that an evaluation of f
// visited. It is the zero time where none was exceeded, and where the limit is
// 0, which no later window keeps.
func (p *Program) Relief(f *Facts, visited []string, now time.Time) time.Time {
	shortest := len(p.usage)
	for _, id := range visited {
		if s := p.stepOf(id); s != nil && s.kind == limits && s.limit.window < shortest && s.limit.eases(f.Usage.bucket(s.limit.window)) {
			shortest = s.limit.window
		}
	}
	return windowEnd(shortest, now)
}

func (p *Program) stepOf(id string) *step {
	for i := range p.steps {
		if p.steps[i].id == id {
			return &p.steps[i]
		}
	}
	return nil
}

// eases reports whether a limit is exceeded now and would not be by what is used
// of a window that has just begun.
func (l *limit) eases(b *Bucket) bool {
	return l.exceeded(b) && !l.exceeded(&Bucket{Known: true})
}

// windowEnd is when the window that now is in ends, in UTC; weeks end with
// Sunday. It is the zero time for no window.
func windowEnd(window int, now time.Time) time.Time {
	now = now.UTC()
	year, month, day := now.Date()
	switch window {
	case 0:
		day++
	case 1:
		day += 7 - (int(now.Weekday())+6)%7
	case 2:
		month, day = month+1, 1
	default:
		return time.Time{}
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
