package webhook

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// TestEvery is how often a webhook can be tested: a test is for a person, and no
// way to have the platform call others.
const TestEvery = 5 * time.Second

// Deliveries returns a page of what went to a webhook, newest first.
func (s *Service) Deliveries(ctx context.Context, ws id.Workspace, webhook id.Webhook, q page.Query, f Filter) (page.Result[Delivery], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Delivery], error) {
		if _, err := s.d.Store.Get(ctx, ws, webhook); err != nil {
			return page.Result[Delivery]{}, err
		}
		return s.d.Deliveries.List(ctx, ws, webhook, q, f)
	})
}

// Redeliver puts a delivery on its way again, with the same event id: one that
// is done begins anew, one that waits for its next attempt is due at once.
func (s *Service) Redeliver(ctx context.Context, ws id.Workspace, webhook id.Webhook, delivery id.Delivery, by audit.By) (Delivery, error) {
	var after Delivery
	err := s.d.Runner.InTx(ctx, ws, func(ctx context.Context) error {
		w, err := s.d.Store.Get(ctx, ws, webhook)
		if err != nil {
			return err
		}
		if !w.Enabled {
			return fault.New(fault.Conflict, "The webhook is disabled. Enable it first.")
		}
		d, err := s.d.Deliveries.Get(ctx, ws, webhook, delivery)
		if err != nil {
			return err
		}
		after = d.Again(s.now())
		if err := s.d.Deliveries.Requeue(ctx, ws, after); err != nil {
			return err
		}
		return s.audit(ctx, ws, by, "webhook.redeliver", webhook)
	})
	return after, err
}

// Test sends a test event now, once, and returns its id with what came of it. A
// disabled webhook can be tested. Nothing of it is kept but the audit event.
func (s *Service) Test(ctx context.Context, ws id.Workspace, webhook id.Webhook, by audit.By) (id.Event, Attempt, error) {
	var w Webhook
	now := s.now()
	// Outside of an idempotency claim: what ends with a failure is not executed.
	err := s.d.Runner.InTx(idempotency.Without(ctx), ws, func(ctx context.Context) (err error) {
		w, err = s.d.Directory.Turn(ctx, ws, webhook, now, TestEvery)
		return err
	})
	if err != nil {
		return id.Event{}, Attempt{}, err
	}
	e := Event{ID: id.New[id.EventKind](s.d.IDs), Workspace: ws, Type: Test, At: now, Data: struct {
		Webhook string `json:"webhook_id"`
	}{webhook.String()}}
	body, err := e.Body()
	if err != nil {
		return id.Event{}, Attempt{}, err
	}
	attempt := Attempt{At: now, Trouble: Unsealed}
	if secrets, err := Secrets(s.d.Vault, w, now); err == nil {
		attempt = s.d.Sender.Send(ctx, Shipment{URL: w.URL, Event: e.ID, Type: e.Type, Body: body, Secrets: secrets})
	}
	// A caller who goes away meanwhile has had it sent all the same.
	ctx, cancel := txn.Afterwards(ctx)
	defer cancel()
	err = s.d.Runner.InTx(ctx, ws, func(ctx context.Context) error { return s.audit(ctx, ws, by, "webhook.test", webhook) })
	return e.ID, attempt, err
}

func (s *Service) audit(ctx context.Context, ws id.Workspace, by audit.By, action string, webhook id.Webhook) error {
	return s.d.Auditor.Append(ctx, ws, audit.Event{
		ID: id.New[id.AuditEventKind](s.d.IDs), Workspace: ws, At: s.now(), Actor: by.Actor, Action: action,
		TargetType: "webhook", TargetID: webhook.String(), RequestID: by.RequestID,
	})
}

// Secrets opens those that sign at now, the present one first. A previous one
// that does not open is left out: the present one is what matters.
func Secrets(vault Vault, w Webhook, now time.Time) ([]secret.String, error) {
	if vault == nil {
		return nil, fault.New(fault.Conflict, "This platform has no keyring.")
	}
	binding := Binding(w.Workspace, w.ID)
	present, err := vault.Open(w.Sealed, binding...)
	if err != nil {
		return nil, err
	}
	list := []secret.String{present}
	if w.SignsWith(now) {
		if previous, err := vault.Open(w.Previous, binding...); err == nil {
			list = append(list, previous)
		}
	}
	return list, nil
}
