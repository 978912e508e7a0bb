package webhook

import (
	"context"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Queue puts events on their way.
type Queue struct {
	directory  Directory
	deliveries Deliveries
	ids        *id.Source
}

// NewQueue returns a queue into deliveries.
func NewQueue(directory Directory, deliveries Deliveries, ids *id.Source) *Queue {
	return &Queue{directory: directory, deliveries: deliveries, ids: ids}
}

// Add puts e on its way to every webhook of its workspace that takes its type,
// inside the caller's transaction: what is told of and the telling happen
// together, or neither does.
func (q *Queue) Add(ctx context.Context, e Event) error {
	webhooks, err := q.directory.Taking(ctx, e.Workspace, e.Type)
	if err != nil || len(webhooks) == 0 {
		return err
	}
	body, err := e.Body()
	if err != nil {
		return err
	}
	list := make([]Delivery, len(webhooks))
	for i, w := range webhooks {
		due := e.At
		list[i] = Delivery{
			ID: id.New[id.DeliveryKind](q.ids), Workspace: e.Workspace, Webhook: w, Event: e.ID, Type: e.Type, Body: string(body),
			State: Pending, DueAt: &due, CreatedAt: e.At,
		}
	}
	return q.deliveries.Add(ctx, e.Workspace, list)
}
