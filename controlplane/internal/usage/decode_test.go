package usage

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var (
	ids = id.SystemSource()
	gw  = id.New[id.GatewayKind](ids)
	ws  = id.New[id.WorkspaceKind](ids)
)

// latest is the UUIDv7 of the latest time that fits into one, of the year 10889.
var latest = id.FromUUID[id.RequestKind](uuid.MustParse("ffffffff-ffff-7000-8000-000000000000"))

func event() wire.UsageEvent {
	req := id.New[id.RequestKind](ids)
	return wire.UsageEvent{
		Schema: wire.UsageSchema, ID: req, PrimaryID: req, Workspace: ws, Gateway: gw, Sequence: 7,
		StartedAt: req.Time(), Outcome: wire.Success, Status: 200, DecidedModel: "acme/large", Provider: "acme", Attempts: 1,
		Usage: meter.Usage{Input: 10, Output: 5}, Cost: meter.Cost{Total: 100},
	}
}

func messageOf(t testing.TB, ev wire.UsageEvent) message {
	t.Helper()
	body, err := json.Marshal(ev)
	require.NoError(t, err)
	return message{subject: wire.SubjectUsage + "." + gw.String(), sequence: strconv.FormatUint(ev.Sequence, 10), body: body}
}

// TestDecodeForgetsNothing fills every field of the event and looks for each
// one in the entry.
func TestDecodeForgetsNothing(t *testing.T) {
	ev := event()
	v := reflect.ValueOf(&ev).Elem()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case name == "Decision":
			ev.Decision = json.RawMessage(`{"seed":"1"}`)
		case name == "Rollout":
			ev.Rollout = &wire.UsageRollout{ID: id.New[id.RolloutKind](ids), Candidate: true, Outcome: wire.Failed, Code: "c", Took: 5}
		case name == "Attribution":
			ev.Attribution = wire.Attribution{
				Departments: []id.Department{id.New[id.DepartmentKind](ids)}, Guardrails: []id.Guardrail{id.New[id.GuardrailKind](ids)}, Agent: "a", Free: true,
			}
		case name == "Key":
			ev.Key = id.New[id.KeyKind](ids)
		case name == "User":
			ev.User = id.New[id.UserKind](ids)
		case name == "PrimaryID":
			ev.PrimaryID = id.New[id.RequestKind](ids)
		case f.IsZero() && f.Kind() == reflect.String:
			f.SetString("text of " + name)
		case f.IsZero() && f.CanInt():
			f.SetInt(int64(1000 + i))
		case f.IsZero() && f.Kind() == reflect.Bool:
			f.SetBool(true)
		}
		require.False(t, v.Field(i).IsZero(), name)
	}
	ev.Cost.Unpriced, ev.Cost.Lines = true, []meter.Line{{Meter: "input", Units: 1, Price: 2, Cost: 3}}
	ev.Usage = meter.Usage{
		Input: 1, CachedRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6, Image: 7, AudioInput: 8, AudioOutput: 9, Estimated: true,
	}
	d := decode(messageOf(t, ev))
	require.Nil(t, d.dead)
	require.Equal(t, Arrival{Gateway: gw, Run: Run{7, 7}}, d.Arrival)
	e := reflect.ValueOf(*d.entry)
	renamed := map[string]string{"GatewayDur": "Overhead"}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch name {
		case "Schema":
			continue
		case "StartedAt":
			require.Equal(t, ev.ID.Time(), d.entry.StartedAt, "the partition follows from the id alone")
			continue
		case "Decision":
			require.JSONEq(t, string(ev.Decision), string(d.entry.Decision))
			continue
		}
		target := name
		if renamed[name] != "" {
			target = renamed[name]
		}
		require.True(t, e.FieldByName(target).IsValid(), "Entry has no %s", target)
		require.Equal(t, v.Field(i).Interface(), e.FieldByName(target).Interface(), name)
	}
}

