package budgetalert

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
)

// Intake stores usage as another writer does, and has the watcher look at whoever
// spent something.
type Intake struct {
	usage.Writer
	watcher *Watcher
}

// NewIntake returns an intake through writer.
func NewIntake(writer usage.Writer, watcher *Watcher) *Intake {
	return &Intake{Writer: writer, watcher: watcher}
}

// WriteUsage implements usage.Writer.
func (i *Intake) WriteUsage(ctx context.Context, b usage.Batch) (usage.Written, error) {
	written, err := i.Writer.WriteUsage(ctx, b)
	if err == nil {
		for j := range b.Entries {
			if e := &b.Entries[j]; e.Cost.Total > 0 {
				i.watcher.Touch(e.Workspace, e.Key, e.StartedAt)
			}
		}
	}
	return written, err
}

var _ usage.Writer = (*Intake)(nil)
