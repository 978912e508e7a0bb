package wire

import (
	"encoding/base32"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Account names what within a workspace spends: the last token of the subject of
// its counters, and the key of its totals in Postgres. A request is counted on
// several.
type Account string

// The accounts that each workspace has one of.
const (
	// AccountWorkspace is everything.
	AccountWorkspace Account = "all"
	// AccountBYOK are the completed requests that the workspace's own credentials
	// served, for the fee.
	AccountBYOK Account = "byok"
	// AccountCharged is what is charged to the wallet.
	AccountCharged Account = "charged"
)

// KeyAccount is what a key spends.
func KeyAccount(key id.Key) Account { return Account(key.String()) }

// DepartmentAccount is what counts toward a department.
func DepartmentAccount(d id.Department) Account { return Account(d.String()) }

// GuardrailAccount is what counts toward a guardrail.
func GuardrailAccount(g id.Guardrail) Account { return Account(g.String()) }

// FreeAccount is what a user, or with the zero id whoever has no owner, asks of
// free models.
func FreeAccount(user id.User) Account {
	if user.IsZero() {
		return "free_none"
	}
	return Account("free_" + user.String())
}

// AgentAccount is what an agent spends. Its name may be any text; what of it is
// not UTF-8 is named as usage events have it.
func AgentAccount(agent string) Account {
	return Account(agentPrefix + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(encodable(agent)))))
}

// encodable is text as JSON has it: a byte that is not UTF-8 becomes U+FFFD.
func encodable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// MaxAgent bounds the name of an agent, in bytes.
const MaxAgent = 128

const agentPrefix = "agent_"

var guardrailPrefix = id.GuardrailKind{}.Prefix() + "_"

// Lifetime reports whether a has a total of all time beside its days.
func (a Account) Lifetime() bool {
	return a == AccountWorkspace || a == AccountCharged ||
		strings.HasPrefix(string(a), agentPrefix) || strings.HasPrefix(string(a), guardrailPrefix)
}
