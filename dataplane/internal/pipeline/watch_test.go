package pipeline_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/pipeline"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conversation is delivered until its context ends, or for a minute. What is
// known of its key changes meanwhile.
type conversation struct {
	*fakes
	refusal atomic.Pointer[fault.Error]
	deleted atomic.Bool
	lasted  time.Duration
}

func (c *conversation) Authenticate(context.Context, *call.Call) (call.Principal, error) {
	if refusal := c.refusal.Load(); refusal != nil {
		return call.Principal{}, refusal
	}
	return call.Principal{Key: key}, nil
}

func (c *conversation) Pin(_ context.Context, ws id.Workspace, _ int64) (*policy.View, error) {
	s := policy.Snapshot{Workspace: ws, Revision: 9, Status: policy.WorkspaceActive}
	if c.deleted.Load() {
		s.Status = policy.WorkspaceDeleted
	}
	return policy.Compile(s)
}

func (c *conversation) Deliver(ctx context.Context, _ *call.Reply, _ http.Header, _ call.Sink) (call.Seen, error) {
	began := time.Now()
	select {
	case <-ctx.Done():
		c.lasted = time.Since(began)
		return call.Seen{}, context.Cause(ctx)
	case <-time.After(time.Minute):
		c.lasted = time.Since(began)
		return call.Seen{}, nil
	}
}

func TestAConversationEndsWithItsKey(t *testing.T) {
	revoked := func(c *conversation) {
		c.refusal.Store(fault.New(fault.Unauthorized, "revoked").Because(fault.KeyRevoked))
	}
	for name, c := range map[string]struct {
		surface catalog.Surface
		change  func(*conversation)
		ends    bool
	}{
		"revoked":           {catalog.Realtime, revoked, true},
		"restricted":        {catalog.Realtime, func(c *conversation) { c.refusal.Store(fault.New(fault.Forbidden, "surface")) }, true},
		"workspace deleted": {catalog.Realtime, func(c *conversation) { c.deleted.Store(true) }, true},
		"nobody can tell":   {catalog.Realtime, func(c *conversation) { c.refusal.Store(fault.New(fault.UpstreamUndetermined, "away")) }, false},
		"still good":        {catalog.Realtime, func(*conversation) {}, false},
		"a plain request":   {catalog.Chat, revoked, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &conversation{fakes: &fakes{t: t}}
				p := pipeline.New(pipeline.Steps{
					Auth: f, Policies: f, Catalogs: f, Objects: f, Affinity: &memory{}, Health: f, Decide: f.decide, Admit: f,
					Begin: f, Attempt: f, Deliver: f, Record: f, Access: f,
				}, time.Now, func() uint64 { return 42 }, nil)
				time.AfterFunc(15*time.Second, func() { c.change(f) })
				s := &sink{}
				p.Serve(t.Context(), &call.Call{Surface: c.surface, Received: time.Now()}, s)
				if !c.ends {
					require.Equal(t, time.Minute, f.lasted)
					require.Nil(t, s.failure)
					return
				}
				require.Equal(t, 20*time.Second, f.lasted)
				require.Contains(t, []fault.Code{fault.Unauthorized, fault.Forbidden}, s.failure.Code)
				require.Equal(t, s.failure, f.outcome.Failure, "the record says why")
				require.False(t, f.outcome.Canceled)
			})
		})
	}
}
