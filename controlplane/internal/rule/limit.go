package rule

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// The most that a limit can be.
const (
	MaxAmount   = 1_000_000_000 * money.USD
	MaxRequests = 1_000_000_000_000
)

// Amount checks a limit in money. A limit of 0 is no limit to some and stops
// everything to others; instead says what stops everything here.
func (v *Violations) Amount(path string, n money.Nanos, instead string) {
	switch {
	case n <= 0:
		v.Add(path, OutOfRange, "must be more than 0; "+instead)
	case n > MaxAmount:
		v.Add(path, OutOfRange, fmt.Sprintf("must be at most %d USD", MaxAmount/money.USD))
	}
}

// Agent checks the name of an agent.
func (v *Violations) Agent(path, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		v.Add(path, Required, "must not be empty")
	case len(name) > wire.MaxAgent:
		v.Add(path, TooLong, fmt.Sprintf("must have at most %d bytes", wire.MaxAgent))
	case name != strings.TrimSpace(name):
		v.Add(path, Malformed, "must not begin or end with white space")
	default:
		v.Text(path, name, wire.MaxAgent)
	}
}
