package api

import (
	"context"
	"encoding/json"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// ListWebhooks implements the operation.
func (s *Server) ListWebhooks(ctx context.Context, r gen.ListWebhooksRequestObject) (gen.ListWebhooksResponseObject, error) {
	found, err := s.services.Webhooks.List(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListWebhooks200JSONResponse{Data: each(found.Items, webhookOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateWebhook implements the operation.
func (s *Server) CreateWebhook(ctx context.Context, r gen.CreateWebhookRequestObject) (gen.CreateWebhookResponseObject, error) {
	c := callerOf(ctx)
	w, plain, pub, err := s.services.Webhooks.Create(ctx, c.Workspace, c.by(), webhook.NewWebhook{
		Name: r.Body.Name, URL: r.Body.URL, Events: texts[gen.WebhookEventType, webhook.Type](r.Body.Events),
		Disabled: r.Body.Enabled != nil && !*r.Body.Enabled,
	})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.IssuedWebhookChange{Data: issuedWebhookOf(w, plain), Publication: ref}
	if pending {
		return gen.CreateWebhook202JSONResponse{Body: body, Headers: gen.CreateWebhook202ResponseHeaders{ETag: etag(w.Version)}}, nil
	}
	return gen.CreateWebhook201JSONResponse{Body: body, Headers: gen.CreateWebhook201ResponseHeaders{ETag: etag(w.Version)}}, nil
}

// GetWebhook implements the operation.
func (s *Server) GetWebhook(ctx context.Context, r gen.GetWebhookRequestObject) (gen.GetWebhookResponseObject, error) {
	key, err := parseID[id.WebhookKind](r.WebhookID, webhookNoun)
	if err != nil {
		return nil, err
	}
	w, err := s.services.Webhooks.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetWebhook200JSONResponse{
		Body: gen.WebhookOne{Data: webhookOf(w)}, Headers: gen.GetWebhook200ResponseHeaders{ETag: etag(w.Version)},
	}, nil
}

// UpdateWebhook implements the operation.
func (s *Server) UpdateWebhook(ctx context.Context, r gen.UpdateWebhookRequestObject) (gen.UpdateWebhookResponseObject, error) {
	t, err := targetOf[id.WebhookKind](ctx, r.WebhookID, webhookNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := webhook.Patch{Name: r.Body.Name, URL: r.Body.URL, Enabled: r.Body.Enabled, IfMatch: t.ifMatch}
	if r.Body.Events != nil {
		patch.Events = pointer(texts[gen.WebhookEventType, webhook.Type](*r.Body.Events))
	}
	w, pub, err := s.services.Webhooks.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.WebhookChange{Data: webhookOf(w), Publication: ref}
	if pending {
		return gen.UpdateWebhook202JSONResponse{Body: body, Headers: gen.UpdateWebhook202ResponseHeaders{ETag: etag(w.Version)}}, nil
	}
	return gen.UpdateWebhook200JSONResponse{Body: body, Headers: gen.UpdateWebhook200ResponseHeaders{ETag: etag(w.Version)}}, nil
}

// DeleteWebhook implements the operation.
func (s *Server) DeleteWebhook(ctx context.Context, r gen.DeleteWebhookRequestObject) (gen.DeleteWebhookResponseObject, error) {
	t, err := targetOf[id.WebhookKind](ctx, r.WebhookID, webhookNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.Webhooks.Delete(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, t.id.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteWebhook202JSONResponse(body), nil
	}
	return gen.DeleteWebhook200JSONResponse(body), nil
}

// RotateWebhookSecret implements the operation.
func (s *Server) RotateWebhookSecret(ctx context.Context, r gen.RotateWebhookSecretRequestObject) (gen.RotateWebhookSecretResponseObject, error) {
	t, err := targetOf[id.WebhookKind](ctx, r.WebhookID, webhookNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	w, plain, pub, err := s.services.Webhooks.Rotate(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.IssuedWebhookChange{Data: issuedWebhookOf(w, plain), Publication: ref}
	if pending {
		return gen.RotateWebhookSecret202JSONResponse{Body: body, Headers: gen.RotateWebhookSecret202ResponseHeaders{ETag: etag(w.Version)}}, nil
	}
	return gen.RotateWebhookSecret200JSONResponse{Body: body, Headers: gen.RotateWebhookSecret200ResponseHeaders{ETag: etag(w.Version)}}, nil
}

// TestWebhook implements the operation.
func (s *Server) TestWebhook(ctx context.Context, r gen.TestWebhookRequestObject) (gen.TestWebhookResponseObject, error) {
	t, err := targetOf[id.WebhookKind](ctx, r.WebhookID, webhookNoun, nil)
	if err != nil {
		return nil, err
	}
	event, attempt, err := s.services.Webhooks.Test(ctx, t.Workspace, t.id, t.by())
	if err != nil {
		return nil, err
	}
	return gen.TestWebhook200JSONResponse{Data: gen.WebhookTest{
		EventID: event.String(), Delivered: attempt.Trouble == "", Attempt: webhookAttemptOf(attempt),
	}}, nil
}

// ListWebhookDeliveries implements the operation.
func (s *Server) ListWebhookDeliveries(ctx context.Context, r gen.ListWebhookDeliveriesRequestObject) (gen.ListWebhookDeliveriesResponseObject, error) {
	t, err := targetOf[id.WebhookKind](ctx, r.WebhookID, webhookNoun, nil)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Webhooks.Deliveries(ctx, t.Workspace, t.id, paging(ctx, r.Params.Cursor, r.Params.Limit),
		webhook.Filter{State: webhook.State(value(r.Params.State))})
	if err != nil {
		return nil, err
	}
	return gen.ListWebhookDeliveries200JSONResponse{Data: each(found.Items, webhookDeliveryOf), NextCursor: nextCursor(found.Next)}, nil
}

// RedeliverWebhookDelivery implements the operation.
func (s *Server) RedeliverWebhookDelivery(ctx context.Context, r gen.RedeliverWebhookDeliveryRequestObject) (gen.RedeliverWebhookDeliveryResponseObject, error) {
	t, err := targetOf[id.WebhookKind](ctx, r.WebhookID, webhookNoun, nil)
	if err != nil {
		return nil, err
	}
	delivery, err := parseID[id.DeliveryKind](r.DeliveryID, "delivery")
	if err != nil {
		return nil, err
	}
	d, err := s.services.Webhooks.Redeliver(ctx, t.Workspace, t.id, delivery, t.by())
	if err != nil {
		return nil, err
	}
	return gen.RedeliverWebhookDelivery200JSONResponse{Data: webhookDeliveryOf(d)}, nil
}

const webhookNoun = "webhook"

func webhookOf(w webhook.Webhook) gen.Webhook {
	return gen.Webhook{
		ID: w.ID.String(), Name: w.Name, URL: w.URL, Events: texts[webhook.Type, gen.WebhookEventType](w.Events), Enabled: w.Enabled,
		SecretSuffix: w.Suffix, PreviousSecretUntil: utc(w.PreviousUntil), FailingSince: utc(w.FailingSince), LastDeliveredAt: utc(w.LastDeliveredAt),
		CreatedBy: some(w.CreatedBy.String()), CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(),
	}
}

func issuedWebhookOf(hook webhook.Webhook, plain secret.String) gen.IssuedWebhook {
	w := webhookOf(hook)
	return gen.IssuedWebhook{
		ID: w.ID, Name: w.Name, URL: w.URL, Events: w.Events, Enabled: w.Enabled, SecretSuffix: w.SecretSuffix,
		PreviousSecretUntil: w.PreviousSecretUntil, FailingSince: w.FailingSince, LastDeliveredAt: w.LastDeliveredAt,
		CreatedBy: w.CreatedBy, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		Secret: pointer(plain.Reveal()),
	}
}

func webhookDeliveryOf(d webhook.Delivery) gen.WebhookDelivery {
	return gen.WebhookDelivery{
		ID: d.ID.String(), EventID: d.Event.String(), EventType: string(d.Type), State: gen.WebhookDeliveryState(d.State),
		Attempts: each(d.Attempts, webhookAttemptOf), NextAttemptAt: utc(d.DueAt), Payload: json.RawMessage(d.Body), CreatedAt: d.CreatedAt.UTC(),
	}
}

func webhookAttemptOf(a webhook.Attempt) gen.WebhookAttempt {
	return gen.WebhookAttempt{
		At: a.At.UTC(), Status: some(a.Status), DurationMs: a.Duration.Milliseconds(), Trouble: some(gen.WebhookTrouble(a.Trouble)),
	}
}
