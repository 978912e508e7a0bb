package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook/courier"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// receiver is where deliveries go; it answers as it is told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []received
}

type received struct{ event, signature, body string }

func newReceiver(t *testing.T) *receiver {
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{q.Header.Get(webhook.HeaderEventID), q.Header.Get(webhook.HeaderSignature), string(body)})
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// noNames is a resolver that finds nothing.
type noNames struct{}

func (noNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// namedAs is one that finds the same for every name.
type namedAs string

func (n namedAs) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(string(n))}, nil
}

func (s *services) hooks(open bool, resolver webhook.Resolver) *webhook.Service {
	return s.hooksWith(open, resolver, courier.NewClient(courier.ClientOptions{Resolver: resolver, Now: s.clock.now, Open: open}))
}

func (s *services) hooksWith(open bool, resolver webhook.Resolver, sender webhook.Sender) *webhook.Service {
	return webhook.NewService(webhook.Deps{
		Runner: s.db.Runner(), Store: NewWebhookStore(), Directory: NewWebhookStore(), Deliveries: NewDeliveryStore(), Mutator: s.mutator,
		Auditor: NewAuditStore(), Vault: s.keyring, Resolver: resolver, IDs: testIDs, Rand: rand.Reader, Now: s.clock.now, Open: open, Sender: sender,
	})
}

func (s *services) courier(sender webhook.Sender, vault webhook.Vault) *courier.Courier {
	return courier.New(courier.Deps{
		Desk: NewWebhookDesk(), Book: NewDeliveryStore(), Runner: s.db.Runner(), System: s.db.System(), Vault: vault,
		Sender: sender, IDs: testIDs, Now: s.clock.now, Log: slog.New(slog.DiscardHandler),
	})
}

func (s *services) client() *courier.Client {
	return courier.NewClient(courier.ClientOptions{Resolver: noNames{}, Now: s.clock.now, Open: true})
}

// happens puts an event on its way.
func (s *services) happens(t *testing.T, ws id.Workspace) id.Event {
	t.Helper()
	e := webhook.Event{ID: id.New[id.EventKind](testIDs), Workspace: ws, Type: webhook.BudgetAlert, At: s.clock.now(), Data: map[string]int{"share": 80}}
	in(t, s.db, ws, func(ctx context.Context) error {
		return webhook.NewQueue(NewWebhookStore(), NewDeliveryStore(), testIDs).Add(ctx, e)
	})
	return e.ID
}

func (s *services) hook(t *testing.T, hooks *webhook.Service, created workspace.Created, url string) (webhook.Webhook, secret.String) {
	t.Helper()
	w, plain, _, err := hooks.Create(t.Context(), created.Workspace.ID, byMember(created.Owner), webhook.NewWebhook{
		Name: "ours", URL: url, Events: []webhook.Type{webhook.BudgetAlert},
	})
	require.NoError(t, err)
	return w, plain
}

func (s *services) log(t *testing.T, hooks *webhook.Service, w webhook.Webhook) []webhook.Delivery {
	t.Helper()
	found, err := hooks.Deliveries(t.Context(), w.Workspace, w.ID, page.Query{}, webhook.Filter{})
	require.NoError(t, err)
	return found.Items
}

