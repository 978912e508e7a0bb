package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// TestWhatAnEventAddsToAccounts names what each kind of event comes to on each.
func TestWhatAnEventAddsToAccounts(t *testing.T) {
	ids := id.SystemSource()
	first, next := id.New[id.RequestKind](ids), id.New[id.RequestKind](ids)
	key, user := id.New[id.KeyKind](ids), id.New[id.UserKind](ids)
	dept, dept2, guard := id.New[id.DepartmentKind](ids), id.New[id.DepartmentKind](ids), id.New[id.GuardrailKind](ids)
	seven := meter.Cost{Total: 7}
	whole := Attribution{Departments: []id.Department{dept, dept2}, Guardrails: []id.Guardrail{guard}, Agent: "support", Free: true}
	for name, c := range map[string]struct {
		event UsageEvent
		want  map[Account]Spend
	}{
		"a request": {UsageEvent{PrimaryID: first, Outcome: Success, Cost: seven}, map[Account]Spend{"all": {Requests: 1, Cost: 7}}},
		"one of a key": {
			UsageEvent{PrimaryID: first, Key: key, Outcome: Success, Cost: seven, Charge: 5},
			map[Account]Spend{"all": {Requests: 1, Cost: 7}, KeyAccount(key): {Requests: 1, Cost: 7}, "charged": {Cost: 5}},
		},
		"one that failed": {UsageEvent{PrimaryID: first, Outcome: Failed}, map[Account]Spend{"all": {Requests: 1}}},
		"one of a dead gateway": {
			UsageEvent{PrimaryID: first, User: user, Outcome: Unknown, Cost: seven, Charge: 7, Attribution: Attribution{Free: true}},
			map[Account]Spend{"all": {Requests: 1, Cost: 7}, "charged": {Cost: 7}, FreeAccount(user): {Requests: 1}},
		},
		"another model of one": {
			UsageEvent{PrimaryID: next, Outcome: Success, Cost: seven, Attribution: Attribution{Free: true}},
			map[Account]Spend{"all": {Cost: 7}},
		},
		"what was refused": {
			UsageEvent{PrimaryID: first, Key: key, Outcome: Refused, Cost: seven, Charge: 7, CredentialSource: "byok", Attribution: whole},
			map[Account]Spend{},
		},
		"what a classifier cost": {
			UsageEvent{PrimaryID: next, Purpose: "classifier", Outcome: Success, Cost: seven, CredentialSource: "byok", Attribution: whole},
			map[Account]Spend{
				"all": {Cost: 7, BYOK: 7}, DepartmentAccount(dept): {Cost: 7, BYOK: 7}, DepartmentAccount(dept2): {Cost: 7, BYOK: 7},
				GuardrailAccount(guard): {Cost: 7, BYOK: 7}, AgentAccount("support"): {Cost: 7, BYOK: 7},
			},
		},
		"with own credentials, by a fallback": {
			UsageEvent{PrimaryID: next, Outcome: Success, Cost: seven, CredentialSource: "byok"},
			map[Account]Spend{"all": {Cost: 7, BYOK: 7}, "byok": {Requests: 1}},
		},
		"with own credentials, failed": {
			UsageEvent{PrimaryID: first, Outcome: Failed, CredentialSource: "byok"}, map[Account]Spend{"all": {Requests: 1}},
		},
		"nothing below nothing": {UsageEvent{PrimaryID: next, Outcome: Success, Cost: meter.Cost{Total: -7}, Charge: -7}, map[Account]Spend{}},
		"nobody's free model":   {UsageEvent{PrimaryID: first, Outcome: Failed, Attribution: Attribution{Free: true}}, map[Account]Spend{"all": {Requests: 1}, "free_none": {Requests: 1}}},
		"an agent without bounds": {
			UsageEvent{PrimaryID: first, Outcome: Failed, Attribution: Attribution{Agent: strings.Repeat("a", MaxAgent+1)}},
			map[Account]Spend{"all": {Requests: 1}},
		},
	} {
		c.event.ID = first
		got := make(map[Account]Spend)
		for _, s := range c.event.Spends(nil) {
			require.NotContains(t, got, s.Account, name)
			got[s.Account] = s.Spend
		}
		require.Equal(t, c.want, got, name)
	}
}

// What comes back from the spool or the stream counts as it did.
func TestAnEventAddsTheSameOnceItWasWritten(t *testing.T) {
	ids := id.SystemSource()
	for _, agent := range []string{"support", "a.b c*>", "häß\xff\xfe", strings.Repeat("\xff", 50)} {
		e := UsageEvent{
			ID: id.New[id.RequestKind](ids), Outcome: Success, Cost: meter.Cost{Total: 3}, Charge: 2, CredentialSource: "byok",
			Attribution: Attribution{Agent: agent, Departments: []id.Department{id.New[id.DepartmentKind](ids)}, Free: true},
		}
		var body jsonappend.Buffer
		e.AppendJSON(&body)
		var back UsageEvent
		require.NoError(t, json.Unmarshal(body, &back))
		require.Equal(t, e.Spends(nil), back.Spends(nil))
		for _, s := range e.Spends(nil) {
			require.NotContains(t, s.Account, ".")
			require.Regexp(t, "^[a-z0-9_]+$", string(s.Account))
		}
	}
}

func TestAccountsOfAllTime(t *testing.T) {
	ids := id.SystemSource()
	for a, want := range map[Account]bool{
		AccountWorkspace: true, AccountCharged: true, GuardrailAccount(id.New[id.GuardrailKind](ids)): true, AgentAccount("a"): true,
		AccountBYOK: false, KeyAccount(id.New[id.KeyKind](ids)): false, DepartmentAccount(id.New[id.DepartmentKind](ids)): false,
		FreeAccount(id.User{}): false,
	} {
		require.Equal(t, want, a.Lifetime(), a)
	}
}

func BenchmarkSpends(b *testing.B) {
	ids := id.SystemSource()
	first := id.New[id.RequestKind](ids)
	e := UsageEvent{
		ID: first, PrimaryID: first, Key: id.New[id.KeyKind](ids), Outcome: Success, Cost: meter.Cost{Total: 7}, Charge: 7,
		Attribution: Attribution{Departments: []id.Department{id.New[id.DepartmentKind](ids)}},
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Spends(nil)
	}
}
