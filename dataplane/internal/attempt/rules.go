package attempt

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// rule says what follows from a class of failure.
type rule struct {
	moves   bool // on to the next candidate; else the failure is returned at once
	retry   bool // at the same provider, when the operator allows any
	timeout bool // at most one retry after such
	verdict health.Verdict
	// ofCredential says that the failure is the credential's: the candidate's
	// next one is tried before the next candidate. When it was the workspace's
	// own, nothing counts against the endpoint, which serves others with theirs.
	ofCredential bool
}

// verdictOf is what a failure means for health: own says that the credential
// was the workspace's.
func (r rule) verdictOf(own bool) health.Verdict {
	if own && r.ofCredential && r.verdict == health.Failed {
		return health.Refused
	}
	return r.verdict
}

// rules has an entry for every class; a test walks them.
var rules = map[upstream.Class]rule{
	upstream.DNSFailed:      {moves: true, retry: true, verdict: health.Failed},
	upstream.ConnectFailed:  {moves: true, retry: true, verdict: health.Failed},
	upstream.ConnectTimeout: {moves: true, retry: true, timeout: true, verdict: health.Failed},
	upstream.TLSFailed:      {moves: true, verdict: health.Failed},
	upstream.Reset:          {moves: true, retry: true, verdict: health.Failed},
	upstream.BadHead:        {moves: true, retry: true, verdict: health.Failed},

	upstream.FirstByteTimeout: {moves: true, retry: true, timeout: true, verdict: health.Failed},
	upstream.ReplyTimeout:     {moves: true, retry: true, timeout: true, verdict: health.Failed},
	upstream.RequestTimeout:   {verdict: health.Failed},
	upstream.IdleTimeout:      {verdict: health.Failed},

	upstream.Rejected:           {verdict: health.Neutral},
	upstream.TooLarge:           {verdict: health.Neutral},
	upstream.ContextLength:      {verdict: health.Neutral},
	upstream.ContentPolicy:      {verdict: health.Neutral},
	upstream.CredentialRejected: {moves: true, verdict: health.Failed, ofCredential: true},
	upstream.GeoBlocked:         {moves: true, verdict: health.GeoBlocked},
	upstream.PaymentRequired:    {moves: true, verdict: health.Failed, ofCredential: true},
	upstream.NotFound:           {moves: true, verdict: health.Failed, ofCredential: true},
	upstream.StatusTimeout:      {moves: true, retry: true, timeout: true, verdict: health.Failed},
	upstream.UnsupportedMedia:   {moves: true, verdict: health.Neutral},
	upstream.RateLimited:        {moves: true, retry: true, verdict: health.RateLimited, ofCredential: true},
	upstream.Overloaded:         {moves: true, retry: true, verdict: health.Failed},
	upstream.ServerError:        {moves: true, retry: true, verdict: health.Failed},
	upstream.Redirected:         {moves: true, verdict: health.Failed},

	upstream.ErrorInReply:   {moves: true, retry: true, verdict: health.Failed},
	upstream.ErrorInStream:  {moves: true, retry: true, verdict: health.Failed},
	upstream.WrongType:      {moves: true, retry: true, verdict: health.Failed},
	upstream.EmptyReply:     {moves: true, retry: true, verdict: health.Failed},
	upstream.MalformedReply: {moves: true, retry: true, verdict: health.Failed},
	upstream.TruncatedReply: {moves: true, retry: true, verdict: health.Failed},
	upstream.BadEncoding:    {moves: true, verdict: health.Failed},
	upstream.ReplyTooLarge:  {moves: true, verdict: health.Failed},
	upstream.EventTooLarge:  {moves: true, verdict: health.Failed},
	upstream.StreamCut:      {moves: true, retry: true, verdict: health.Failed},

	upstream.Unknown:         {verdict: health.Failed},
	upstream.Gone:            {verdict: health.Neutral},
	upstream.CannotCarry:     {moves: true, verdict: health.Neutral},
	upstream.CallerGone:      {verdict: health.Neutral},
	upstream.CredentialFault: {moves: true, verdict: health.Neutral, ofCredential: true},
	upstream.Internal:        {moves: true, verdict: health.Neutral},
}

// movesModel reports whether the chain goes on to its next model: when the
// caller would get one of these statuses.
func movesModel(f *upstream.Failure) bool {
	switch statusOf(f.Fault) {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// statusOf is the status of the specification for the codes that an upstream
// call can end in.
func statusOf(f *fault.Error) int {
	switch f.Code {
	case fault.UpstreamRateLimited:
		return http.StatusTooManyRequests
	case fault.UpstreamServerError, fault.UpstreamUnreachable, fault.UpstreamCredentialRejected:
		return http.StatusBadGateway
	case fault.UpstreamTimeout:
		return http.StatusGatewayTimeout
	case fault.GatewayError:
		return http.StatusInternalServerError
	case fault.UpstreamRejected:
		return f.Status
	default:
		return http.StatusBadRequest
	}
}