// An event is tried at once, then after 1, 5 and 15 minutes, and given up, with
// the same id each time; and delivered when it is put on its way again.
func TestDeliveriesAreRepeatedAndGivenUp(t *testing.T) {
	s, r := openServices(t), newReceiver(t)
	created := s.create(t, "acme")
	hooks, c := s.hooks(true, noNames{}), s.courier(s.client(), s.keyring)
	w, plain := s.hook(t, hooks, created, r.URL+"/x?token=canary")
	r.answers(http.StatusInternalServerError)
	event := s.happens(t, w.Workspace)
	began := s.clock.now()
	for i, pause := range []time.Duration{0, time.Minute, 5 * time.Minute, 15 * time.Minute} {
		if pause > 0 {
			s.clock.advance(pause - time.Millisecond)
			require.NoError(t, c.Drain(t.Context()))
			require.Len(t, r.all(), i, "not before its time")
			s.clock.advance(time.Millisecond)
		}
		require.NoError(t, c.Drain(t.Context()))
		require.Len(t, r.all(), i+1)
	}
	s.clock.advance(24 * time.Hour)
	require.NoError(t, c.Drain(t.Context()))
	log := s.log(t, hooks, w)
	require.Len(t, log, 1)
	require.Equal(t, webhook.GivenUp, log[0].State)
	require.Len(t, log[0].Attempts, 4)
	for i, got := range r.all() {
		require.Equal(t, event.String(), got.event)
		require.Equal(t, log[0].Body, got.body)
		require.Equal(t, webhook.Sign([]byte(got.body), log[0].Attempts[i].At, plain), got.signature)
	}
	failing, err := hooks.Get(t.Context(), w.Workspace, w.ID)
	require.NoError(t, err)
	require.True(t, failing.Enabled, "it is shown, and not disabled")
	require.Equal(t, began, *failing.FailingSince)
	require.Nil(t, failing.LastDeliveredAt)

	r.answers(http.StatusNoContent)
	by := byMember(created.Owner)
	again, err := hooks.Redeliver(t.Context(), w.Workspace, w.ID, log[0].ID, by)
	require.NoError(t, err)
	require.Equal(t, webhook.Pending, again.State)
	require.Equal(t, "webhook.redeliver", s.lastEvent(t, w.Workspace).Action)
	require.NoError(t, c.Drain(t.Context()))
	log = s.log(t, hooks, w)
	require.Equal(t, webhook.Delivered, log[0].State)
	require.Len(t, log[0].Attempts, 5)
	require.Equal(t, event.String(), r.all()[4].event)
	well, err := hooks.Get(t.Context(), w.Workspace, w.ID)
	require.NoError(t, err)
	require.Nil(t, well.FailingSince)
	require.Equal(t, s.clock.now(), *well.LastDeliveredAt)
	require.Equal(t, w.Version, well.Version, "what comes of deliveries is no change")
	for _, state := range []webhook.State{webhook.Delivered, webhook.Pending} {
		found, err := hooks.Deliveries(t.Context(), w.Workspace, w.ID, page.Query{}, webhook.Filter{State: state})
		require.NoError(t, err)
		require.Len(t, found.Items, map[webhook.State]int{webhook.Delivered: 1}[state])
	}
}

