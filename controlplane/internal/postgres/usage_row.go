package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// usageRow is a row of request_log.
type usageRow struct {
	workspace, id, primary, key, user, gateway uuid.UUID

	startedAt                           time.Time
	sequence                            int64
	surface, purpose                    string
	stream                              bool
	clientRequestID, sessionID, endUser string
	duration, firstByte, overhead       int64
	outcome                             string
	status                              int32
	code, reason                        string
	requested, decided, served          string
	provider, endpoint                  string
	attempts                            int32
	credentialSource                    string

	input, cachedRead, cacheWrite5m, cacheWrite1h int64
	output, reasoning                             int64
	image, audioInput, audioOutput                int64
	estimated                                     bool
	cost                                          int64
	unpriced                                      bool
	lines                                         *string
	suppressed                                    bool
	charge                                        int64
	attribution                                   *string
	policyRevision, catalogRevision               int64
	decision                                      *string
}

// usageColumn ties a column of request_log to a field of usageRow. Rows are
// written as one array for each column, which costs one statement for any
// number of rows.
type usageColumn struct {
	name    string
	element string // type of the array's elements
	array   func(rows []usageRow) any
	dest    func(r *usageRow) any
}

func usageCol[T any](name, element string, field func(r *usageRow) *T) usageColumn {
	return usageColumn{
		name: name, element: element,
		array: func(rows []usageRow) any {
			list := make([]T, len(rows))
			for i := range rows {
				list[i] = *field(&rows[i])
			}
			return list
		},
		dest: func(r *usageRow) any { return field(r) },
	}
}

// usageColumns is every column; the decision comes last, as lists leave it out.
var usageColumns = []usageColumn{
	usageCol("workspace_id", "uuid", func(r *usageRow) *uuid.UUID { return &r.workspace }),
	usageCol("id", "uuid", func(r *usageRow) *uuid.UUID { return &r.id }),
	usageCol("started_at", "timestamptz", func(r *usageRow) *time.Time { return &r.startedAt }),
	usageCol("primary_id", "uuid", func(r *usageRow) *uuid.UUID { return &r.primary }),
	usageCol("key_id", "uuid", func(r *usageRow) *uuid.UUID { return &r.key }),
	usageCol("user_id", "uuid", func(r *usageRow) *uuid.UUID { return &r.user }),
	usageCol("gateway_id", "uuid", func(r *usageRow) *uuid.UUID { return &r.gateway }),
	usageCol("sequence", "bigint", func(r *usageRow) *int64 { return &r.sequence }),
	usageCol("surface", "text", func(r *usageRow) *string { return &r.surface }),
	usageCol("purpose", "text", func(r *usageRow) *string { return &r.purpose }),
	usageCol("stream", "boolean", func(r *usageRow) *bool { return &r.stream }),
	usageCol("client_request_id", "text", func(r *usageRow) *string { return &r.clientRequestID }),
	usageCol("session_id", "text", func(r *usageRow) *string { return &r.sessionID }),
	usageCol("end_user", "text", func(r *usageRow) *string { return &r.endUser }),
	usageCol("duration_ns", "bigint", func(r *usageRow) *int64 { return &r.duration }),
	usageCol("first_byte_ns", "bigint", func(r *usageRow) *int64 { return &r.firstByte }),
	usageCol("overhead_ns", "bigint", func(r *usageRow) *int64 { return &r.overhead }),
	usageCol("outcome", "text", func(r *usageRow) *string { return &r.outcome }),
	usageCol("status", "integer", func(r *usageRow) *int32 { return &r.status }),
	usageCol("code", "text", func(r *usageRow) *string { return &r.code }),
	usageCol("reason", "text", func(r *usageRow) *string { return &r.reason }),
	usageCol("requested_model", "text", func(r *usageRow) *string { return &r.requested }),
	usageCol("decided_model", "text", func(r *usageRow) *string { return &r.decided }),
	usageCol("served_model", "text", func(r *usageRow) *string { return &r.served }),
	usageCol("provider", "text", func(r *usageRow) *string { return &r.provider }),
	usageCol("endpoint", "text", func(r *usageRow) *string { return &r.endpoint }),
	usageCol("attempts", "integer", func(r *usageRow) *int32 { return &r.attempts }),
	usageCol("credential_source", "text", func(r *usageRow) *string { return &r.credentialSource }),
	usageCol("input", "bigint", func(r *usageRow) *int64 { return &r.input }),
	usageCol("cached_read", "bigint", func(r *usageRow) *int64 { return &r.cachedRead }),
	usageCol("cache_write_5m", "bigint", func(r *usageRow) *int64 { return &r.cacheWrite5m }),
	usageCol("cache_write_1h", "bigint", func(r *usageRow) *int64 { return &r.cacheWrite1h }),
	usageCol("output", "bigint", func(r *usageRow) *int64 { return &r.output }),
	usageCol("reasoning", "bigint", func(r *usageRow) *int64 { return &r.reasoning }),
	usageCol("image", "bigint", func(r *usageRow) *int64 { return &r.image }),
	usageCol("audio_input", "bigint", func(r *usageRow) *int64 { return &r.audioInput }),
	usageCol("audio_output", "bigint", func(r *usageRow) *int64 { return &r.audioOutput }),
	usageCol("estimated", "boolean", func(r *usageRow) *bool { return &r.estimated }),
	usageCol("cost_nanos", "bigint", func(r *usageRow) *int64 { return &r.cost }),
	usageCol("cost_unpriced", "boolean", func(r *usageRow) *bool { return &r.unpriced }),
	usageCol("cost_lines", "json", func(r *usageRow) **string { return &r.lines }),
	usageCol("suppressed", "boolean", func(r *usageRow) *bool { return &r.suppressed }),
	usageCol("charge_nanos", "bigint", func(r *usageRow) *int64 { return &r.charge }),
	usageCol("attribution", "json", func(r *usageRow) **string { return &r.attribution }),
	usageCol("policy_revision", "bigint", func(r *usageRow) *int64 { return &r.policyRevision }),
	usageCol("catalog_revision", "bigint", func(r *usageRow) *int64 { return &r.catalogRevision }),
	usageCol("decision", "json", func(r *usageRow) **string { return &r.decision }),
}

