package wire

import "github.com/signalbox-dev/signalbox/shared/jsonappend"

// AppendJSON writes e as encoding/json would, members in the same order. Every
// request does it, so it does not go through reflection.
func (e *UsageEvent) AppendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	b.Int("schema", int64(e.Schema))
	jsonappend.Text(b, "id", e.ID)
	jsonappend.Text(b, "primary_id", e.PrimaryID)
	jsonappend.Text(b, "workspace", e.Workspace)
	if !e.Key.IsZero() {
		jsonappend.Text(b, "key", e.Key)
	}
	if !e.User.IsZero() {
		jsonappend.Text(b, "user", e.User)
	}
	jsonappend.Text(b, "gateway", e.Gateway)
	b.Uint("sequence", e.Sequence)

	b.String("surface", string(e.Surface))
	b.StringIf("purpose", e.Purpose)
	b.BoolIf("stream", e.Stream)
	b.StringIf("client_request_id", e.ClientRequestID)
	b.StringIf("session_id", e.SessionID)
	b.StringIf("end_user", e.EndUser)

	b.Time("started_at", e.StartedAt)
	b.Int("duration_ns", int64(e.Duration))
	b.IntIf("first_byte_ns", int64(e.FirstByte))
	b.IntIf("gateway_ns", int64(e.GatewayDur))

	b.String("outcome", string(e.Outcome))
	b.Int("status", int64(e.Status))
	b.StringIf("code", e.Code)
	b.StringIf("reason", e.Reason)

	b.StringIf("requested_model", e.RequestedModel)
	b.StringIf("decided_model", e.DecidedModel)
	b.StringIf("served_model", e.ServedModel)
	b.StringIf("provider", e.Provider)
	b.StringIf("endpoint", e.Endpoint)
	b.StringIf("credential_source", e.CredentialSource)
	b.Int("attempts", int64(e.Attempts))

	b.Name("usage")
	e.Usage.AppendJSON(b)
	b.Name("cost")
	e.Cost.AppendJSON(b)
	b.BoolIf("billing_suppressed", e.Suppressed)
	b.IntIf("charge", int64(e.Charge))
	b.Int("policy_revision", e.PolicyRevision)
	b.Int("catalog_revision", e.CatalogRevision)
	jsonappend.TextsIf(b, "departments", e.Departments)
	jsonappend.TextsIf(b, "guardrails", e.Guardrails)
	b.StringIf("agent", e.Agent)
	b.BoolIf("free", e.Free)
	b.BoolIf("first", e.First)
	if r := e.Rollout; r != nil {
		b.Name("rollout")
		r.AppendJSON(b)
	}
	b.Raw("decision", e.Decision)
	b.Close('}')
}
