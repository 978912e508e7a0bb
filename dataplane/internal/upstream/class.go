package upstream

// Class says how an upstream call failed. The set is closed; what follows
// from each class is one table in attempt.
type Class string

// The classes. The first group is of the transport, the second of limits that
// ran out here, the third of error statuses, the fourth of answers that began
// well, the last of our own side.
const (
	DNSFailed      Class = "dns_failed"
	ConnectFailed  Class = "connect_failed"
	ConnectTimeout Class = "connect_timeout"
	TLSFailed      Class = "tls_failed"
	Reset          Class = "connection_reset" // after the connection stood, before the head
	BadHead        Class = "malformed_head"   // not HTTP, or a head over its bound

	FirstByteTimeout Class = "first_byte_timeout"
	ReplyTimeout     Class = "reply_timeout"
	RequestTimeout   Class = "request_timeout" // the request's own budget
	IdleTimeout      Class = "stream_idle_timeout"

	Rejected           Class = "rejected"            // 400, 422 and the 4xx not named below
	TooLarge           Class = "too_large"           // 413
	ContextLength      Class = "context_length"      // recognized by its wording
	ContentPolicy      Class = "content_policy"      // recognized by its wording
	CredentialRejected Class = "credential_rejected" // 401, 403
	GeoBlocked         Class = "geo_blocked"         // 403 for where we are
	PaymentRequired    Class = "payment_required"    // 402, and a 429 or 400 for want of money, which no waiting helps
	NotFound           Class = "not_found"           // 404: the upstream model or path
	StatusTimeout      Class = "upstream_timed_out"  // 408, 504
	UnsupportedMedia   Class = "unsupported_media"   // 415
	RateLimited        Class = "rate_limited"        // 429
	Overloaded         Class = "overloaded"          // 529, and others whose words say so
	ServerError        Class = "server_error"        // 500 and above
	Redirected         Class = "redirected"          // 3xx: never followed

	ErrorInReply   Class = "error_in_reply"     // a 200 with an error object
	ErrorInStream  Class = "error_in_stream"    // an error event
	WrongType      Class = "wrong_content_type" // such as an HTML page
	EmptyReply     Class = "empty_reply"        // 204, or no body
	MalformedReply Class = "malformed_reply"    // not JSON
	TruncatedReply Class = "truncated_reply"    // shorter than its length, or the connection broke
	BadEncoding    Class = "bad_encoding"       // a compression we cannot read, or broken
	ReplyTooLarge  Class = "reply_too_large"    // over the cap, after inflation
	EventTooLarge  Class = "event_too_large"    // one event over 8 MiB
	StreamCut      Class = "stream_cut"         // ended without a finish reason

	// Unknown is a submission that may or may not have been taken: what failed
	// left no way to tell, and to ask again could make the job twice.
	Unknown Class = "submission_unknown"

	Gone            Class = "gone"                // 404 for a job or file that the provider kept
	CannotCarry     Class = "cannot_carry"        // the endpoint has no form for the request
	CallerGone      Class = "caller_gone"         // nobody's fault
	CutShort        Class = "cut_short"           // the gateway itself would not wait as long as a request may
	CredentialFault Class = "credential_unusable" // our sealed key cannot be opened
	Internal        Class = "internal"            // a bug of ours
)

// Classes lists every class, for the tests that walk them.
func Classes() []Class {
	return []Class{
		DNSFailed, ConnectFailed, ConnectTimeout, TLSFailed, Reset, BadHead,
		FirstByteTimeout, ReplyTimeout, RequestTimeout, IdleTimeout,
		Rejected, TooLarge, ContextLength, ContentPolicy, CredentialRejected, GeoBlocked, PaymentRequired,
		NotFound, StatusTimeout, UnsupportedMedia, RateLimited, Overloaded, ServerError, Redirected,
		ErrorInReply, ErrorInStream, WrongType, EmptyReply, MalformedReply, TruncatedReply, BadEncoding,
		ReplyTooLarge, EventTooLarge, StreamCut, Unknown, Gone, CannotCarry, CallerGone, CutShort, CredentialFault, Internal,
	}
}
