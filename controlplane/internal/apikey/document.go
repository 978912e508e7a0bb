package apikey

import "github.com/signalbox-dev/signalbox/shared/policy"

// Document is what gateways get of a key.
func Document(k Key) policy.Key {
	return policy.Key{
		KID:           k.KID,
		ID:            k.ID,
		Workspace:     k.Workspace,
		CreatedBy:     k.CreatedBy,
		Status:        k.Status,
		SecretHash:    k.SecretHash,
		PreviousHash:  k.PreviousHash,
		PreviousUntil: k.PreviousUntil,
		ExpiresAt:     k.ExpiresAt,
		Models:        k.Models,
		Surfaces:      k.Surfaces,
		Scopes:        k.Scopes,
		Profile:       k.Profile,
		Department:    k.Department,
		Route:         k.Route,
		Limits:        k.Limits,
		Agent:         k.Agent,
		Revision:      k.Revision,
		MinRevision:   k.MinRevision,
	}.Versioned()
}
