package wire

// AccountSpend is what a usage event adds to an account.
type AccountSpend struct {
	Account Account
	Spend
}

// MaxAttributed bounds the departments, and the guardrails, that one request is
// counted on; it keeps what one event adds within one commit.
const MaxAttributed = 256

// Spends appends to dst what the event adds to each account; nothing for what
// the gateway refused. A request is counted for the caller's first model, and
// the cost of any. All of it counts on the day that is inside the event's ID.
func (e *UsageEvent) Spends(dst []AccountSpend) []AccountSpend {
	if e.Outcome == Refused {
		return dst
	}
	s := e.spend()
	if !s.IsZero() {
		dst = e.attributed(append(dst, AccountSpend{AccountWorkspace, s}), s)
	}
	if e.Charge > 0 {
		dst = append(dst, AccountSpend{AccountCharged, Spend{Cost: e.Charge}})
	}
	if e.Purpose != "" {
		return dst
	}
	if e.byok() && e.Outcome == Success {
		dst = append(dst, AccountSpend{AccountBYOK, Spend{Requests: 1}})
	}
	if e.Free && e.ID == e.PrimaryID {
		dst = append(dst, AccountSpend{FreeAccount(e.User), Spend{Requests: 1}})
	}
	return dst
}

// attributed appends s for what the request counts toward beside its workspace.
func (e *UsageEvent) attributed(dst []AccountSpend, s Spend) []AccountSpend {
	if !e.Key.IsZero() {
		dst = append(dst, AccountSpend{KeyAccount(e.Key), s})
	}
	for _, d := range e.Departments[:min(len(e.Departments), MaxAttributed)] {
		dst = append(dst, AccountSpend{DepartmentAccount(d), s})
	}
	for _, g := range e.Guardrails[:min(len(e.Guardrails), MaxAttributed)] {
		dst = append(dst, AccountSpend{GuardrailAccount(g), s})
	}
	if agent := encodable(e.Agent); agent != "" && len(agent) <= MaxAgent {
		dst = append(dst, AccountSpend{AgentAccount(agent), s})
	}
	return dst
}

// spend is the request, for the caller's first model, and the cost of any.
func (e *UsageEvent) spend() Spend {
	s := Spend{Cost: max(e.Cost.Total, 0)}
	if e.ID == e.PrimaryID {
		s.Requests = 1
	}
	if e.byok() {
		s.BYOK = s.Cost
	}
	return s
}

// byok reports whether the workspace's own credential was used, as
// CredentialSource names it.
func (e *UsageEvent) byok() bool { return e.CredentialSource == "byok" }