// usageNames joins the names of columns, each behind prefix.
func usageNames(columns []usageColumn, prefix string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = prefix + c.name
	}
	return strings.Join(names, ", ")
}

func usageRowOf(e *usage.Entry) (usageRow, error) {
	r := usageRow{
		workspace: e.Workspace.UUID(), id: e.ID.UUID(), primary: e.PrimaryID.UUID(), key: e.Key.UUID(), user: e.User.UUID(),
		gateway: e.Gateway.UUID(), startedAt: e.StartedAt, sequence: int64(e.Sequence),
		surface: string(e.Surface), purpose: e.Purpose, stream: e.Stream,
		clientRequestID: e.ClientRequestID, sessionID: e.SessionID, endUser: e.EndUser,
		duration: int64(e.Duration), firstByte: int64(e.FirstByte), overhead: int64(e.Overhead),
		outcome: string(e.Outcome), status: int32(e.Status), code: e.Code, reason: e.Reason,
		requested: e.RequestedModel, decided: e.DecidedModel, served: e.ServedModel,
		provider: e.Provider, endpoint: e.Endpoint, attempts: int32(e.Attempts), credentialSource: e.CredentialSource,
		input: e.Usage.Input, cachedRead: e.Usage.CachedRead, cacheWrite5m: e.Usage.CacheWrite5m, cacheWrite1h: e.Usage.CacheWrite1h,
		output: e.Usage.Output, reasoning: e.Usage.Reasoning, image: e.Usage.Image,
		audioInput: e.Usage.AudioInput, audioOutput: e.Usage.AudioOutput, estimated: e.Usage.Estimated,
		cost: int64(e.Cost.Total), unpriced: e.Cost.Unpriced, suppressed: e.Suppressed, charge: int64(e.Charge),
		policyRevision: e.PolicyRevision, catalogRevision: e.CatalogRevision,
	}
	if len(e.Cost.Lines) > 0 {
		text, err := json.Marshal(e.Cost.Lines)
		if err != nil {
			return usageRow{}, fmt.Errorf("encode cost lines: %w", err)
		}
		r.lines = new(string(text))
	}
	if !attributedToNothing(&e.Attribution) {
		text, err := json.Marshal(e.Attribution)
		if err != nil {
			return usageRow{}, fmt.Errorf("encode what usage counts toward: %w", err)
		}
		r.attribution = new(string(text))
	}
	if len(e.Decision) > 0 {
		r.decision = new(string(e.Decision))
	}
	return r, nil
}

func (r *usageRow) entry() (usage.Entry, error) {
	e := usage.Entry{
		ID: id.FromUUID[id.RequestKind](r.id), PrimaryID: id.FromUUID[id.RequestKind](r.primary),
		Workspace: id.FromUUID[id.WorkspaceKind](r.workspace), Key: id.FromUUID[id.KeyKind](r.key),
		User: id.FromUUID[id.UserKind](r.user), Gateway: id.FromUUID[id.GatewayKind](r.gateway),
		Sequence: uint64(r.sequence),
		Surface:  catalog.Surface(r.surface), Purpose: r.purpose, Stream: r.stream,
		ClientRequestID: r.clientRequestID, SessionID: r.sessionID, EndUser: r.endUser,
		StartedAt: r.startedAt.UTC(),
		Duration:  time.Duration(r.duration), FirstByte: time.Duration(r.firstByte), Overhead: time.Duration(r.overhead),
		Outcome: wire.Outcome(r.outcome), Status: int(r.status), Code: r.code, Reason: r.reason,
		RequestedModel: r.requested, DecidedModel: r.decided, ServedModel: r.served,
		Provider: r.provider, Endpoint: r.endpoint, Attempts: int(r.attempts), CredentialSource: r.credentialSource,
		Usage: meter.Usage{
			Input: r.input, CachedRead: r.cachedRead, CacheWrite5m: r.cacheWrite5m, CacheWrite1h: r.cacheWrite1h,
			Output: r.output, Reasoning: r.reasoning, Image: r.image,
			AudioInput: r.audioInput, AudioOutput: r.audioOutput, Estimated: r.estimated,
		},
		Cost:       meter.Cost{Total: money.Nanos(r.cost), Unpriced: r.unpriced},
		Suppressed: r.suppressed, Charge: money.Nanos(r.charge), PolicyRevision: r.policyRevision, CatalogRevision: r.catalogRevision,
	}
	if r.lines != nil {
		if err := json.Unmarshal([]byte(*r.lines), &e.Cost.Lines); err != nil {
			return usage.Entry{}, fmt.Errorf("decode cost lines: %w", err)
		}
	}
	if r.attribution != nil {
		if err := json.Unmarshal([]byte(*r.attribution), &e.Attribution); err != nil {
			return usage.Entry{}, fmt.Errorf("decode what usage counts toward: %w", err)
		}
	}
	if r.decision != nil {
		e.Decision = []byte(*r.decision)
	}
	return e, nil
}

func attributedToNothing(a *wire.Attribution) bool {
	return len(a.Departments) == 0 && len(a.Guardrails) == 0 && a.Agent == "" && !a.Free && !a.First
}
