package ratelimit

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// TargetType says what a policy is assigned to, and so who is counted together.
type TargetType string

// The kinds of targets.
const (
	ToKey        TargetType = "key"
	ToMember     TargetType = "member"     // all keys that one created, together
	ToDepartment TargetType = "department" // everything that counts toward one, together
	ToGuardrail  TargetType = "guardrail"  // each key that one binds, by itself
	ToEndUsers   TargetType = "end_user_default"
)

// Target is what a policy is assigned to: of the ids, the one of its type is
// set, and none for ToEndUsers.
type Target struct {
	Type       TargetType
	Key        id.Key
	Member     id.User
	Department id.Department
	Guardrail  id.Guardrail
}

// ID is the text of the id that is set, "" for ToEndUsers.
func (t Target) ID() string {
	switch t.Type {
	case ToKey:
		return t.Key.String()
	case ToMember:
		return t.Member.String()
	case ToDepartment:
		return t.Department.String()
	case ToGuardrail:
		return t.Guardrail.String()
	case ToEndUsers:
	}
	return ""
}

// String tells a person what it is.
func (t Target) String() string {
	switch t.Type {
	case ToKey:
		return "the API key " + t.ID()
	case ToMember, ToDepartment, ToGuardrail:
		return "the " + string(t.Type) + " " + t.ID()
	case ToEndUsers:
	}
	return "every end user"
}

// Bind adds the target to what gateways get of its policy. Targets come in the
// order of their ids.
func (t Target) Bind(p *policy.RatePolicy) {
	switch t.Type {
	case ToKey:
		p.Keys = append(p.Keys, t.Key)
	case ToMember:
		p.Members = append(p.Members, t.Member)
	case ToDepartment:
		p.Departments = append(p.Departments, t.Department)
	case ToGuardrail:
		p.Guardrails = append(p.Guardrails, t.Guardrail)
	case ToEndUsers:
		p.EndUsers = true
	}
}

// Assignment says that a policy holds for a target. It never changes.
type Assignment struct {
	ID        id.RateAssignment
	Workspace id.Workspace
	Policy    id.RatePolicy
	Target    Target
	CreatedAt time.Time
}

// AssignmentFilter narrows a list of assignments; zero fields do not.
type AssignmentFilter struct {
	Policy id.RatePolicy
	Type   TargetType
	Target Target // by the ids that are set
}

// Uses are the assignments that keep something from being deleted.
type Uses struct {
	Assignments []Assignment // at most MaxNamed, oldest first
	More        int          // beyond those
}

// MaxNamed is how many assignments Uses names.
const MaxNamed = 20
