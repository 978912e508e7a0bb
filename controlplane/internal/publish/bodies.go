package publish

import (
	"context"
	"encoding/json"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// pointed is what one pointer of the policy bucket says.
type pointed struct {
	found
	body policy.Body
}

// pointedAt reads a pointer. One that cannot be read differs from any.
func pointedAt(e document.Entry) pointed {
	var p policy.Pointer
	if json.Unmarshal(e.Data, &p) != nil {
		p = policy.Pointer{Revision: -1}
	}
	return pointed{found{p.Revision, e.Sequence}, policy.Body{Where: p.Where, Name: p.Name}}
}

// bodiless finds the workspaces whose pointer names a body that NATS does not
// have. The bodies are listed after the pointers were read: one that was
// replaced in between is kept for some more publications.
func (l *leader) bodiless(ctx context.Context, there map[id.Workspace]pointed) ([]id.Workspace, error) {
	names, err := l.read.Names(ctx, wire.BucketPolicy, document.BodyFilter)
	if err != nil {
		return nil, err
	}
	var list []id.Workspace
	for ws, at := range there {
		has := names[at.body.Name]
		if at.body.Where == policy.InObject {
			if has, err = l.read.HasLarge(ctx, at.body); err != nil {
				return nil, err
			}
		}
		if !has {
			list = append(list, ws)
		}
	}
	return list, nil
}
