// Package idempotency owns Idempotency-Key: a call made again with the same
// key is answered from the first one's answer, and runs at most once. It knows
// nothing of HTTP beyond a status, headers and a body, or of SQL.
//
// A call goes: Reserve, run under WithClaim, Complete. The claim is marked
// executed in the very transaction that makes the change, so a process that
// dies in between can neither run the change twice nor lose that it ran.
package idempotency

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// How long things last.
const (
	Keep  = 24 * time.Hour  // an answer
	Lease = 2 * time.Minute // a claim whose holder went silent
)

// MaxKey is the longest Idempotency-Key, in characters.
const MaxKey = 255

// Request identifies a call.
type Request struct {
	Workspace id.Workspace // zero for the operator's calls
	Actor     string       // whose key it is: keys of different callers are apart
	Key       string       // the header's value
	Hash      [32]byte     // of method, path and body: the same key must mean the same call
}

// Answer is what the first call was answered. It never holds a plaintext key:
// the caller takes it out before Complete.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
}

// Claim is the right to run a call.
type Claim struct {
	Request Request
	Token   uuid.UUID
}

// Store keeps claims and answers. Its methods run in transactions of their own.
type Store interface {
	// Reserve gives either a claim (replay is nil) or the first call's answer.
	// Of concurrent callers one gets the claim; the others get a retryable
	// conflict while it runs. The same key with another hash is
	// idempotency_conflict. A call that was executed but whose answer was lost
	// is idempotency_conflict with the field "executed".
	Reserve(ctx context.Context, r Request) (claim Claim, replay *Answer, err error)
	// Complete stores the answer of a claim.
	Complete(ctx context.Context, c Claim, a Answer) error
	// Release gives a claim back whose call changed nothing, so that it may be
	// tried again with the same key. A claim that was executed stays.
	Release(ctx context.Context, c Claim) error
	// Sweep removes at most limit expired entries and returns how many.
	Sweep(ctx context.Context, limit int) (int, error)
}

type claimKey struct{}

// WithClaim makes transactions under ctx mark the claim executed when they
// commit, and fail when the claim was lost.
func WithClaim(ctx context.Context, c Claim) context.Context {
	return context.WithValue(ctx, claimKey{}, c)
}

// Without keeps transactions under ctx from marking the claim: they are not
// what makes the call done.
func Without(ctx context.Context) context.Context { return context.WithValue(ctx, claimKey{}, nil) }

// ClaimOf returns the claim under which ctx runs.
func ClaimOf(ctx context.Context) (Claim, bool) {
	c, ok := ctx.Value(claimKey{}).(Claim)
	return c, ok
}

// Running is the failure of a call whose twin has not ended.
func Running() *fault.Error {
	return fault.New(fault.Conflict, "A call with the same Idempotency-Key is still running. Try again in a moment.").After(time.Second)
}

// Mismatch is the failure of a key used for two different calls.
func Mismatch() *fault.Error {
	return fault.New(fault.IdempotencyConflict, "The Idempotency-Key was used for a different call. Use a new key for a new call.")
}

// Lost is the failure of a call that was carried out but whose answer was not kept.
func Lost() *fault.Error {
	return fault.New(fault.IdempotencyConflict, "The call with this Idempotency-Key was carried out, but its answer was lost. Read the resource to see the result.").
		With("executed", true)
}
