package policy

import (
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Limits are what the requests of a workspace may use. Those of one key travel
// with its document (KeyLimits).
type Limits struct {
	RatePolicies []RatePolicy `json:"rate_policies,omitempty"` // those that something is bound to, sorted by id
	Budgets      []Budget     `json:"budgets,omitempty"`       // sorted by id
	Allowance    Allowance    `json:"allowance,omitzero"`
	Credit       Credit       `json:"credit,omitzero"`
}

// RatePolicy bounds what each subject that it is bound to may use in any 60
// seconds, and at the same time.
type RatePolicy struct {
	ID   id.RatePolicy `json:"id"`
	Name string        `json:"name"`

	// 0: no limit. Tokens are input and output together, cached ones too.
	Requests   int64 `json:"requests_per_minute,omitempty"`
	Tokens     int64 `json:"tokens_per_minute,omitempty"`
	Concurrent int64 `json:"concurrent_requests,omitempty"`

	// Strict: requests are admitted one by one over all gateways, never one too
	// many in any 60 seconds. Else each gateway goes by what it knows of the
	// others, a quarter of a second old at most.
	Strict bool `json:"fail_closed,omitempty"`
	// Unavailable is what becomes of a request when the answer over all gateways
	// cannot be had in time.
	Unavailable Unavailable `json:"on_unavailable"`

	// What it is bound to.
	Keys        []id.Key        `json:"keys,omitempty"`        // each by itself; sorted
	Members     []id.User       `json:"members,omitempty"`     // all keys that one created, together; sorted
	Departments []id.Department `json:"departments,omitempty"` // everything that counts toward one, together; sorted
	Guardrails  []id.Guardrail  `json:"guardrails,omitempty"`  // each key that one binds, by itself; sorted
	EndUsers    bool            `json:"end_users,omitempty"`   // each end user by itself; who names none is not limited
}

// Unavailable says what becomes of a request whose limit cannot be asked.
type Unavailable string

// The choices.
const (
	AllowUnavailable Unavailable = "allow"
	DenyUnavailable  Unavailable = "deny"
	// ShareUnavailable admits by the limit divided by the gateways that are known
	// to be alive.
	ShareUnavailable Unavailable = "local_share"
)

// LimitScope says who a rate-limit policy or a budget is about.
type LimitScope string

// The scopes. Agents and workspaces have budgets only, end users policies only.
const (
	LimitsKey        LimitScope = "key"
	LimitsMember     LimitScope = "member"
	LimitsDepartment LimitScope = "department"
	LimitsGuardrail  LimitScope = "guardrail"
	LimitsEndUser    LimitScope = "end_user"
	LimitsAgent      LimitScope = "agent"
	LimitsWorkspace  LimitScope = "workspace"
)

// Budget bounds what is spent in a window: by the whole workspace, or by what
// counts toward the one department, guardrail or agent that is set.
type Budget struct {
	ID       id.Budget   `json:"id"`
	Interval Interval    `json:"interval"`
	Limit    money.Nanos `json:"limit_nanos"` // above 0
	// Reserve: each request's worst case is reserved before it is sent, so that
	// the limit is never passed. Else what is spent is looked at, which requests in
	// progress can pass.
	Reserve     bool `json:"reserve,omitempty"`
	IncludeBYOK bool `json:"include_byok,omitempty"` // what the workspace's own credentials are charged by their providers counts too

	Department id.Department `json:"department,omitzero"` // has no lifetime and no Reserve
	Guardrail  id.Guardrail  `json:"guardrail,omitzero"`
	Agent      string        `json:"agent,omitempty"` // as callers name it
}

// Scope is who the budget is about.
func (b *Budget) Scope() LimitScope {
	switch {
	case !b.Department.IsZero():
		return LimitsDepartment
	case !b.Guardrail.IsZero():
		return LimitsGuardrail
	case b.Agent != "":
		return LimitsAgent
	}
	return LimitsWorkspace
}

// KeyLimits are what one key may use in the windows of now.
type KeyLimits struct {
	Daily   KeyWindow `json:"daily,omitzero"`
	Weekly  KeyWindow `json:"weekly,omitzero"`
	Monthly KeyWindow `json:"monthly,omitzero"`

	Reserve     bool `json:"reserve,omitempty"`      // the costs, as with a Budget
	IncludeBYOK bool `json:"include_byok,omitempty"` // in the costs, as with a Budget
	SoftBlocked bool `json:"soft_blocked,omitempty"` // nothing is admitted until that is taken back
}

// KeyWindow are the limits of a key in one window; 0: none.
type KeyWindow struct {
	Requests int64       `json:"requests,omitempty"`
	Cost     money.Nanos `json:"cost_nanos,omitempty"`
}

// Allowance is what the platform lets each user of the workspace do, all keys
// that one created together; keys without an owner share one allowance. 0: no
// limit.
type Allowance struct {
	PerMinute  int64             `json:"per_minute,omitempty"`   // requests in any 60 seconds
	FreePerDay int64             `json:"free_per_day,omitempty"` // requests to free models on a UTC day
	Users      []MemberAllowance `json:"users,omitempty"`        // who have another PerMinute, sorted by user
}

// MemberAllowance is the allowance of one user in place of the workspace's.
type MemberAllowance struct {
	User      id.User `json:"user"`
	PerMinute int64   `json:"per_minute"` // 0: no limit
}

// Credit is how a workspace pays. What is left is Granted less all that was
// charged, which the ledger knows.
type Credit struct {
	Billing Billing     `json:"billing,omitempty"` // "" as BillingOff
	Granted money.Nanos `json:"granted_nanos,omitempty"`
	Floor   money.Nanos `json:"floor_nanos,omitempty"` // managed models need more than this left

	// The fee for requests with the workspace's own credentials, once a UTC month
	// had FeeAfter completed ones: FeeRate millionths of what the same request costs
	// with the platform's. 0: none.
	FeeRate  int64 `json:"byok_fee_rate,omitempty"`
	FeeAfter int64 `json:"byok_fee_after,omitempty"`
}

// Billing says how a workspace pays.
type Billing string

// The kinds of billing.
const (
	BillingOff     Billing = "off"     // nothing is charged
	BillingPrepaid Billing = "prepaid" // from the wallet, down to the floor
	BillingInvoice Billing = "invoice" // charged, and never refused for want of credit
)

// Membership says which departments the requests of a user count toward, when
// their key belongs to none itself: those that the user is a member of, or the
// one that takes their place. Sorted.
type Membership struct {
	User        id.User         `json:"user"`
	Departments []id.Department `json:"departments"`
}

// CountsToward are the departments that a request of a key counts toward; callers
// must not change them.
func (v *View) CountsToward(k *Key) []id.Department {
	if !k.Department.IsZero() {
		return []id.Department{k.Department}
	}
	return v.members[k.CreatedBy]
}

// Limits are what the workspace's requests may use; nil: nothing is limited.
func (v *View) Limits() *Limits { return v.snapshot.Limits }

func membersOf(s *Snapshot) map[id.User][]id.Department {
	if len(s.Members) == 0 {
		return nil
	}
	members := make(map[id.User][]id.Department, len(s.Members))
	for i := range s.Members {
		members[s.Members[i].User] = s.Members[i].Departments
	}
	return members
}
