package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// GetCredits implements the operation.
func (s *Server) GetCredits(ctx context.Context, _ gen.GetCreditsRequestObject) (gen.GetCreditsResponseObject, error) {
	found, err := s.services.Wallets.Get(ctx, callerOf(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return gen.GetCredits200JSONResponse{Data: creditsOf(found)}, nil
}

// ListCreditEntries implements the operation.
func (s *Server) ListCreditEntries(ctx context.Context, r gen.ListCreditEntriesRequestObject) (gen.ListCreditEntriesResponseObject, error) {
	found, err := s.services.Wallets.Entries(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListCreditEntries200JSONResponse{Data: each(found.Items, creditEntryOf), NextCursor: nextCursor(found.Next)}, nil
}

func creditsOf(a wallet.Account) gen.Credits {
	billing := a.Terms.Billing
	if billing == "" {
		billing = policy.BillingOff
	}
	return gen.Credits{
		Billing:    gen.Billing(billing),
		BalanceUsd: a.Balance().String(), BalanceNanos: int64(a.Balance()),
		GrantedUsd: a.Granted.String(), GrantedNanos: int64(a.Granted),
		ChargedUsd: a.Charged.String(), ChargedNanos: int64(a.Charged),
		FloorUsd: a.Terms.Floor.String(), FloorNanos: int64(a.Terms.Floor),
		ByokFee: gen.ByokFee{
			Rate: a.Terms.FeeRate, FreeRequests: a.Terms.FeeAfter, Requests: a.OwnRequests, FreeRequestsRemaining: a.FreeRequests(),
		},
	}
}

func creditEntryOf(e wallet.Entry) gen.CreditEntry {
	return gen.CreditEntry{
		ID: e.ID.String(), Number: e.Number, Kind: gen.CreditEntryKind(e.Kind),
		AmountUsd: e.Amount.String(), AmountNanos: int64(e.Amount), BalanceUsd: e.Balance.String(), BalanceNanos: int64(e.Balance),
		Requests: e.Requests, Reference: some(e.Reference), Note: some(e.Note), CreatedAt: e.CreatedAt,
	}
}
