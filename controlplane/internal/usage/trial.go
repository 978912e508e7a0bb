package usage

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Trial is an amount to add to a cell of a rollout's counts; which step it is
// of is up to the store.
type Trial struct {
	Workspace id.Workspace
	Rollout   id.Rollout
	tally.Cell
}

// Trials returns what entries that came into the log add to the counts of
// rollouts, one for each cell, sorted as Rollups are. An entry of unknown outcome
// says nothing of a rollout, so that nothing is ever taken back.
func Trials(added []Entry) []Trial {
	var list []Trial
	for i := range added {
		e := &added[i]
		if e.Rollout == nil || e.Rollout.ID.IsZero() {
			continue
		}
		bucket, ok := bucketOf(e.Rollout)
		if !ok {
			continue
		}
		list = append(list, Trial{Workspace: e.Workspace, Rollout: e.Rollout.ID, Cell: tally.Cell{
			Candidate: e.Rollout.Candidate, Bucket: bucket, Requests: 1, Cost: e.Cost.Total,
		}})
	}
	slices.SortFunc(list, Trial.compare)
	kept := list[:0]
	for _, t := range list {
		if n := len(kept); n > 0 && kept[n-1].compare(t) == 0 {
			kept[n-1].Requests++
			kept[n-1].Cost = kept[n-1].Cost.Add(t.Cost)
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

// bucketOf says where a request counts, if it does.
func bucketOf(r *wire.UsageRollout) (int, bool) {
	failed, judged := r.Judge()
	if !failed {
		return tally.Bucket(r.Took), judged
	}
	return tally.Failed, judged
}

func (t Trial) compare(o Trial) int {
	tw, ow, tr, or := t.Workspace.UUID(), o.Workspace.UUID(), t.Rollout.UUID(), o.Rollout.UUID()
	return cmp.Or(
		bytes.Compare(tw[:], ow[:]),
		bytes.Compare(tr[:], or[:]),
		cmp.Compare(rankOf(t.Candidate), rankOf(o.Candidate)),
		cmp.Compare(t.Bucket, o.Bucket),
	)
}

func rankOf(candidate bool) int {
	if candidate {
		return 1
	}
	return 0
}
