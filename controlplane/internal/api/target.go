package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// target is what a call is about, the version of it that the caller saw, and
// who calls.
type target[K id.Kind] struct {
	caller
	id      id.ID[K]
	ifMatch *int64
}

func targetOf[K id.Kind](ctx context.Context, text, noun string, match *gen.IfMatch) (t target[K], err error) {
	t.caller = callerOf(ctx)
	if t.id, err = parseID[K](text, noun); err != nil {
		return t, err
	}
	t.ifMatch, err = ifMatch(match)
	return t, err
}

// deleted answers that what has an id is gone.
func (s *Server) deleted(ctx context.Context, text string, pub publication.Publication, wait *gen.Wait) (body gen.DeletedChange, pending bool) {
	ref, pending := s.settle(ctx, pub, wait)
	return gen.DeletedChange{Data: gen.Deleted{ID: text, Deleted: true}, Publication: ref}, pending
}
