package fault

// Code is one of the constants below; the set is closed.
type Code string

// Codes of both APIs.
const (
	InvalidJSON      Code = "invalid_json"
	ValidationError  Code = "validation_error"
	Unauthorized     Code = "unauthorized"
	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	PayloadTooLarge  Code = "payload_too_large"
	GatewayError     Code = "gateway_error"
)

// Codes of the inference API.
const (
	NoDefaultModel             Code = "no_default_model"
	ModelNotFound              Code = "model_not_found"
	UnsupportedModelOrEndpoint Code = "unsupported_model_or_endpoint"
	ContextLengthExceeded      Code = "context_length_exceeded"
	UpstreamRejected           Code = "upstream_rejected"
	SubmissionUnknown          Code = "submission_unknown"
	InsufficientFunds          Code = "insufficient_funds"
	GuardrailBlocked           Code = "guardrail_blocked"
	RouteRejected              Code = "route_rejected" // the status is the route's own
	ModelRegionUnavailable     Code = "model_region_unavailable"
	ModelRetired               Code = "model_retired"
	KeyLimitExceeded           Code = "key_limit_exceeded"
	RateLimitExceeded          Code = "rate_limit_exceeded"
	UpstreamRateLimited        Code = "upstream_rate_limited"
	UpstreamServerError        Code = "upstream_server_error"
	UpstreamUnreachable        Code = "upstream_unreachable"
	UpstreamCredentialRejected Code = "upstream_credential_rejected"
	UpstreamUndetermined       Code = "upstream_undetermined"
	QuotaUnavailable           Code = "quota_unavailable"
	UpstreamTimeout            Code = "upstream_timeout"
	ClientClosed               Code = "client_closed" // never sent: the caller has gone; recorded only
)

// Codes of the management API.
const (
	Forbidden            Code = "forbidden"
	InsufficientScope    Code = "insufficient_scope"
	Conflict             Code = "conflict"
	PreconditionFailed   Code = "precondition_failed"
	IdempotencyConflict  Code = "idempotency_conflict"
	UnsupportedMediaType Code = "unsupported_media_type"
	Unavailable          Code = "unavailable" // a store that the call needs is away; nothing was half-done
)

// All lists every code, for the tests that walk them.
func All() []Code {
	return []Code{
		InvalidJSON, ValidationError, Unauthorized, NotFound, MethodNotAllowed, PayloadTooLarge, GatewayError,
		NoDefaultModel, ModelNotFound, UnsupportedModelOrEndpoint, ContextLengthExceeded, UpstreamRejected,
		SubmissionUnknown, InsufficientFunds, GuardrailBlocked, RouteRejected, ModelRegionUnavailable, ModelRetired,
		KeyLimitExceeded, RateLimitExceeded, UpstreamRateLimited, UpstreamServerError, UpstreamUnreachable,
		UpstreamCredentialRejected, UpstreamUndetermined, QuotaUnavailable, UpstreamTimeout, ClientClosed,
		Forbidden, InsufficientScope, Conflict, PreconditionFailed, IdempotencyConflict, UnsupportedMediaType,
		Unavailable,
	}
}

// Reason refines a code.
type Reason string

// Reasons of unauthorized (and ip_not_allowed of forbidden).
const (
	MissingCredentials        Reason = "missing_credentials"
	ConflictingCredentials    Reason = "conflicting_credentials"
	InvalidKeyFormat          Reason = "invalid_key_format"
	InvalidKey                Reason = "invalid_key"
	KeyRevoked                Reason = "key_revoked"
	KeyPaused                 Reason = "key_paused"
	KeyExpired                Reason = "key_expired"
	ManagementKeyNotValidHere Reason = "management_key_not_valid_here"
	InferenceKeyNotValidHere  Reason = "inference_key_not_valid_here"
	IPNotAllowed              Reason = "ip_not_allowed"
	TokenExpired              Reason = "token_expired"
	TokenInvalid              Reason = "token_invalid"
)

// Reasons of validation_error and unsupported_model_or_endpoint that routing gives.
const (
	InvalidProviderSlug              Reason = "invalid_provider_slug"
	UnknownProviderSlug              Reason = "unknown_provider_slug"
	ContradictoryRestrictions        Reason = "contradictory_restrictions"
	ProviderQualifiedModelConflict   Reason = "provider_qualified_model_conflict"
	QualifiedProviderUnavailable     Reason = "qualified_provider_unavailable"
	QualifiedFreeProviderUnavailable Reason = "qualified_free_provider_unavailable"
	ProfileProviderDisabled          Reason = "profile_provider_disabled"
	ModelNotAllowed                  Reason = "model_not_allowed"
	SurfaceNotAllowed                Reason = "surface_not_allowed"
	UnknownField                     Reason = "unknown_field"
	BodyTimeout                      Reason = "body_timeout" // the body did not arrive in time
	InvalidModelName                 Reason = "invalid_model_name"
	PresetNotFound                   Reason = "preset_not_found"
	PresetModelNotAllowed            Reason = "preset_model_not_allowed"
	NoProvidersAfterPresetFilter     Reason = "no_providers_after_preset_filter"
	AutoNotSupported                 Reason = "auto_not_supported"
	NoFreeModel                      Reason = "no_free_model"
	NoAutoModel                      Reason = "no_auto_model"
)

// Reasons of conflict that presets give.
const (
	PublicProfileRequired Reason = "public_profile_required" // the workspace has no publisher handle
	NothingToPublish      Reason = "nothing_to_publish"      // the draft is as the latest version
	NothingToRollBack     Reason = "nothing_to_roll_back"    // the deployment is the first
)

// Reasons of guardrail_blocked.
const (
	ModelRestricted    Reason = "model_restricted_by_policy"
	ProviderRestricted Reason = "provider_restricted_by_policy"
	NoDataHandling     Reason = "data_handling_policy_no_routes"
)

// Reasons of upstream_timeout and of cut streams: which limit ran out.
const (
	FirstByteTimeout Reason = "first_byte_timeout"
	StreamIdle       Reason = "stream_idle_timeout"
	ReplyTimeout     Reason = "reply_timeout"
	RequestTimeout   Reason = "request_timeout"
	StreamCut        Reason = "stream_cut"
	EventTooLarge    Reason = "event_too_large"
)

// Reasons of rate_limit_exceeded.
const (
	PolicyRequests    Reason = "policy_requests_per_minute"
	PolicyTokens      Reason = "policy_tokens_per_minute"
	PolicyConcurrent  Reason = "policy_concurrent_requests"
	PolicyUnavailable Reason = "policy_unavailable" // the limit could not be asked in time
)

// Reasons of key_limit_exceeded that the platform's allowances give, and that a
// key gives whose owner blocked it. Reached limits have the rest: LimitReached,
// BudgetReached and DepartmentBudgetReached.
const (
	CustomerRequests Reason = "customer_requests_per_minute"
	FreeRequests     Reason = "free_requests_per_day"
	KeySoftBlocked   Reason = "key_limit_soft_blocked"
)

// CostUnbounded is the reason of validation_error for what has no worst case, and
// would have to be reserved.
const CostUnbounded Reason = "cost_unbounded"

// Overloaded is the reason of upstream_server_error when the provider has more
// to do than it can.
const Overloaded Reason = "overloaded"

// Reasons of upstream_rejected.
const (
	// ContentPolicy: the provider refused what was said, not how.
	ContentPolicy Reason = "content_policy"
)
