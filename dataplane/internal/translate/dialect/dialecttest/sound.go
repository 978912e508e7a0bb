package dialecttest

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// Sound reports what is wrong with the order of a stream's events, by the
// contract of conversation.EventKind: Began comes once and before all choices; of each
// choice parts open with the next index, change only while they are open, and
// close once; Stopped is the last of a choice. Whole says that the stream ended
// well, so that everything must be closed and stopped.
func Sound(events []conversation.Event, whole bool) error {
	began, choices := false, make(map[int]*order)
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case conversation.Metered:
			continue
		case conversation.Began:
			if began || len(choices) > 0 {
				return fmt.Errorf("event %d: Began is not the first", i)
			}
			began = true
			continue
		default:
		}
		o := choices[e.Choice]
		if o == nil {
			o = &order{}
			choices[e.Choice] = o
		}
		if err := o.take(e); err != nil {
			return fmt.Errorf("event %d of kind %d, choice %d, index %d: %w", i, e.Kind, e.Choice, e.Index, err)
		}
	}
	for choice, o := range choices {
		if whole && !o.stopped {
			return fmt.Errorf("choice %d has not stopped", choice)
		}
	}
	return nil
}

// order is where a choice stands.
type order struct {
	open    []bool // by index
	stopped bool
}

func (o *order) take(e *conversation.Event) error {
	if o.stopped {
		return fmt.Errorf("comes after the choice stopped")
	}
	switch e.Kind {
	case conversation.Rated:
		return nil
	case conversation.Stopped:
		for i, open := range o.open {
			if open {
				return fmt.Errorf("part %d is still open", i)
			}
		}
		o.stopped = true
		return nil
	case conversation.Opened:
		if e.Index != len(o.open) {
			return fmt.Errorf("the next index is %d", len(o.open))
		}
		o.open = append(o.open, true)
		return nil
	default:
	}
	if e.Index < 0 || e.Index >= len(o.open) || !o.open[e.Index] {
		return fmt.Errorf("the part is not open")
	}
	o.open[e.Index] = e.Kind != conversation.Closed
	return nil
}
