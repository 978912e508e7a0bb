package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// GetPlatformBilling implements the operation.
func (s *Server) GetPlatformBilling(ctx context.Context, r gen.GetPlatformBillingRequestObject) (gen.GetPlatformBillingResponseObject, error) {
	ws, err := parseID[id.WorkspaceKind](r.WorkspaceID, workspaceNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Wallets.Get(ctx, ws)
	if err != nil {
		return nil, err
	}
	return gen.GetPlatformBilling200JSONResponse{
		Body:    gen.PlatformBillingOne{Data: billingOf(found)},
		Headers: gen.GetPlatformBilling200ResponseHeaders{ETag: etag(found.Version)},
	}, nil
}

// UpdatePlatformBilling implements the operation.
func (s *Server) UpdatePlatformBilling(ctx context.Context, r gen.UpdatePlatformBillingRequestObject) (gen.UpdatePlatformBillingResponseObject, error) {
	t, err := targetOf[id.WorkspaceKind](ctx, r.WorkspaceID, workspaceNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	edit, err := termsEdit(*r.Body)
	if err != nil {
		return nil, err
	}
	after, pub, err := s.services.Wallets.SetTerms(ctx, t.id, t.by(), edit, t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.PlatformBillingChange{Data: billingOf(after), Publication: ref}
	if pending {
		return gen.UpdatePlatformBilling202JSONResponse{Body: body, Headers: gen.UpdatePlatformBilling202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.UpdatePlatformBilling200JSONResponse{Body: body, Headers: gen.UpdatePlatformBilling200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

// ListPlatformCreditEntries implements the operation.
func (s *Server) ListPlatformCreditEntries(ctx context.Context, r gen.ListPlatformCreditEntriesRequestObject) (gen.ListPlatformCreditEntriesResponseObject, error) {
	ws, err := parseID[id.WorkspaceKind](r.WorkspaceID, workspaceNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Wallets.Entries(ctx, ws, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListPlatformCreditEntries200JSONResponse{Data: each(found.Items, creditEntryOf), NextCursor: nextCursor(found.Next)}, nil
}

// TopUpPlatformCredits implements the operation.
func (s *Server) TopUpPlatformCredits(ctx context.Context, r gen.TopUpPlatformCreditsRequestObject) (gen.TopUpPlatformCreditsResponseObject, error) {
	return s.credited(ctx, r.WorkspaceID, r.Params.Wait, r.Body.AmountUsd, wallet.NewEntry{
		Kind: wallet.TopUp, Reference: value(r.Body.Reference), Note: value(r.Body.Note),
	})
}

// AdjustPlatformCredits implements the operation.
func (s *Server) AdjustPlatformCredits(ctx context.Context, r gen.AdjustPlatformCreditsRequestObject) (gen.AdjustPlatformCreditsResponseObject, error) {
	return s.credited(ctx, r.WorkspaceID, r.Params.Wait, r.Body.AmountUsd, wallet.NewEntry{
		Kind: wallet.Adjustment, Reference: value(r.Body.Reference), Note: r.Body.Reason,
	})
}

func (s *Server) credited(ctx context.Context, workspace string, wait *gen.Wait, usd string, n wallet.NewEntry) (*credited, error) {
	ws, err := parseID[id.WorkspaceKind](workspace, workspaceNoun)
	if err != nil {
		return nil, err
	}
	if n.Amount, err = onlyAmount("amount_usd", usd); err != nil {
		return nil, err
	}
	made, pub, err := s.services.Wallets.Add(ctx, ws, callerOf(ctx).by(), n)
	if err != nil {
		return nil, err
	}
	out := &credited{status: http.StatusOK, body: gen.CreditEntryChange{Data: creditEntryOf(made)}}
	if pub.ID.IsZero() { // it was there
		return out, nil
	}
	ref, pending := s.settle(ctx, pub, wait)
	out.body.Publication = &ref
	if out.status = http.StatusCreated; pending {
		out.status = http.StatusAccepted
	}
	return out, nil
}

// credited is the answer to every new entry of a wallet.
type credited struct {
	status int
	body   gen.CreditEntryChange
}

func (c *credited) write(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(c.status)
	return json.NewEncoder(w).Encode(c.body)
}

// VisitTopUpPlatformCreditsResponse implements the operation's answer.
func (c *credited) VisitTopUpPlatformCreditsResponse(w http.ResponseWriter) error { return c.write(w) }

// VisitAdjustPlatformCreditsResponse implements the operation's answer.
func (c *credited) VisitAdjustPlatformCreditsResponse(w http.ResponseWriter) error { return c.write(w) }

func termsEdit(b gen.PlatformBillingPatch) (wallet.Edit, error) {
	var floor *money.Nanos
	if text, err := b.FloorUsd.Get(); err == nil {
		n, err := onlyAmount("floor_usd", text)
		if err != nil {
			return nil, err
		}
		floor = &n
	}
	return func(o *wallet.Own) {
		if b.Billing.IsSpecified() {
			o.Billing = nil
			if text, err := b.Billing.Get(); err == nil {
				o.Billing = pointer(policy.Billing(text))
			}
		}
		if b.FloorUsd.IsSpecified() {
			o.Floor = floor
		}
		patchNullable(&o.FeeRate, b.ByokFeeRate)
		patchNullable(&o.FeeAfter, b.ByokFreeRequests)
	}, nil
}

func billingOf(a wallet.Account) gen.PlatformBilling {
	own := gen.OwnTerms{ByokFeeRate: pointed(a.Own.FeeRate), ByokFreeRequests: pointed(a.Own.FeeAfter)}
	own.Billing, own.FloorUsd = nullable.NewNullNullable[string](), nullable.NewNullNullable[string]()
	if a.Own.Billing != nil {
		own.Billing.Set(string(*a.Own.Billing))
	}
	if a.Own.Floor != nil {
		own.FloorUsd.Set(a.Own.Floor.String())
	}
	return gen.PlatformBilling{
		WorkspaceID: a.Workspace.String(), Own: own, Credits: creditsOf(a),
		PaidUsd: a.Paid.String(), PaidNanos: int64(a.Paid), ToppedUpAt: utc(a.ToppedUpAt),
	}
}
