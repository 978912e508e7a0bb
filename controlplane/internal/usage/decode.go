package usage

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Bounds of what is believed. A text beyond its bound is cut; an amount beyond
// makes the event invalid.
const (
	maxText     = 512 // bytes; an index could not hold much more
	maxDecision = 128 << 10
	maxTokens   = 1_000_000_000_000
	maxCost     = 1_000_000 * money.USD
	maxYear     = 9999 // RFC 3339 has no later one
)

// message is one record of a usage message as it came.
type message struct {
	subject  string
	sequence string // HeaderUsageSequence, or what follows from it in a batch
	lost     bool   // HeaderUsageLost
	body     []byte
}

// decoded is what a message means: an entry or a dead letter, and the
// sequences that it accounts for.
type decoded struct {
	entry *Entry
	dead  *DeadLetter
	raw   message
	Arrival
}

// decode never fails: what cannot be an entry is a dead letter. Subject and
// header say whose message it is even when the body does not.
func decode(m message) decoded {
	d := decoded{raw: m}
	d.Gateway = gatewayOf(m.subject)
	if seq, err := strconv.ParseUint(m.sequence, 10, 63); err == nil && seq > 0 {
		d.Run = Run{seq, seq}
	}
	var reason error
	if m.lost {
		reason = d.decodeLost(m.body)
	} else {
		reason = d.decodeEvent(m.body)
	}
	if reason != nil {
		d.entry, d.dead = nil, m.dead(d.Arrival, reason.Error())
		d.dead.Lost = m.lost
	}
	return d
}

// gatewayOf is the gateway that a subject names, zero without one.
func gatewayOf(subject string) id.Gateway {
	token, _ := strings.CutPrefix(subject, wire.SubjectUsage+".")
	gw, err := id.Parse[id.GatewayKind](token)
	if err != nil {
		return id.Gateway{}
	}
	return gw
}

// dead keeps m for a person to look at.
func (m message) dead(a Arrival, reason string) *DeadLetter {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%s\n%s\n", m.subject, m.sequence)
	_, _ = sum.Write(m.body)
	return &DeadLetter{
		Fingerprint: [32]byte(sum.Sum(nil)),
		Gateway:     a.Gateway, Run: a.Run,
		Subject: text(m.subject), Reason: text(reason),
		Body: m.body[:min(len(m.body), MaxDeadBody)],
	}
}

// decodeLost always returns a reason: that of the gateway, when it can be read.
func (d *decoded) decodeLost(body []byte) error {
	var lost wire.UsageLost
	if err := json.Unmarshal(body, &lost); err != nil {
		return errors.New("report of lost records is not readable")
	}
	if lost.Gateway != d.Gateway || lost.First == 0 || lost.Last < lost.First || lost.Last > 1<<62 {
		return errors.New("report of lost records is invalid")
	}
	d.Run = Run{lost.First, lost.Last}
	return fmt.Errorf("lost by the gateway: %s", lost.Reason)
}

func (d *decoded) decodeEvent(body []byte) error {
	var ev wire.UsageEvent
	if err := json.Unmarshal(body, &ev); err != nil {
		return errors.New("body is not a usage event")
	}
	if err := check(&ev); err != nil {
		return err
	}
	if ev.Gateway != d.Gateway {
		return errors.New("gateway is not that of the subject")
	}
	d.Run = Run{ev.Sequence, ev.Sequence}
	e := entryOf(&ev)
	d.entry = &e
	return nil
}

func check(ev *wire.UsageEvent) error {
	switch {
	case ev.Schema != wire.UsageSchema:
		return fmt.Errorf("schema %d is not known here", ev.Schema)
	case ev.ID.IsZero() || ev.ID.UUID().Version() != 7:
		return errors.New("id is not a UUIDv7")
	case ev.ID.Time().Year() > maxYear:
		return errors.New("id is of no time that can be written")
	case ev.PrimaryID.IsZero():
		return errors.New("primary_id is missing")
	case ev.Workspace.IsZero():
		return errors.New("workspace is missing")
	case ev.Sequence == 0 || ev.Sequence > 1<<62:
		return errors.New("sequence is out of range")
	case ev.Cost.Total < 0 || ev.Cost.Total > maxCost:
		return errors.New("cost is out of range")
	case ev.Charge < 0 || ev.Charge > maxCost || ev.Charge > 0 && ev.Outcome == wire.Refused:
		return errors.New("charge is out of range")
	case ev.Attempts < 0 || ev.Attempts > 10_000 || ev.Status < 0 || ev.Status > 999:
		return errors.New("attempts or status is out of range")
	}
	switch ev.Outcome {
	case wire.Success, wire.Failed, wire.Refused, wire.Canceled, wire.Unknown:
	default:
		return errors.New("outcome is not known here")
	}
	u := ev.Usage
	for _, n := range []int64{
		u.Input, u.CachedRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning, u.Image, u.AudioInput, u.AudioOutput,
	} {
		if n < 0 || n > maxTokens {
			return errors.New("usage is out of range")
		}
	}
	return nil
}

func entryOf(ev *wire.UsageEvent) Entry {
	e := Entry{
		ID: ev.ID, PrimaryID: ev.PrimaryID, Workspace: ev.Workspace, Key: ev.Key, User: ev.User,
		Gateway: ev.Gateway, Sequence: ev.Sequence,
		Surface: catalog.Surface(text(string(ev.Surface))), Purpose: text(ev.Purpose), Stream: ev.Stream,
		ClientRequestID: text(ev.ClientRequestID), SessionID: text(ev.SessionID), EndUser: text(ev.EndUser),
		StartedAt: ev.ID.Time(),
		Duration:  max(ev.Duration, 0), FirstByte: max(ev.FirstByte, 0), Overhead: max(ev.GatewayDur, 0),
		Outcome: ev.Outcome, Status: ev.Status, Code: text(ev.Code), Reason: text(ev.Reason),
		RequestedModel: text(ev.RequestedModel), DecidedModel: text(ev.DecidedModel), ServedModel: text(ev.ServedModel),
		Provider: text(ev.Provider), Endpoint: text(ev.Endpoint), Attempts: ev.Attempts,
		CredentialSource: text(ev.CredentialSource),
		Usage:            ev.Usage, Cost: ev.Cost, Suppressed: ev.Suppressed, Charge: ev.Charge,
		PolicyRevision: max(ev.PolicyRevision, 0), CatalogRevision: max(ev.CatalogRevision, 0),
		Attribution: attributionOf(&ev.Attribution),
		Rollout:     ev.Rollout,
	}
	e.Cost.Lines = nil
	for _, line := range ev.Cost.Lines {
		e.Cost.Lines = append(e.Cost.Lines, meter.Line{Meter: text(line.Meter), Units: line.Units, Price: line.Price, Cost: line.Cost})
	}
	if len(ev.Decision) <= maxDecision && string(ev.Decision) != "null" {
		e.Decision = ev.Decision
	}
	return e
}

// attributionOf is what of a is counted on.
func attributionOf(a *wire.Attribution) wire.Attribution {
	bounded := *a
	bounded.Departments = a.Departments[:min(len(a.Departments), wire.MaxAttributed)]
	bounded.Guardrails = a.Guardrails[:min(len(a.Guardrails), wire.MaxAttributed)]
	if len(a.Agent) > wire.MaxAgent {
		bounded.Agent = ""
	}
	return bounded
}

// text makes s storable: no NUL, which Postgres refuses, and bounded.
func text(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	s = s[:maxText]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}
