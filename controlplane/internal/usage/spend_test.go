package usage

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// TestAnEntryCountsAsItsEvent: what a gateway counts of an event, the database
// does too.
func TestAnEntryCountsAsItsEvent(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ev := drawEvent(r)
		var body jsonappend.Buffer
		ev.AppendJSON(&body)
		d := decode(message{subject: wire.SubjectUsage + "." + gw.String(), sequence: strconv.FormatUint(ev.Sequence, 10), body: body})
		require.Nil(r, d.dead)
		want, got := make(map[SpendCell]wire.Spend), make(map[SpendCell]wire.Spend)
		for _, s := range ev.Spends(nil) {
			day := SpendCell{ev.Workspace, s.Account, ev.ID.Time().Truncate(24 * time.Hour)}
			want[day] = want[day].Add(s.Spend)
			if ever := (SpendCell{Workspace: ev.Workspace, Account: s.Account}); s.Account.Lifetime() {
				want[ever] = want[ever].Add(s.Spend)
			}
		}
		SpendsOf(d.entry, func(c SpendCell, s wire.Spend) { got[c] = got[c].Add(s) })
		require.Equal(r, want, got)
	})
}

func drawEvent(r *rapid.T) wire.UsageEvent {
	ev := event()
	if rapid.Bool().Draw(r, "fallback") {
		ev.PrimaryID = id.New[id.RequestKind](ids)
	}
	ev.Outcome = rapid.SampledFrom([]wire.Outcome{wire.Success, wire.Failed, wire.Refused, wire.Canceled, wire.Unknown}).Draw(r, "outcome")
	ev.Purpose = rapid.SampledFrom([]string{"", "classifier"}).Draw(r, "purpose")
	ev.CredentialSource = rapid.SampledFrom([]string{"", "managed", "byok"}).Draw(r, "credential")
	ev.Cost.Total = money.Nanos(rapid.Int64Range(0, int64(maxCost)).Draw(r, "cost"))
	if ev.Outcome != wire.Refused { // which is charged nothing, or is no event
		ev.Charge = money.Nanos(rapid.Int64Range(0, int64(maxCost)).Draw(r, "charge"))
	}
	ev.Key = rapid.SampledFrom([]id.Key{{}, id.New[id.KeyKind](ids)}).Draw(r, "key")
	ev.User = rapid.SampledFrom([]id.User{{}, id.New[id.UserKind](ids)}).Draw(r, "user")
	ev.Free, ev.First = rapid.Bool().Draw(r, "free"), rapid.Bool().Draw(r, "first")
	ev.Agent = rapid.SampledFrom(agents).Draw(r, "agent")
	attributed := rapid.SampledFrom([]int{0, 0, 0, 1, 1, 1, 2, 2, 2, len(departments)}).Draw(r, "attributed")
	ev.Departments, ev.Guardrails = departments[:attributed], guardrails[:attributed]
	return ev
}

var agents = []string{
	"", "support", "a.b c*>\x00", "h\u00e4\xff\xfe", strings.Repeat("\xff", wire.MaxAgent), strings.Repeat("a", wire.MaxAgent), strings.Repeat("a", wire.MaxAgent+1),
}

// departments and guardrails are more than are counted on.
var departments, guardrails = func() (d []id.Department, g []id.Guardrail) {
	for range wire.MaxAttributed + 1 {
		d, g = append(d, id.New[id.DepartmentKind](ids)), append(g, id.New[id.GuardrailKind](ids))
	}
	return d, g
}()

func TestSpendsAreSortedAndTakeOutWhatTheyPutIn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var added, removed []Entry
		for range rapid.IntRange(0, 4).Draw(r, "entries") {
			ev := drawEvent(r)
			e := entryOf(&ev)
			added = append(added, e)
			if rapid.Bool().Draw(r, "removed") {
				removed = append(removed, e)
			}
		}
		list := Spends(added, removed)
		require.True(r, slices.IsSortedFunc(list, func(a, b Spend) int { return a.compare(b.SpendCell) }))
		ever := slices.IndexFunc(list, func(s Spend) bool { return !s.Day.IsZero() })
		for i, s := range list {
			require.False(r, s.IsZero())
			require.Equal(r, s.Day.IsZero(), ever < 0 || i < ever)
		}
		require.Empty(r, Spends(added, added))
	})
}
