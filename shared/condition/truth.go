package condition

// Truth is an answer that may not be known.
type Truth uint8

// The truths.
const (
	Unknown Truth = iota
	True
	False
)

func truth(holds bool) Truth {
	if holds {
		return True
	}
	return False
}

// Not is the opposite; of what is unknown that is unknown.
func (t Truth) Not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	default:
		return Unknown
	}
}

// conjoin is true when every one is, and false as soon as one is, whatever the
// others are.
func conjoin(list []Program, of func(*Program) Truth) Truth {
	answer := True
	for i := range list {
		switch of(&list[i]) {
		case False:
			return False
		case Unknown:
			answer = Unknown
		default:
		}
	}
	return answer
}

// disjoin is conjoin turned around.
func disjoin(list []Program, of func(*Program) Truth) Truth {
	return conjoin(list, func(p *Program) Truth { return of(p).Not() }).Not()
}
