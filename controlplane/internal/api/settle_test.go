package api

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

type standing []publication.Standing

func (s standing) Live() []publication.Standing { return s }

// away is a database that cannot be reached.
type away struct{}

func (away) InTx(context.Context, id.Workspace, func(context.Context) error) error {
	return errors.New("away")
}

func (away) Read(context.Context, id.Workspace, func(context.Context) error) error {
	return errors.New("away")
}

// What nobody could look at is not applied: neither without wait, nor when the
// database went away after the commit.
func TestPendingIsWhatIsKnown(t *testing.T) {
	ids := id.SystemSource()
	p := publication.Publication{
		ID: id.New[id.PublicationKind](ids), Workspace: id.New[id.WorkspaceKind](ids), Revision: 7, CreatedAt: time.Now(),
	}
	two := standing{{Gateway: id.New[id.GatewayKind](ids)}, {Gateway: id.New[id.GatewayKind](ids)}}
	wait := "1s"
	for name, c := range map[string]struct {
		fleet     standing
		published bool
		wait      *string
		want      int
		pending   bool
	}{
		"no wait":                      {two, false, nil, 2, false},
		"no wait, no gateway":          {nil, false, nil, 1, false},
		"the database is away":         {two, false, &wait, 2, true},
		"and no gateway is known":      {nil, false, &wait, 1, true},
		"but published, as is known":   {two, true, &wait, 2, true},
		"and nobody there to apply it": {nil, true, &wait, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			tracker := publication.NewTracker(c.fleet)
			if c.published {
				tracker.Open(p)
				tracker.Published(p.Workspace, p.Revision, time.Now(), wire.Position{}, wire.Position{Stream: 1, Sequence: 1})
			}
			s := &Server{log: slog.New(slog.DiscardHandler)}
			s.services.Publications = publication.NewService(away{}, nil, tracker, time.Now)
			ref, pending := s.settle(t.Context(), p, c.wait)
			require.Equal(t, c.want, ref.Pending)
			require.Equal(t, c.pending, pending)
		})
	}
}