// Two couriers side by side make each delivery once.
func TestCouriersShareTheWork(t *testing.T) {
	s, r := openServices(t), newReceiver(t)
	hooks := s.hooks(true, noNames{})
	want := map[string]int{}
	for i := range 6 {
		created := s.create(t, fmt.Sprintf("acme-%d", i))
		w, _ := s.hook(t, hooks, created, r.URL)
		for range 5 {
			want[s.happens(t, w.Workspace).String()] = 1
		}
	}
	var group sync.WaitGroup
	for range 2 {
		c := s.courier(s.client(), s.keyring)
		group.Go(func() {
			if err := c.Drain(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := map[string]int{}
	for _, one := range r.all() {
		got[one.event]++
	}
	require.Equal(t, want, got)
}

// dying is a sender whose process ends in the middle.
type dying struct{ end context.CancelFunc }

func (d dying) Send(context.Context, webhook.Shipment) webhook.Attempt {
	d.end()
	return webhook.Attempt{Status: 200}
}

// What a courier had when it died is delivered by another, once it is clear that
// nobody has it; the account has no attempt that nobody knows the end of.
func TestADeadCouriersDeliveriesAreMade(t *testing.T) {
	s, r := openServices(t), newReceiver(t)
	hooks := s.hooks(true, noNames{})
	w, _ := s.hook(t, hooks, s.create(t, "acme"), r.URL)
	event := s.happens(t, w.Workspace)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_ = s.courier(dying{cancel}, s.keyring).Drain(ctx)
	require.Error(t, ctx.Err())
	require.Equal(t, webhook.Pending, s.log(t, hooks, w)[0].State)

	c := s.courier(s.client(), s.keyring)
	require.NoError(t, c.Drain(t.Context()))
	require.Empty(t, r.all(), "it may still be under way")
	s.clock.advance(time.Minute)
	require.NoError(t, c.Drain(t.Context()))
	require.Len(t, r.all(), 1)
	require.Equal(t, event.String(), r.all()[0].event)
	log := s.log(t, hooks, w)
	require.Len(t, log, 1)
	require.Equal(t, webhook.Delivered, log[0].State)
	require.Len(t, log[0].Attempts, 1)
}

// stuck is a sender whose receivers with a name answer only when they are let.
type stuck struct {
	webhook.Sender
	slow    string
	waiting chan struct{}
	let     chan struct{}
}

func (s stuck) Send(ctx context.Context, p webhook.Shipment) webhook.Attempt {
	if webhook.HostOf(p.URL) == s.slow {
		s.waiting <- struct{}{}
		<-s.let
	}
	return s.Sender.Send(ctx, p)
}

// A receiver that is slow holds up no other, however much there is for it.
func TestASlowReceiverHoldsUpNobody(t *testing.T) {
	s, r := openServices(t), newReceiver(t)
	hooks := s.hooks(true, noNames{})
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	require.NoError(t, err)
	for i := range 12 { // more workspaces than there is room for attempts
		w, _ := s.hook(t, hooks, s.create(t, fmt.Sprintf("slow-%d", i)), "http://[::1]:"+port)
		for range 4 {
			s.happens(t, w.Workspace)
		}
	}
	quick, _ := s.hook(t, hooks, s.create(t, "quick"), r.URL)
	sender := stuck{Sender: s.client(), slow: "::1", waiting: make(chan struct{}, 100), let: make(chan struct{})}
	c := s.courier(sender, s.keyring)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	<-sender.waiting
	<-sender.waiting
	event := s.happens(t, quick.Workspace)
	require.Eventually(t, func() bool { return len(r.all()) == 1 }, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, event.String(), r.all()[0].event)
	require.Empty(t, sender.waiting, "no more than two at once for one host")
	cancel()
	close(sender.let)
	require.NoError(t, <-done)
}

// A disabled webhook gets nothing, and what was on its way is given up. A deleted
// one takes its account along.
func TestDisabledWebhooksGetNothing(t *testing.T) {
	s, r := openServices(t), newReceiver(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	hooks, c := s.hooks(true, noNames{}), s.courier(s.client(), s.keyring)
	w, _ := s.hook(t, hooks, created, r.URL)
	s.happens(t, ws)
	w, _, err := hooks.Update(t.Context(), ws, w.ID, by, webhook.Patch{Enabled: new(bool)})
	require.NoError(t, err)
	require.Equal(t, webhook.GivenUp, s.log(t, hooks, w)[0].State)
	s.happens(t, ws)
	require.NoError(t, c.Drain(t.Context()))
	require.Empty(t, r.all())
	require.Len(t, s.log(t, hooks, w), 1)
	_, err = hooks.Redeliver(t.Context(), ws, w.ID, s.log(t, hooks, w)[0].ID, by)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, attempt, err := hooks.Test(t.Context(), ws, w.ID, by)
	require.NoError(t, err)
	require.Empty(t, attempt.Trouble, "it can be tested before it is enabled")

	_, err = hooks.Delete(t.Context(), ws, w.ID, by, nil)
	require.NoError(t, err)
	owned := s.db.DirectSQL()
	defer owned.Close()
	var left int
	require.NoError(t, owned.QueryRowContext(t.Context(), "SELECT count(*) FROM webhook_deliveries").Scan(&left))
	require.Zero(t, left)
}

// Who goes away before the answer has tested a webhook too, and it is audited.
func TestATestIsAuditedWhoeverWaitsForIt(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ctx, cancel := context.WithCancel(t.Context())
	hooks := s.hooksWith(true, noNames{}, dying{cancel})
	w, _ := s.hook(t, hooks, created, "https://192.0.2.1/")
	_, _, err := hooks.Test(ctx, w.Workspace, w.ID, byMember(created.Owner))
	require.NoError(t, err)
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.Equal(t, "webhook.test", s.lastEvent(t, w.Workspace).Action)
}

func TestWebhooksGoWithTheirWorkspace(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	w, _ := s.hook(t, s.hooks(true, noNames{}), created, "https://192.0.2.1/")
	s.happens(t, w.Workspace)
	_, _, err := s.workspaces.Delete(t.Context(), w.Workspace, byMember(created.Owner), workspace.Deletion{ConfirmName: created.Workspace.Name})
	require.NoError(t, err)
	owned := s.db.DirectSQL()
	defer owned.Close()
	var left int
	require.NoError(t, owned.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM webhooks) + (SELECT count(*) FROM webhook_deliveries)").Scan(&left))
	require.Zero(t, left)
}

func TestWebhooksAreChecked(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	good := webhook.NewWebhook{Name: "x", URL: "https://hooks.example.com/canary?canary", Events: webhook.Types()}
	for name, c := range map[string]struct {
		resolver webhook.Resolver
		change   func(n *webhook.NewWebhook)
		path     string
	}{
		"name":          {noNames{}, func(n *webhook.NewWebhook) { n.Name = " " }, "name"},
		"no events":     {noNames{}, func(n *webhook.NewWebhook) { n.Events = nil }, "events"},
		"unknown event": {noNames{}, func(n *webhook.NewWebhook) { n.Events = []webhook.Type{"canary"} }, "events[0]"},
		"a test":        {noNames{}, func(n *webhook.NewWebhook) { n.Events = []webhook.Type{webhook.Test} }, "events[0]"},
		"plain":         {noNames{}, func(n *webhook.NewWebhook) { n.URL = "http://hooks.example.com/canary" }, "url"},
		"inner":         {noNames{}, func(n *webhook.NewWebhook) { n.URL = "https://10.0.0.1/canary" }, "url"},
		"inner by name": {namedAs("10.0.0.1"), func(*webhook.NewWebhook) {}, "url"},
		"mapped":        {namedAs("::ffff:169.254.169.254"), func(*webhook.NewWebhook) {}, "url"},
	} {
		t.Run(name, func(t *testing.T) {
			n := good
			c.change(&n)
			_, _, _, err := s.hooks(false, c.resolver).Create(t.Context(), ws, by, n)
			require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
			require.Equal(t, c.path, fault.Of(err).Violations[0].Path)
			require.NotContains(t, fmt.Sprint(fault.Of(err).Violations, err), "canary")
		})
	}
	hooks := s.hooks(false, noNames{})
	w, _, _, err := hooks.Create(t.Context(), ws, by, good)
	require.NoError(t, err, "a name that is not there yet may come")
	_, _, err = s.hooks(false, namedAs("127.0.0.1")).Update(t.Context(), ws, w.ID, by, webhook.Patch{URL: ptr("https://other.example.com/")})
	require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
	_, attempt, err := s.hooks(false, namedAs("127.0.0.1")).Test(t.Context(), ws, w.ID, by)
	require.NoError(t, err)
	require.Equal(t, webhook.Forbidden, attempt.Trouble, "and is looked at again")
	_, _, err = hooks.Test(t.Context(), ws, w.ID, by)
	require.True(t, fault.Is(err, fault.RateLimitExceeded), "%v", err)
	s.clock.advance(webhook.TestEvery)
	_, _, err = hooks.Test(t.Context(), ws, w.ID, by)
	require.NoError(t, err)
	_, _, err = hooks.Test(t.Context(), ws, id.New[id.WebhookKind](testIDs), by)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)

	for range webhook.MaxWebhooks - 1 {
		s.hook(t, hooks, created, good.URL)
	}
	_, _, _, err = hooks.Create(t.Context(), ws, by, good)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// Both secrets sign for a day after a rotation, the audit log has neither, nor
// the URL, and both come under a new key of the keyring.
func TestSecretsRotate(t *testing.T) {
	s, r := openServices(t), newReceiver(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	hooks, c := s.hooks(true, noNames{}), s.courier(s.client(), s.keyring)
	w, first := s.hook(t, hooks, created, r.URL+"/canary?canary=1")
	require.NotContains(t, fmt.Sprint(s.lastEvent(t, ws)), "canary")
	require.NotContains(t, fmt.Sprint(s.lastEvent(t, ws)), first.Reveal())
	require.Contains(t, fmt.Sprint(s.lastEvent(t, ws).Diff), r.URL)
	w, second, _, err := hooks.Rotate(t.Context(), ws, w.ID, by, nil)
	require.NoError(t, err)
	require.NotEqual(t, first.Reveal(), second.Reveal())
	require.Equal(t, second.Reveal()[len(second.Reveal())-4:], w.Suffix)
	require.Equal(t, "webhook.rotate_secret", s.lastEvent(t, ws).Action)
	require.NotContains(t, fmt.Sprint(s.lastEvent(t, ws)), second.Reveal())

	signed := func(secrets ...secret.String) {
		t.Helper()
		s.happens(t, ws)
		require.NoError(t, c.Drain(t.Context()))
		all := r.all()
		got := all[len(all)-1]
		require.Equal(t, webhook.Sign([]byte(got.body), s.clock.now(), secrets...), got.signature)
	}
	signed(second, first)
	rotated, err := s.keyring.Rotate()
	require.NoError(t, err)
	resealer := webhook.NewResealer(webhook.ResealerDeps{System: s.db.System(), Seals: NewWebhookSeals(), Runner: s.db.Runner(), Renewal: NewWebhookStore()})
	report, err := resealer.Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Equal(t, 2, report.Done)
	count, err := resealer.Seals(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, count[rotated.PrimaryID()])
	require.Len(t, count, 1)
	report, err = resealer.Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Zero(t, report.Done)
	fresh, err := rotated.Drop()
	require.NoError(t, err)
	c = s.courier(s.client(), fresh)
	s.clock.advance(webhook.Overlap - time.Millisecond)
	signed(second, first)
	s.clock.advance(time.Millisecond)
	signed(second)

	// Without the key nothing is sent, and it is said why.
	sent := len(r.all())
	stranger, err := seal.New()
	require.NoError(t, err)
	s.happens(t, ws)
	require.NoError(t, s.courier(s.client(), stranger).Drain(t.Context()))
	require.Len(t, r.all(), sent)
	require.Equal(t, webhook.Unsealed, s.log(t, hooks, w)[0].Attempts[0].Trouble)
	require.Len(t, s.log(t, hooks, w)[0].Attempts, 1)

	// A webhook whose only secret was never rotated has one seal.
	alone, _ := s.hook(t, hooks, created, r.URL)
	report, err = resealer.Reseal(t.Context(), fresh)
	require.NoError(t, err)
	require.Zero(t, report.Done)
	require.Equal(t, []string{fmt.Sprintf("%s of %s", alone.ID, ws)}, report.Unopened, "of a key that is gone")
	report, err = resealer.Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Equal(t, 1, report.Done)
}

// Deliveries are kept for 30 days.
func TestOldDeliveriesAreRemoved(t *testing.T) {
	s := openServices(t)
	hooks := s.hooks(true, noNames{})
	w, _ := s.hook(t, hooks, s.create(t, "acme"), "https://192.0.2.1/")
	s.happens(t, w.Workspace)
	s.clock.advance(webhook.KeepDeliveries)
	s.happens(t, w.Workspace)
	sweep := func(at time.Time) (n int) {
		require.NoError(t, s.db.System().InTx(t.Context(), func(ctx context.Context) (err error) {
			n, err = NewWebhookDesk().Sweep(ctx, at.Add(-webhook.KeepDeliveries), 10)
			return err
		}))
		return n
	}
	require.Zero(t, sweep(s.clock.now()))
	require.Equal(t, 1, sweep(s.clock.now().Add(time.Second)))
	require.Len(t, s.log(t, hooks, w), 1)
}
