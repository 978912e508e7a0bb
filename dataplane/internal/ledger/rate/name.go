package rate

import (
	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Name is what is counted for a workspace. Making one costs nothing; it is
// written only where NATS needs it.
type Name struct {
	// Kind is a lower-case letter: what is counted, and how IDs are meant.
	Kind byte
	// IDs are those that it is about. Zero ones at the end are none.
	IDs [3]uuid.UUID
}

// Token is the name as part of a NATS subject: the letter and the digits of each
// id, as in "r-01kb7n0z1v8q5r2m3t4w5x6y7z". No two names have the same.
func (n Name) Token() string {
	ids := len(n.IDs)
	for ids > 0 && n.IDs[ids-1] == uuid.Nil {
		ids--
	}
	text := append(make([]byte, 0, 96), n.Kind)
	for _, one := range n.IDs[:ids] {
		text = id.AppendUUID(append(text, '-'), one)
	}
	return string(text)
}

// subject is what is counted, of all workspaces.
type subject struct {
	ws   id.Workspace
	name Name
}