func TestDecodeRefusesWithAReason(t *testing.T) {
	cases := map[string]struct {
		change func(*wire.UsageEvent)
		reason string
	}{
		"schema":                    {func(e *wire.UsageEvent) { e.Schema = 99 }, "schema 99 is not known here"},
		"no id":                     {func(e *wire.UsageEvent) { e.ID = id.Request{} }, "id is not a UUIDv7"},
		"an id beyond all dates":    {func(e *wire.UsageEvent) { e.ID = latest }, "id is of no time that can be written"},
		"no primary":                {func(e *wire.UsageEvent) { e.PrimaryID = id.Request{} }, "primary_id is missing"},
		"workspace":                 {func(e *wire.UsageEvent) { e.Workspace = id.Workspace{} }, "workspace is missing"},
		"sequence":                  {func(e *wire.UsageEvent) { e.Sequence = 0 }, "sequence is out of range"},
		"cost":                      {func(e *wire.UsageEvent) { e.Cost.Total = -1 }, "cost is out of range"},
		"huge cost":                 {func(e *wire.UsageEvent) { e.Cost.Total = maxCost + 1 }, "cost is out of range"},
		"charge":                    {func(e *wire.UsageEvent) { e.Charge = -1 }, "charge is out of range"},
		"a refusal that is charged": {func(e *wire.UsageEvent) { e.Outcome, e.Charge = wire.Refused, 1 }, "charge is out of range"},
		"huge charge":               {func(e *wire.UsageEvent) { e.Charge = maxCost + 1 }, "charge is out of range"},
		"status":                    {func(e *wire.UsageEvent) { e.Status = 1000 }, "attempts or status is out of range"},
		"attempts":                  {func(e *wire.UsageEvent) { e.Attempts = -1 }, "attempts or status is out of range"},
		"outcome":                   {func(e *wire.UsageEvent) { e.Outcome = "odd" }, "outcome is not known here"},
		"tokens":                    {func(e *wire.UsageEvent) { e.Usage.Image = -1 }, "usage is out of range"},
		"gateway":                   {func(e *wire.UsageEvent) { e.Gateway = id.New[id.GatewayKind](ids) }, "gateway is not that of the subject"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ev := event()
			c.change(&ev)
			m := messageOf(t, ev)
			m.sequence = "7"
			d := decode(m)
			require.Nil(t, d.entry)
			require.Equal(t, c.reason, d.dead.Reason)
			require.Equal(t, Run{7, 7}, d.Run, "it must not hold up the mark")
			require.Equal(t, gw, d.dead.Gateway)
			require.Equal(t, m.body, d.dead.Body)
		})
	}
}

func TestDecodeOfGarbage(t *testing.T) {
	d := decode(message{subject: "usage." + gw.String(), sequence: "12", body: []byte("{")})
	require.Equal(t, Arrival{Gateway: gw, Run: Run{12, 12}}, d.Arrival)
	require.Equal(t, "body is not a usage event", d.dead.Reason)
	again := decode(message{subject: "usage." + gw.String(), sequence: "12", body: []byte("{")})
	require.Equal(t, d.dead.Fingerprint, again.dead.Fingerprint)
	other := decode(message{subject: "usage." + gw.String(), sequence: "13", body: []byte("{")})
	require.NotEqual(t, d.dead.Fingerprint, other.dead.Fingerprint)
	stray := decode(message{subject: "usage.nobody", body: bytes.Repeat([]byte("x"), MaxDeadBody+1)})
	require.Zero(t, stray.Arrival)
	require.Len(t, stray.dead.Body, MaxDeadBody)
}

func TestDecodeOfLostRuns(t *testing.T) {
	lost := func(l wire.UsageLost) decoded {
		body, err := json.Marshal(l)
		require.NoError(t, err)
		return decode(message{subject: "usage." + gw.String(), sequence: "3", lost: true, body: body})
	}
	d := lost(wire.UsageLost{Gateway: gw, First: 3, Last: 9, Reason: "disk"})
	require.Equal(t, Run{3, 9}, d.Run)
	require.Equal(t, "lost by the gateway: disk", d.dead.Reason)
	require.True(t, d.dead.Lost)
	for _, bad := range []wire.UsageLost{{Gateway: gw, First: 3, Last: 2}, {Gateway: gw}, {First: 1, Last: 1}} {
		d = lost(bad)
		require.Equal(t, Run{3, 3}, d.Run)
		require.Equal(t, "report of lost records is invalid", d.dead.Reason)
	}
}

func TestTextIsStorable(t *testing.T) {
	ev := event()
	ev.SessionID, ev.EndUser, ev.Duration = "a\x00b", strings.Repeat("é", maxText), -time.Second
	e := decode(messageOf(t, ev)).entry
	require.Equal(t, "a\uFFFDb", e.SessionID)
	require.Equal(t, strings.Repeat("é", maxText/2), e.EndUser)
	require.Zero(t, e.Duration, "a clock that jumped back is no reason to refuse")
	require.Equal(t, "\uFFFD", text("\xff"))
}

// FuzzDecode checks that no message makes decode fail, and that what becomes an
// entry can be stored.
func FuzzDecode(f *testing.F) {
	good := messageOf(f, event())
	f.Add(good.subject, good.sequence, good.body, false)
	f.Add("usage.x", "-1", []byte(`{"id":1}`), true)
	f.Add(good.subject, "18446744073709551615", []byte(`{"first":1,"last":18446744073709551615}`), true)
	f.Add(good.subject, "1", bytes.Replace(good.body, []byte("acme"), []byte(`\u0000\ud800`), 1), false)
	f.Fuzz(func(t *testing.T, subject, sequence string, body []byte, lost bool) {
		d := decode(message{subject: subject, sequence: sequence, lost: lost, body: body})
		require.NotEqual(t, d.entry == nil, d.dead == nil)
		if d.entry != nil {
			require.False(t, strings.ContainsRune(d.entry.DecidedModel+d.entry.SessionID+d.entry.Endpoint, 0))
			require.NotZero(t, d.Run)
			require.LessOrEqual(t, len(d.entry.SessionID), maxText)
		}
		require.LessOrEqual(t, d.Run.First, d.Run.Last)
	})
}
