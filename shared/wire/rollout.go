package wire

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// UsageRollout says which of the two versions that a rollout compares a request
// was sent through, and how the whole request ended, whichever model was last.
type UsageRollout struct {
	ID        id.Rollout `json:"id"`
	Candidate bool       `json:"candidate,omitempty"` // else the stable version
	Outcome   Outcome    `json:"outcome"`
	Code      string     `json:"code,omitempty"`
	// Named says that what the failure is about was named by the version itself,
	// and not by the caller.
	Named bool          `json:"named,omitempty"`
	Took  time.Duration `json:"took_ns"` // from receipt to the last byte
}

// Judge says whether a request says anything of how its version fares, and
// whether it failed. That a caller left or asked for what cannot be, that a
// limit was reached or a reject node was met, says nothing.
func (r *UsageRollout) Judge() (failed, judged bool) {
	switch r.Outcome {
	case Success:
		return false, true
	case Failed, Refused:
		blame := r.Named || blamed[fault.Code(r.Code)]
		return blame, blame
	case Canceled, Unknown:
	}
	return false, false
}

// blamed are the failures that a version is judged by: those of the endpoints
// that it leads to, and that it leads to none that may serve.
var blamed = map[fault.Code]bool{
	fault.UpstreamRateLimited: true, fault.UpstreamServerError: true, fault.UpstreamUnreachable: true, fault.UpstreamTimeout: true,
	fault.UpstreamCredentialRejected: true, fault.UpstreamUndetermined: true, fault.SubmissionUnknown: true, fault.GatewayError: true,
	fault.UnsupportedModelOrEndpoint: true, fault.ModelRegionUnavailable: true, fault.ModelRetired: true, fault.GuardrailBlocked: true,
}

// AppendJSON writes r as encoding/json would.
func (r *UsageRollout) AppendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	jsonappend.Text(b, "id", r.ID)
	b.BoolIf("candidate", r.Candidate)
	b.String("outcome", string(r.Outcome))
	b.StringIf("code", r.Code)
	b.BoolIf("named", r.Named)
	b.Int("took_ns", int64(r.Took))
	b.Close('}')
}
