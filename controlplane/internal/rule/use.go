package rule

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// InUse is the code of a violation that keeps something from being deleted.
const InUse = "in_use"

// mostNamed is how many uses a refusal's message names; its violations name all.
const mostNamed = 3

// Uses are what keeps something from being deleted, in the order in which they
// are told.
type Uses struct{ list []use }

type use struct{ path, what string }

// Add notes one: where it is undone, as a path, and what it is.
func (u *Uses) Add(path, what string) { u.list = append(u.list, use{path, what}) }

// Refuse is a conflict that names the uses and how many more there are, such
// as: "The guardrail" "binds" the whole workspace. "Take it off there first."
func (u *Uses) Refuse(subject, does, remedy string, more int) error {
	e := fault.New(fault.Conflict, "")
	var named []string
	for i, one := range u.list {
		e.Violations = append(e.Violations, fault.Violation{Path: one.path, Code: InUse, Message: does + " " + one.what})
		if i < mostNamed {
			named = append(named, one.what)
		}
	}
	e.Message = subject + " " + does + " " + strings.Join(named, ", ")
	if more += len(u.list) - len(named); more > 0 {
		e.Message += fmt.Sprintf(" and %d more", more)
	}
	e.Message += ". " + remedy
	return e
}
