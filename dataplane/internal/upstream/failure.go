package upstream

import (
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Failure is one upstream call that gave no usable answer, or stopped giving
// one.
type Failure struct {
	Class      Class
	Status     int           // the upstream's; 0 when none came
	RetryAfter time.Duration // as the upstream asked; 0 when it did not
	Limited    bool          // told with a 429, whatever its words make of it
	Fault      *fault.Error  // what the caller gets if nothing follows
	// Denied, of CredentialRejected: the credential is known, and may not do this.
	Denied bool
}

// ErrRefusedCredential is within the cause of a CredentialFault: the credential
// itself is to blame, because it is not of the provider's kind or because the
// endpoint that makes tokens of it refused it.
var ErrRefusedCredential = errors.New("the credential was refused")

// Error implements error for the log.
func (f *Failure) Error() string { return string(f.Class) + ": " + f.Fault.Error() }

// Unwrap returns the fault.
func (f *Failure) Unwrap() error { return f.Fault }

// Fail returns a failure of class with the code, reason and message that the
// class has of itself. cause is for the log and may be nil.
func Fail(class Class, cause error) *Failure {
	say := sayings[class]
	f := fault.Wrap(cause, say.code, say.message).Because(say.reason).From(fault.Upstream)
	f.Retryable = say.retryable
	return &Failure{Class: class, Fault: f}
}

// saying is what the caller hears of a class when no upstream text is kept.
type saying struct {
	code      fault.Code
	reason    fault.Reason
	message   string
	retryable bool
}

// sayings has an entry for every class; a test walks them.
var sayings = map[Class]saying{
	DNSFailed:      {fault.UpstreamUnreachable, "", "The provider's address could not be resolved. Try again, or allow other providers.", true},
	ConnectFailed:  {fault.UpstreamUnreachable, "", "No connection to the provider could be made. Try again, or allow other providers.", true},
	ConnectTimeout: {fault.UpstreamUnreachable, "", "The provider did not accept a connection in time. Try again, or allow other providers.", true},
	TLSFailed:      {fault.UpstreamUnreachable, "", "No trusted connection to the provider could be made.", true},
	Reset:          {fault.UpstreamUnreachable, "", "The provider closed the connection before it answered. Try again.", true},
	BadHead:        {fault.UpstreamServerError, "", "The provider's answer was not readable as HTTP.", true},

	FirstByteTimeout: {fault.UpstreamTimeout, fault.FirstByteTimeout, "The provider sent no content within the time to first byte. Raise x-signalbox-timeout-ms or allow other providers.", true},
	ReplyTimeout:     {fault.UpstreamTimeout, fault.ReplyTimeout, "The provider did not finish its reply in time. Ask for less output, or stream it.", true},
	RequestTimeout:   {fault.UpstreamTimeout, fault.RequestTimeout, "The request with all its attempts took longer than a request may.", true},
	IdleTimeout:      {fault.UpstreamTimeout, fault.StreamIdle, "The provider fell silent in the middle of the stream.", true},

	Rejected:           {fault.UpstreamRejected, "", "The provider refused the request.", false},
	TooLarge:           {fault.UpstreamRejected, "", "The provider refused the request as too large.", false},
	ContextLength:      {fault.ContextLengthExceeded, "", "The input is longer than the model's context window.", false},
	ContentPolicy:      {fault.UpstreamRejected, fault.ContentPolicy, "The provider refused the content of the request.", false},
	CredentialRejected: {fault.UpstreamCredentialRejected, "", "The provider refused the credential that the gateway holds for it. Your own key is fine; tell the operator.", false},
	GeoBlocked:         {fault.UpstreamServerError, "", "The provider does not serve the region that the gateway calls from.", false},
	PaymentRequired:    {fault.UpstreamServerError, "", "The provider's account of the gateway cannot be charged. Your own account is fine; tell the operator.", false},
	NotFound:           {fault.UpstreamServerError, "", "The provider does not know the model that the catalog names for it. Tell the operator.", false},
	StatusTimeout:      {fault.UpstreamTimeout, "", "The provider gave up on the request. Try again.", true},
	UnsupportedMedia:   {fault.UpstreamRejected, "", "The provider cannot read this kind of content.", false},
	RateLimited:        {fault.UpstreamRateLimited, "", "The provider is rate-limiting the gateway. Try again later, or allow other providers.", true},
	Overloaded:         {fault.UpstreamServerError, fault.Overloaded, "The provider is overloaded. Try again, or allow other providers.", true},
	ServerError:        {fault.UpstreamServerError, "", "The provider failed to answer. Try again.", true},
	Redirected:         {fault.UpstreamServerError, "", "The provider answered with a redirect, which is never followed.", false},

	ErrorInReply:   {fault.UpstreamServerError, "", "The provider answered with an error. Try again.", true},
	ErrorInStream:  {fault.UpstreamServerError, "", "The provider ended the stream with an error.", true},
	WrongType:      {fault.UpstreamServerError, "", "The provider's answer was of an unexpected content type.", true},
	EmptyReply:     {fault.UpstreamServerError, "", "The provider's answer was empty. Try again.", true},
	MalformedReply: {fault.UpstreamServerError, "", "The provider's answer was not valid JSON. Try again.", true},
	TruncatedReply: {fault.UpstreamServerError, "", "The provider's answer broke off before its end. Try again.", true},
	BadEncoding:    {fault.UpstreamServerError, "", "The provider's answer was compressed in a way that cannot be read.", true},
	ReplyTooLarge:  {fault.UpstreamServerError, "", "The provider's answer was larger than the gateway takes.", false},
	EventTooLarge:  {fault.UpstreamServerError, fault.EventTooLarge, "One event of the provider's stream was larger than 8 MiB.", false},
	StreamCut:      {fault.UpstreamServerError, fault.StreamCut, "The provider's stream broke off before its end.", true},

	Unknown: {fault.SubmissionUnknown, "", "The provider may or may not have taken the job. Look for it at the provider before you submit it again.", false},

	Gone:            {fault.NotFound, "", "The provider does not have this any more.", false},
	CannotCarry:     {fault.UnsupportedModelOrEndpoint, "", "No endpoint of the model can carry this request.", false},
	CallerGone:      {fault.ClientClosed, "", "The caller closed the connection.", false},
	CutShort:        {fault.UpstreamTimeout, "", "The gateway did not wait for the provider any longer.", true},
	CredentialFault: {fault.UpstreamCredentialRejected, "", "The gateway cannot use its credential for the provider. Your own key is fine; tell the operator.", false},
	Internal:        {fault.GatewayError, "", "Something went wrong on our side. The request id identifies it in our logs.", false},
}

// own is what the caller hears of a failure of a credential of the workspace's
// own.
var own = map[Class]string{
	CredentialRejected: "The provider refused the workspace's own credential for it. Your Signalbox key is fine; a workspace admin can replace the credential.",
	PaymentRequired:    "The workspace's own account at the provider cannot be charged. Your Signalbox account is fine.",
	NotFound:           "The provider does not know the model, or the workspace's own account there may not use it.",
	RateLimited:        "The provider is rate-limiting the workspace's own credential. Try again later, or allow other providers.",
	CredentialFault:    "The gateway cannot use the workspace's own credential for the provider. A workspace admin can replace it.",
}

// OfWorkspace words the failure for a call with a credential of the
// workspace's own.
func (f *Failure) OfWorkspace() {
	if message, ok := own[f.Class]; ok {
		f.Fault.Message = message
	}
}
