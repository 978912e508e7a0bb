package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// keyLimits are the flags that say how much a key may use.
type keyLimits struct {
	daily, weekly, monthly keyWindow
	enforcement, agent     string
	byok, softBlock        bool
}

type keyWindow struct{ requests, cost string }

// limitFlags are the names of keyLimits' flags.
var limitFlags = []string{
	"daily-requests", "daily-cost-usd", "weekly-requests", "weekly-cost-usd", "monthly-requests", "monthly-cost-usd",
	"enforcement", "include-byok-in-limit", "soft-block", "agent",
}

// noLimit is how a limit, or an agent, is taken away.
const noLimit = "none"

func (l *keyLimits) flags(c *cobra.Command) {
	f := c.Flags()
	for name, w := range map[string]*keyWindow{"daily": &l.daily, "weekly": &l.weekly, "monthly": &l.monthly} {
		of := map[string]string{"daily": "UTC day", "weekly": "week from Monday, UTC", "monthly": "month, UTC"}[name]
		f.StringVar(&w.requests, name+"-requests", "", "how many requests it may make in a "+of+", or none for no limit")
		f.StringVar(&w.cost, name+"-cost-usd", "", "what it may spend in a "+of+", such as 12.50, or none for no limit")
	}
	f.StringVar(&l.enforcement, "enforcement", "", "how its costs are held to that: track what is spent, or reserve what a request can cost at most")
	f.BoolVar(&l.byok, "include-byok-in-limit", false, "whether what your own provider keys are charged counts too")
	f.BoolVar(&l.softBlock, "soft-block", false, "refuse its requests as if a limit were reached; --soft-block=false takes that back")
	f.StringVar(&l.agent, "agent", "", "the agent that its requests are of when they name none, or none")
}

// given reports whether a flag of l was.
func (l *keyLimits) given(c *cobra.Command) bool {
	for _, name := range limitFlags {
		if c.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// patch sets the fields of p whose flags were given.
func (l *keyLimits) patch(c *cobra.Command, p *client.KeyPatch) (err error) {
	given := c.Flags().Changed
	if err := oneOf("--enforcement", l.enforcement, "", "track", "reserve"); err != nil {
		return err
	}
	if given("enforcement") {
		p.Enforcement = (*client.Enforcement)(&l.enforcement)
	}
	if given("include-byok-in-limit") {
		p.IncludeByokInLimit = &l.byok
	}
	if given("soft-block") {
		p.SoftBlocked = &l.softBlock
	}
	if given("agent") {
		p.Agent = textOrNull(l.agent)
	}
	var limits client.KeyLimitsInput
	for name, of := range map[string]struct {
		window keyWindow
		field  **client.KeyWindowInput
	}{"daily": {l.daily, &limits.Daily}, "weekly": {l.weekly, &limits.Weekly}, "monthly": {l.monthly, &limits.Monthly}} {
		if *of.field, err = of.window.input(c, name); err != nil {
			return err
		}
	}
	if limits != (client.KeyLimitsInput{}) {
		p.Limits = &limits
	}
	return nil
}

// input is nil where neither flag of the window was given.
func (w keyWindow) input(c *cobra.Command, name string) (*client.KeyWindowInput, error) {
	requests, cost := c.Flags().Changed(name+"-requests"), c.Flags().Changed(name+"-cost-usd")
	if !requests && !cost {
		return nil, nil //nolint:nilnil // absent and no error is an answer here
	}
	var in client.KeyWindowInput
	if cost {
		in.CostUsd = textOrNull(w.cost)
	}
	if requests {
		in.Requests = nullable.NewNullNullable[int64]()
		if w.requests != noLimit {
			n, err := strconv.ParseInt(w.requests, 10, 64)
			if err != nil {
				return nil, misuse("--%s-requests must be a whole number, or none", name)
			}
			in.Requests = nullable.NewNullableWithValue(n)
		}
	}
	return &in, nil
}

func textOrNull(text string) nullable.Nullable[string] {
	if text == noLimit {
		return nullable.NewNullNullable[string]()
	}
	return nullable.NewNullableWithValue(text)
}

// limitRows tell what a key may use, and of each window with a limit what is used
// where that is known.
func limitRows(t *table, k client.Key) {
	used := either(k.Usage, nil)
	for _, w := range []struct {
		name  string
		limit client.KeyWindow
		used  client.KeyWindowUsage
	}{{"DAILY LIMIT", k.Limits.Daily, used.Daily}, {"WEEKLY LIMIT", k.Limits.Weekly, used.Weekly}, {"MONTHLY LIMIT", k.Limits.Monthly, used.Monthly}} {
		if text := windowText(w.limit, w.used, k.Usage != nil); text != "" {
			t.row(w.name, text)
		}
	}
	if k.Enforcement == client.Reserve {
		t.row("ENFORCEMENT", k.Enforcement)
	}
	if k.IncludeByokInLimit {
		t.row("OWN PROVIDER KEYS", "count toward its costs")
	}
	if k.SoftBlocked {
		t.row("SOFT BLOCKED", k.SoftBlocked)
	}
	if k.Agent != nil {
		t.row("AGENT", k.Agent)
	}
}

// windowText is such as "3 of 10 requests, 1.20 of 5.00 USD until …"; "" without
// a limit.
func windowText(limit client.KeyWindow, used client.KeyWindowUsage, known bool) string {
	var parts []string
	add := func(have, most, unit string) {
		if known {
			most = have + " of " + most
		}
		parts = append(parts, most+" "+unit)
	}
	if n, err := limit.Requests.Get(); err == nil {
		add(strconv.FormatInt(used.Requests, 10), strconv.FormatInt(n, 10), "requests")
	}
	if usd, err := limit.CostUsd.Get(); err == nil {
		add(used.CostUsd, usd, "USD")
	}
	if len(parts) > 0 && known {
		parts[len(parts)-1] += " until " + used.ResetAt.UTC().Format(time.RFC3339)
	}
	return strings.Join(parts, ", ")
}
