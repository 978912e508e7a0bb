package deploy

import "github.com/signalbox-dev/signalbox/controlplane/internal/audit"

// Change is what a mutation does, for the audit log and the publication. The
// function that makes the change fills in what only it knows; it may run more
// than once, so it assigns and never appends.
type Change struct {
	Actor      audit.Actor
	Action     string // "key.create"
	TargetType string // "key"
	TargetID   string
	Diff       []audit.Change
	KIDs       []string // key documents to publish again
	RequestID  string
}

// NewChange is what by does to a target, with no difference yet.
func NewChange(by audit.By, action, targetType, targetID string) *Change {
	return &Change{Actor: by.Actor, RequestID: by.RequestID, Action: action, TargetType: targetType, TargetID: targetID}
}
