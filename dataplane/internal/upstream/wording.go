package upstream

import "strings"

// names are what providers call errors in their codes, types and statuses, in
// lower case. Those that say no more than "bad request" or "server error" are
// not here: the wording may know better.
var names = map[string]Class{
	"context_length_exceeded": ContextLength, "context_window_exceeded": ContextLength,
	"model_max_prompt_tokens_exceeded": ContextLength, "exceed_context_size_error": ContextLength,
	"max_prompt_tokens": ContextLength, "contextwindowexceedederror": ContextLength,

	"content_filter": ContentPolicy, "content_policy": ContentPolicy, "content_policy_violation": ContentPolicy,
	"responsibleaipolicyviolation": ContentPolicy, "moderation_blocked": ContentPolicy, "prohibited_content": ContentPolicy,
	"data_inspection_failed": ContentPolicy, "datainspectionfailed": ContentPolicy, "contentpolicyviolationerror": ContentPolicy,

	"unsupported_country_region_territory": GeoBlocked,

	"rate_limit_exceeded": RateLimited, "rate_limit_error": RateLimited, "rate_limited": RateLimited, "ratelimiterror": RateLimited,
	"rate_limit_reached_error": RateLimited, "ratelimitreached": RateLimited, "ratelimitexceeded": RateLimited,
	"too_many_requests": RateLimited, "toomanyrequests": RateLimited, "throttling": RateLimited,
	"throttling.ratequota": RateLimited, "throttling.allocationquota": RateLimited, "limit_requests": RateLimited,
	"resource_exhausted": RateLimited, "throttlingexception": RateLimited, "servicequotaexceededexception": RateLimited,
	"toomanyrequestsexception": RateLimited, "rate_limit": RateLimited,

	"overloaded_error": Overloaded, "overloaded": Overloaded, "engine_overloaded_error": Overloaded, "server_overloaded": Overloaded,
	"slow_down": Overloaded, "unavailable": Overloaded, "modelnotreadyexception": Overloaded, "serviceunavailableexception": Overloaded,
	"capacity_exceeded": Overloaded, "service_tier_capacity_exceeded": Overloaded,

	"insufficient_quota": PaymentRequired, "insufficient_balance": PaymentRequired, "billing_hard_limit_reached": PaymentRequired,
	"billing_not_active": PaymentRequired, "billing_error": PaymentRequired, "exceeded_current_quota_error": PaymentRequired,
	"arrearage": PaymentRequired, "insufficient_credits": PaymentRequired, "payment_required": PaymentRequired,

	"invalid_api_key": CredentialRejected, "authentication_error": CredentialRejected, "invalid_authentication_error": CredentialRejected,
	"permission_error": CredentialRejected, "unauthenticated": CredentialRejected, "permission_denied": CredentialRejected,
	"api_key_invalid": CredentialRejected, "accessdeniedexception": CredentialRejected, "unrecognizedclientexception": CredentialRejected,
	"invalidsignatureexception": CredentialRejected, "expiredtokenexception": CredentialRejected, "incompletesignature": CredentialRejected,
	"missingauthenticationtokenexception": CredentialRejected, "account_deactivated": CredentialRejected, "invalid_token": CredentialRejected,

	"model_not_found": NotFound, "deploymentnotfound": NotFound, "model_not_available": NotFound, "invalid_model": NotFound,
	"model_decommissioned": NotFound, "resourcenotfoundexception": NotFound, "not_found_error": NotFound, "unknown_model": NotFound,
	"invalid_model_error": NotFound, "model_not_exist": NotFound,

	"request_too_large": TooLarge,

	"timeout_error": StatusTimeout, "deadline_exceeded": StatusTimeout, "modeltimeoutexception": StatusTimeout,
	"modelerrorexception": ServerError, "modelstreamerrorexception": ServerError, "internalserverexception": ServerError,
}

// requestNames are the types by which an error inside of a 2xx answer says that
// the request was at fault. A status says it otherwise.
var requestNames = map[string]bool{
	"invalid_request_error": true, "invalid_argument": true, "validationexception": true, "badrequesterror": true,
}

