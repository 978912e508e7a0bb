package ledger

import (
	"math"
	"time"
)

// day is a UTC day, counted from 1970-01-01.
type day int32

// ever stands for all days together.
const ever day = math.MinInt32

const secondsOfDay = 24 * 60 * 60

func dayOf(t time.Time) day {
	s := t.Unix()
	d := s / secondsOfDay
	if s%secondsOfDay < 0 {
		d--
	}
	return day(d)
}

// time is the midnight that d begins with.
func (d day) time() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// monday is the first day of d's ISO week.
func (d day) monday() day {
	// 1970-01-01 was a Thursday.
	past := (d + 3) % 7
	if past < 0 {
		past += 7
	}
	return d - past
}

// month is the first day of d's month.
func (d day) month() day { return d - day(d.time().Day()-1) }

// oldest is the first day of any window that d or the day before is in: a
// request may still be measured by the day before when midnight has passed.
func (d day) oldest() day { return min((d - 1).monday(), (d - 1).month()) }
