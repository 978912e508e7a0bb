package attempt

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// rule says what follows from a class of failure. docs/attempts.md shows all
// of them.
type rule struct {
	moves   bool      // on to the next candidate; else the failure is returned at once
	model   nextModel // what it means for the rest of the chain when it is a model's last
	retry   bool      // at the same provider, when the operator allows any
	timeout bool      // at most one retry after such
	verdict health.Verdict
	// ofCredential says that the failure is the credential's: the candidate's
	// next one is tried before the next candidate. When it was the workspace's
	// own, nothing counts against the endpoint, which serves others with theirs.
	ofCredential bool
	// hurried says that a limit ran out which the caller, a profile or what is left
	// of the request's time may have made tighter than the gateway's own. Then it
	// says nothing of the endpoint.
	hurried bool
	// untouched says that the provider certainly got nothing, or that the
	// failure has nothing to do with it: a submission may be made again.
	untouched bool
}

// nextModel says whether the chain goes on after a model. It does exactly when
// the caller would get 429, 500, 502, 503 or 504; a test holds the two
// together.
type nextModel string

// What a model's last failure means for the chain.
const (
	modelNever  nextModel = ""
	modelNext   nextModel = "next"
	modelLarger nextModel = "larger" // only to a larger context window, and only along a chain that was written out
)

// verdictOf is what a failure means for health: own says that the credential
// was the workspace's. A 429 is one whatever its words make of it.
func verdictOf(f *upstream.Failure, own bool) health.Verdict {
	switch r := rules[f.Class]; {
	case f.Limited:
		return health.RateLimited
	case own && r.ofCredential && (r.verdict == health.Failed || r.verdict == health.Unpaid):
		return health.Refused
	default:
		return r.verdict
	}
}

// ofCredential reports that the endpoint's next credential may do better.
func ofCredential(f *upstream.Failure) bool { return f.Limited || rules[f.Class].ofCredential }

// rules has an entry for every class; a test walks them.
var rules = map[upstream.Class]rule{
	upstream.DNSFailed:      {moves: true, model: modelNext, retry: true, verdict: health.Failed, untouched: true},
	upstream.ConnectFailed:  {moves: true, model: modelNext, retry: true, verdict: health.Failed, untouched: true},
	upstream.ConnectTimeout: {moves: true, model: modelNext, retry: true, timeout: true, verdict: health.Failed, untouched: true},
	upstream.TLSFailed:      {moves: true, model: modelNext, verdict: health.Failed, untouched: true},
	upstream.Reset:          {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.BadHead:        {moves: true, model: modelNext, retry: true, verdict: health.Failed},

	upstream.FirstByteTimeout: {moves: true, model: modelNext, retry: true, timeout: true, verdict: health.Failed, hurried: true},
	upstream.ReplyTimeout:     {moves: true, model: modelNext, retry: true, timeout: true, verdict: health.Failed},
	upstream.RequestTimeout:   {model: modelNext, verdict: health.Failed, hurried: true},
	upstream.IdleTimeout:      {model: modelNext, verdict: health.Failed},

	upstream.Rejected:           {verdict: health.Neutral},
	upstream.TooLarge:           {verdict: health.Neutral},
	upstream.ContextLength:      {model: modelLarger, verdict: health.Neutral},
	upstream.ContentPolicy:      {verdict: health.Neutral},
	upstream.CredentialRejected: {moves: true, model: modelNext, verdict: health.Failed, ofCredential: true},
	upstream.GeoBlocked:         {moves: true, model: modelNext, verdict: health.GeoBlocked},
	upstream.PaymentRequired:    {moves: true, model: modelNext, verdict: health.Unpaid, ofCredential: true},
	upstream.NotFound:           {moves: true, model: modelNext, verdict: health.Failed, ofCredential: true},
	upstream.StatusTimeout:      {moves: true, model: modelNext, retry: true, timeout: true, verdict: health.Failed},
	upstream.UnsupportedMedia:   {moves: true, verdict: health.Neutral},
	upstream.RateLimited:        {moves: true, model: modelNext, retry: true, verdict: health.RateLimited, ofCredential: true},
	upstream.Overloaded:         {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.ServerError:        {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.Redirected:         {moves: true, model: modelNext, verdict: health.Failed},

	upstream.ErrorInReply:   {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.ErrorInStream:  {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.WrongType:      {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.EmptyReply:     {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.MalformedReply: {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.TruncatedReply: {moves: true, model: modelNext, retry: true, verdict: health.Failed},
	upstream.BadEncoding:    {moves: true, model: modelNext, verdict: health.Failed},
	upstream.ReplyTooLarge:  {moves: true, model: modelNext, verdict: health.Failed},
	upstream.EventTooLarge:  {moves: true, model: modelNext, verdict: health.Failed},
	upstream.StreamCut:      {moves: true, model: modelNext, retry: true, verdict: health.Failed},

	upstream.Unknown:         {verdict: health.Failed},
	upstream.Gone:            {verdict: health.Neutral, ofCredential: true},
	upstream.CannotCarry:     {moves: true, model: modelNext, verdict: health.Neutral, untouched: true},
	upstream.CallerGone:      {verdict: health.Neutral, untouched: true},
	upstream.CutShort:        {model: modelNext, verdict: health.Neutral},
	upstream.CredentialFault: {moves: true, model: modelNext, verdict: health.Neutral, ofCredential: true, untouched: true},
	upstream.Internal:        {moves: true, model: modelNext, verdict: health.Neutral, untouched: true},
}