// named is the class of the first name that means one: codes say more than
// types, and what is deeper inside, or in the head, more than what is around.
func (d *detail) named() Class {
	for _, name := range append([]string{d.code, d.kind}, d.hints...) {
		name = strings.ToLower(name)
		name = name[strings.LastIndexByte(name, '#')+1:] // com.amazon.coral.service#AccessDeniedException
		if class := names[name]; class != "" {
			return class
		}
	}
	return ""
}

// strangers are names by which a 403 says that it does not know the credential.
var strangers = map[string]bool{
	"unrecognizedclientexception": true, "invalidsignatureexception": true, "incompletesignatureexception": true,
	"expiredtokenexception": true, "missingauthenticationtokenexception": true, "invalidclienttokenid": true,
	"invalid_api_key": true, "authentication_error": true, "unauthenticated": true,
}

// stranger reports whether the error is about who asks, and not about what.
func (d *detail) stranger() bool {
	for _, name := range append([]string{d.code, d.kind}, d.hints...) {
		name = strings.ToLower(name)
		if strangers[name[strings.LastIndexByte(name, '#')+1:]] {
			return true
		}
	}
	return d.worded([]wording{credentialWords}) != ""
}

// wording is what messages say, in lower case, with what it means.
type wording struct {
	class Class
	words []string
}

// The wordings by which providers say the same thing. Each is part of a
// message that some provider is known to send.
var (
	contextWords = wording{ContextLength, []string{
		"context length", "context window", "context limit", "context size", "maximum context", "prompt is too long", "input is too long",
		"too many tokens", "input tokens exceed", "number of input tokens", "reduce the length of", "maximum number of tokens",
		"exceeds the maximum allowed tokens", "input token count", "exceeds the model's maximum", "maximum prompt length",
		"maximum model length", "prompt exceeds max length", "exceeded model token limit", "range of input length should be",
		"`inputs` must have less than", "`inputs` tokens + `max_new_tokens`", "longer than the model's", "context_length_exceeded",
	}}
	policyWords = wording{ContentPolicy, []string{
		"content policy", "content_policy", "content_filter", "content management policy", "content filtering policy", "safety system",
		"usage policies", "usage policy", "usage guidelines", "was flagged", "content exists risk", "inappropriate content",
		"responsible ai practices", "blocked by our content filters", "prohibited_content",
	}}
	geographicWords = wording{GeoBlocked, []string{
		"unsupported_country_region_territory", "country, region, or territory",
		"location is not supported", "not available in your region", "not available in your country",
	}}
	rateWords = wording{RateLimited, []string{
		"rate_limit", "rate limit", "too many requests", "quota exceeded", "resource_exhausted", "resource has been exhausted",
	}}
	moneyWords = wording{PaymentRequired, []string{
		"insufficient balance", "insufficient credit", "insufficient_quota", "credit balance is too low", "billing hard limit",
		"have any credits", "not enough credits", "requires more credits", "account is in arrears",
	}}
	credentialWords = wording{CredentialRejected, []string{
		"invalid_api_key", "invalid api key", "incorrect api key", "api key not valid", "invalid api token", "api key is invalid",
		"security token included in the request is", "the request signature we calculated",
	}}
	overloadWords = wording{Overloaded, []string{
		"overloaded", "capacity exceeded", "at capacity", "currently loading", "not ready yet", "is not ready",
	}}
	modelWords = wording{NotFound, []string{
		"model not exist", "is not a valid model id", "model identifier is invalid", "does not exist or you do not have access",
		"has been decommissioned",
	}}
)

// Which wordings count, in their order, for a status that leaves it open.
var (
	contentWording   = []wording{contextWords}
	overloadWording  = []wording{overloadWords}
	limitWording     = []wording{moneyWords, overloadWords}
	forbiddenWording = []wording{geographicWords, policyWords, moneyWords}
	requestWording   = []wording{contextWords, policyWords, credentialWords, geographicWords, moneyWords, modelWords}
	everyWording     = []wording{contextWords, policyWords, rateWords, moneyWords, credentialWords, geographicWords, overloadWords, modelWords}
)

// worded is the class of the first wording that the message has.
func (d *detail) worded(in []wording) Class {
	text := strings.ToLower(d.message)
	for _, w := range in {
		for _, words := range w.words {
			if strings.Contains(text, words) {
				return w.class
			}
		}
	}
	return ""
}
