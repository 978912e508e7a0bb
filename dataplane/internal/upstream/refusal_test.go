package upstream

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// real are errors in the shapes in which providers send them. says is what the
// caller hears of it; "" where the upstream's words stay behind.
var real = []struct {
	name   string
	status int
	as     string // x-amzn-errortype
	body   string
	class  Class
	says   string
}{
	// https://platform.openai.com/docs/guides/error-codes
	{"OpenAI, bad parameter", 400, "", `{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`, Rejected, "Unsupported value: 'temperature' does not support 0.2 with this model."},
	{"OpenAI, context", 400, "", `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 140210 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, ContextLength, "This model's maximum context length is 128000 tokens. However, your messages resulted in 140210 tokens."},
	{"OpenAI, context of responses", 400, "", `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, ContextLength, "Your input exceeds the context window of this model. Please adjust your input and try again."},
	{"OpenAI, configured limit", 400, "", `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens.","type":"invalid_request_error","param":"messages","code":null}}`, ContextLength, "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens."},
	{"OpenAI, too much output asked", 400, "", `{"error":{"message":"max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}`, Rejected, "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000."},
	{"OpenAI, flagged prompt", 400, "", `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`, ContentPolicy, "Invalid prompt: your prompt was flagged as potentially violating our usage policy."},
	{"OpenAI, image refused", 400, "", `{"error":{"message":"Your request was rejected by the safety system.","type":"image_generation_user_error","param":null,"code":"moderation_blocked"}}`, ContentPolicy, "Your request was rejected by the safety system."},
	{"OpenAI, key", 401, "", `{"error":{"message":"Incorrect API key provided: sk-abc*****xyz.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, CredentialRejected, ""},
	{"OpenAI, country", 403, "", `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`, GeoBlocked, ""},
	{"OpenAI, no such model", 404, "", `{"error":{"message":"The model 'gpt-9' does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, NotFound, ""},
	{"OpenAI, rate", 429, "", `{"error":{"message":"Rate limit reached for gpt-4o in organization org-abcdefgh12345678 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, RateLimited, ""},
	{"OpenAI, larger than the rate", 413, "", `{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, Requested 12000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`, RateLimited, ""},
	{"OpenAI, no money", 429, "", `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, PaymentRequired, ""},
	{"OpenAI, slow down", 503, "", `{"error":{"message":"Slow down","type":"server_error","param":null,"code":"slow_down"}}`, Overloaded, ""},
	{"OpenAI, broken", 500, "", `{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}`, ServerError, ""},

	// https://docs.anthropic.com/en/api/errors
	{"Anthropic, context", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"req_1"}`, ContextLength, "prompt is too long: 210000 tokens > 200000 maximum"},
	{"Anthropic, input and output", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`, ContextLength, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"},
	{"Anthropic, output", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"}}`, Rejected, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"},
	{"Anthropic, field", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.0.text: Field required"}}`, Rejected, "messages.0.content.0.text: Field required"},
	{"Anthropic, no money", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, PaymentRequired, ""},
	{"Anthropic, filtered", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, ContentPolicy, "Output blocked by content filtering policy"},
	{"Anthropic, key", 401, "", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, CredentialRejected, ""},
	{"Anthropic, permission", 403, "", `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}`, CredentialRejected, ""},
	{"Anthropic, no such model", 404, "", `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, NotFound, ""},
	{"Anthropic, size", 413, "", `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, TooLarge, "Request exceeds the maximum size"},
	{"Anthropic, rate", 429, "", `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute"}}`, RateLimited, ""},
	{"Anthropic, overloaded", 529, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Overloaded, ""},
	{"Anthropic, broken", 500, "", `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, ServerError, ""},
	{"Anthropic, timeout", 504, "", `{"type":"error","error":{"type":"timeout_error","message":"Request timed out"}}`, StatusTimeout, ""},

	// https://ai.google.dev/gemini-api/docs/troubleshooting
	{"Google, argument", 400, "", `{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"foo\": Cannot find field.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config.foo","description":"Unknown"}]}]}}`, Rejected, `Invalid JSON payload received. Unknown name "foo": Cannot find field.`},
	{"Google, context", 400, "", `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, ContextLength, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
	{"Google, in a list", 400, "", `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}]`, CredentialRejected, ""},
	{"Google, place", 400, "", `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, GeoBlocked, ""},
	{"Google, permission", 403, "", `{"error":{"code":403,"message":"Permission denied on resource project my-project.","status":"PERMISSION_DENIED"}}`, CredentialRejected, ""},
	{"Google, no such model", 404, "", `{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta","status":"NOT_FOUND"}}`, NotFound, ""},
	{"Google, rate", 429, "", `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`, RateLimited, ""},
	{"Google, overloaded", 503, "", `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, Overloaded, ""},
	{"Google, deadline", 504, "", `{"error":{"code":504,"message":"Deadline expired","status":"DEADLINE_EXCEEDED"}}`, StatusTimeout, ""},
	{"Vertex, context", 400, "", `{"error":{"code":400,"message":"Unable to submit request because the input token count is 2000000 but model only supports up to 1048576.","status":"INVALID_ARGUMENT"}}`, ContextLength, "Unable to submit request because the input token count is 2000000 but model only supports up to 1048576."},
	{"Vertex, policy", 400, "", `{"error":{"code":400,"message":"The prompt could not be submitted. It may violate Google's Responsible AI practices.","status":"INVALID_ARGUMENT"}}`, ContentPolicy, "The prompt could not be submitted. It may violate Google's Responsible AI practices."},
	{"Vertex, names of ours", 400, "", `{"error":{"code":400,"message":"Service agent svc@p-1.iam.gserviceaccount.com of projects/p-1/locations/x has no bucket","status":"INVALID_ARGUMENT"}}`, Rejected, "Service agent [name removed] of [name removed]/locations/x has no bucket"},

	// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter
	{"Azure, filter", 400, "", `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}}}`, ContentPolicy, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."},
	{"Azure, filter told inside alone", 400, "", `{"error":{"message":"Blocked.","code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, ContentPolicy, "Blocked."},
	{"Azure, deployment", 404, "", `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, NotFound, ""},
	{"Azure, rate", 429, "", `{"error":{"code":"RateLimitReached","message":"Requests to the ChatCompletions_Create Operation have exceeded call rate limit. Please retry after 26 seconds."}}`, RateLimited, ""},
	{"Azure, key", 401, "", `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, CredentialRejected, ""},

	// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
	{"Bedrock, context", 400, "ValidationException:http://internal.amazon.com/coral/", `{"message":"Input is too long for requested model."}`, ContextLength, "Input is too long for requested model."},
	{"Bedrock, field", 400, "ValidationException", `{"message":"The maximum tokens you requested exceeds the model limit of 8192."}`, Rejected, "The maximum tokens you requested exceeds the model limit of 8192."},
	{"Bedrock, model", 400, "ValidationException", `{"message":"The provided model identifier is invalid."}`, NotFound, ""},
	{"Bedrock, rate", 429, "ThrottlingException", `{"message":"Too many tokens, please wait before trying again."}`, RateLimited, ""},
	{"Bedrock, access", 403, "AccessDeniedException", `{"Message":"User: arn:aws:iam::123456789012:user/gw is not authorized to perform: bedrock:InvokeModel"}`, CredentialRejected, ""},
	{"Bedrock, token", 403, "UnrecognizedClientException", `{"message":"The security token included in the request is invalid."}`, CredentialRejected, ""},
	{"Bedrock, signature told as 400", 400, "", `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"Signature expired"}`, CredentialRejected, ""},
	{"Bedrock, quota", 400, "ServiceQuotaExceededException", `{"message":"Your request exceeds the service quota for your account."}`, RateLimited, ""},
	{"Bedrock, cold model", 429, "ModelNotReadyException", `{"message":"The model is not ready."}`, Overloaded, ""},
	{"Bedrock, model's time", 408, "ModelTimeoutException", `{"message":"The model took too long."}`, StatusTimeout, ""},
	{"Bedrock, model's error", 424, "ModelErrorException", `{"message":"The model failed.","originalStatusCode":500}`, ServerError, ""},
	{"Bedrock, unavailable", 503, "ServiceUnavailableException", `{"message":"Bedrock is unable to process your request."}`, Overloaded, ""},
	{"Bedrock, nothing there", 404, "ResourceNotFoundException", `{"message":"Could not resolve the foundation model"}`, NotFound, ""},
	{"Bedrock, an ARN", 400, "ValidationException", `{"message":"Profile arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x is not for converse"}`, Rejected, "Profile [name removed] is not for converse"},

	// https://docs.mistral.ai/api
	{"Mistral, field", 422, "", `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":5}]},"type":"invalid_request_error","param":null,"code":null}`, Rejected, "Extra inputs are not permitted"},
	{"Mistral, detail", 422, "", `{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}`, Rejected, "Field required"},
	{"Mistral, model", 400, "", `{"object":"error","message":"Invalid model: mistral-9","type":"invalid_model","param":null,"code":"1500"}`, NotFound, ""},
	{"Mistral, context", 400, "", `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","param":null,"code":"3051"}`, ContextLength, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"},
	{"Mistral, capacity", 429, "", `{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"}`, Overloaded, ""},
	{"Mistral, key", 401, "", `{"detail":"Unauthorized"}`, CredentialRejected, ""},
	{"Cohere, context", 400, "", `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 6000."}`, ContextLength, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 6000."},
	{"Cohere, key", 401, "", `{"message":"invalid api token"}`, CredentialRejected, ""},
	{"DeepSeek, money", 402, "", `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, PaymentRequired, ""},
	{"DeepSeek, model", 400, "", `{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, NotFound, ""},
	{"DeepSeek, policy", 400, "", `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, ContentPolicy, "Content Exists Risk"},
	{"Groq, context", 400, "", `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, ContextLength, "Please reduce the length of the messages or completion."},
	{"Groq, tool", 400, "", `{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<secret>"}}`, Rejected, "Failed to call a function. Please adjust your prompt."},
	{"Groq, gone model", 400, "", `{"error":{"message":"The model has been decommissioned and is no longer supported.","type":"invalid_request_error","code":"model_decommissioned"}}`, NotFound, ""},
	{"Groq, capacity", 498, "", `{"error":{"message":"Flex tier capacity exceeded","type":"invalid_request_error","code":"capacity_exceeded"}}`, Overloaded, ""},
	{"Together, context", 422, "", `{"error":{"message":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 8193. Given: 9000","type":"invalid_request_error","param":null,"code":null}}`, ContextLength, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000"},
	{"Together, overloaded", 503, "", `{"error":{"message":"The server is overloaded or not ready yet.","type":"server_error"}}`, Overloaded, ""},
	{"Fireworks, context", 400, "", `{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long: 8203, model maximum context length: 8192"}}`, ContextLength, "The prompt is too long: 8203, model maximum context length: 8192"},
	{"xAI, context", 400, "", `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, ContextLength, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
	{"xAI, key", 400, "", `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***bc."}`, CredentialRejected, ""},
	{"xAI, policy", 403, "", `{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines."}`, ContentPolicy, "Content violates usage guidelines."},
	{"Moonshot, context", 400, "", `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}`, ContextLength, "Invalid request: Your request exceeded model token limit: 8192"},
	{"Moonshot, busy", 429, "", `{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}`, Overloaded, ""},
	{"Moonshot, money", 429, "", `{"error":{"message":"Your account is suspended, please recharge","type":"exceeded_current_quota_error"}}`, PaymentRequired, ""},
	{"Zhipu, context", 400, "", `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, ContextLength, "Prompt exceeds max length"},
	{"DashScope, context", 400, "", `{"code":"InvalidParameter","message":"Range of input length should be [1, 30720]","request_id":"x"}`, ContextLength, "Range of input length should be [1, 30720]"},
	{"DashScope, policy", 400, "", `{"error":{"code":"data_inspection_failed","param":null,"message":"Input data may contain inappropriate content.","type":"data_inspection_failed"}}`, ContentPolicy, "Input data may contain inappropriate content."},

	// https://openrouter.ai/docs/api-reference/errors
	{"OpenRouter, provider's", 400, "", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 4096 tokens.\",\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}","provider_name":"Acme"}},"user_id":"user_1"}`, ContextLength, "This model's maximum context length is 4096 tokens."},
	{"OpenRouter, text behind", 400, "", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"bad tool schema","provider_name":"Acme"}}}`, Rejected, "bad tool schema"},
	{"OpenRouter, moderated", 403, "", `{"error":{"message":"Your chosen model requires moderation and your input was flagged","code":403,"metadata":{"reasons":["violence"],"flagged_input":"x","provider_name":"OpenAI"}}}`, ContentPolicy, "Your chosen model requires moderation and your input was flagged"},
	{"OpenRouter, money", 402, "", `{"error":{"message":"This request requires more credits, or fewer max_tokens.","code":402}}`, PaymentRequired, ""},
	{"OpenRouter, nobody", 404, "", `{"error":{"message":"No endpoints found for acme/x.","code":404}}`, NotFound, ""},
	{"OpenRouter, model", 400, "", `{"error":{"message":"acme/x is not a valid model ID","code":400}}`, NotFound, ""},
	{"OpenRouter, rate", 429, "", `{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429}}`, RateLimited, ""},

	{"vLLM, context", 400, "", `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens. Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`, ContextLength, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens. Please reduce the length of the messages or completion."},
	{"vLLM, newer", 400, "", `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","param":null,"code":400}}`, ContextLength, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."},
	{"vLLM, model", 404, "", `{"object":"error","message":"The model ` + "`x`" + ` does not exist.","type":"NotFoundError","param":null,"code":404}`, NotFound, ""},
	{"Ollama, model", 404, "", `{"error":"model 'x' not found"}`, NotFound, ""},
	{"Ollama, context as 500", 500, "", `{"error":"the input length exceeds the context length"}`, ContextLength, "the input length exceeds the context length"},
	{"llama.cpp, context", 400, "", `{"error":{"code":400,"message":"the request exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, ContextLength, "the request exceeds the available context size (4096 tokens), try increasing it"},
	{"TGI, context", 422, "", `{"error":"Input validation error: ` + "`inputs`" + ` must have less than 1024 tokens. Given: 1543","error_type":"validation"}`, ContextLength, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1543"},
	{"TGI, overloaded", 429, "", `{"error":"Model is overloaded","error_type":"overloaded"}`, Overloaded, ""},
	{"Hugging Face, loading", 503, "", `{"error":"Model acme/x is currently loading","estimated_time":20.0}`, Overloaded, ""},
	{"Hugging Face, list", 400, "", `{"error":["Error in ` + "`inputs`" + `: field required"]}`, Rejected, "Error in `inputs`: field required"},
	{"Cloudflare, list", 400, "", `{"success":false,"errors":[{"code":5006,"message":"must have required property 'prompt'"}]}`, Rejected, "must have required property 'prompt'"},
	{"a gateway in between", 400, "", `{"error":{"message":"{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"too long\"}}","type":"None","code":"400"}}`, ContextLength, "too long"},
	{"a problem document", 400, "", `{"type":"about:blank","title":"Bad Request","status":400,"detail":"no such voice"}`, Rejected, "no such voice"},
	{"a page", 503, "", `<html><h1>503 Service Temporarily Unavailable</h1></html>`, ServerError, ""},
	{"a proxy's text", 503, "", `upstream connect error or disconnect/reset before headers`, ServerError, ""},
	{"nothing", 400, "", ``, Rejected, ""},
}

func TestRealErrors(t *testing.T) {
	require.GreaterOrEqual(t, len(real), 50)
	for _, c := range real {
		t.Run(c.name, func(t *testing.T) {
			f := RefusedAs(c.as, c.status, 3*time.Second, []byte(c.body))
			require.Equal(t, c.class, f.Class)
			require.Equal(t, c.status, f.Status)
			want := c.says
			if want == "" {
				want = sayings[c.class].message
			}
			require.Equal(t, want, f.Fault.Message)
			require.Equal(t, sayings[c.class].code, f.Fault.Code)
			switch c.class {
			case Rejected, TooLarge, ContextLength, ContentPolicy:
				require.True(t, f.Fault.Status >= 400 && f.Fault.Status < 500, "the caller gets a 4xx, not %d", f.Fault.Status)
			default:
				require.Empty(t, f.Fault.Fields, "nothing of the upstream's words is kept")
				require.Zero(t, f.Fault.Status)
			}
			require.Equal(t, c.status == http.StatusTooManyRequests, f.Limited, "a 429 is one whatever its words")
			waits := c.class == PaymentRequired || c.class == RateLimited || c.class == Overloaded || c.class == ServerError || c.class == StatusTimeout
			require.Equal(t, waits, f.RetryAfter == 3*time.Second)
		})
	}
}

// The same errors inside of a 200 mean the same, as far as they say what they
// are themselves.
func TestRealErrorsInBand(t *testing.T) {
	for _, c := range real {
		if c.as != "" || c.body == "" || strings.HasPrefix(c.body, "<") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			f := InBand(ErrorInStream, http.StatusOK, []byte(c.body))
			require.Equal(t, http.StatusOK, f.Status)
			switch c.class {
			case ContextLength, ContentPolicy:
				require.Equal(t, c.class, f.Class)
				require.Equal(t, c.says, f.Fault.Message)
				require.True(t, f.Fault.Status >= 400 && f.Fault.Status < 500)
			case PaymentRequired, GeoBlocked, Overloaded, StatusTimeout:
				require.Equal(t, c.class, f.Class)
			case RateLimited:
				require.Equal(t, c.class, f.Class)
				require.Empty(t, f.Fault.Fields)
			case Rejected:
				require.Contains(t, []Class{Rejected, ErrorInStream}, f.Class)
				require.Equal(t, c.says, f.Fault.Message)
			default: // their status alone said what they are
			}
		})
	}
}

func TestInBandOfAWS(t *testing.T) {
	for body, want := range map[string]Class{
		`{"throttlingException":{"message":"Too many tokens, please wait"}}`:            RateLimited,
		`{"modelStreamErrorException":{"message":"x","originalStatusCode":500}}`:        ErrorInStream,
		`{"internalServerException":{"message":"x"}}`:                                   ErrorInStream,
		`{"validationException":{"message":"Input is too long for requested model"}}`:   ContextLength,
		`{"validationException":{"message":"bad"}}`:                                     Rejected,
		`{"serviceUnavailableException":{"message":"x"}}`:                               Overloaded,
		`{"__type":"throttlingException","message":"Too many tokens, please wait"}`:     RateLimited,
		`{"error":{"code":502,"message":"Provider disconnected"},"choices":[]}`:         ErrorInStream,
		`{"error":{"code":400,"message":"Provider returned error"}}`:                    Rejected,
		`{"error":{"code":503,"message":"No capacity"}}`:                                ErrorInStream,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:   Overloaded,
		`{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`:      Rejected,
		`{"code":"rate_limit_exceeded","message":"Rate limit reached","type":"tokens"}`: RateLimited,
	} {
		require.Equal(t, want, InBand(ErrorInStream, 200, []byte(body)).Class, body)
	}
}

// Google says in the body how long to wait.
func TestWaitInTheBody(t *testing.T) {
	body := func(delay string) []byte {
		return []byte(`{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}]}}`)
	}
	require.Equal(t, 34500*time.Millisecond, Refused(429, 0, body("34.5s")).RetryAfter)
	require.Equal(t, 7*time.Second, Refused(429, 7*time.Second, body("34.5s")).RetryAfter, "the head's comes first")
	require.Equal(t, 34500*time.Millisecond, InBand(ErrorInReply, 200, body("34.5s")).RetryAfter)
	require.Equal(t, 24*time.Hour, Refused(429, 0, body("25h")).RetryAfter, "at most a day")
	for _, delay := range []string{"-1s", "soon", "", "9999999999h"} {
		require.Zero(t, Refused(429, 0, body(delay)).RetryAfter, delay)
	}
}

func TestFieldsThatAreKept(t *testing.T) {
	for body, want := range map[string]map[string]any{
		real[0].body: {"upstream_code": "unsupported_value", "type": "invalid_request_error", "param": "temperature"},
		`{"error":{"code":400,"message":"x","status":"INVALID_ARGUMENT","details":[{"fieldViolations":[{"field":"generation_config.foo"}]}]}}`:                 {"upstream_code": "400", "type": "INVALID_ARGUMENT", "param": "generation_config.foo"},
		`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",0,"name"],"msg":"Extra"}]},"type":"invalid_request_error"}`: {"type": "extra_forbidden", "param": "messages.0.name"},
		`{"error":{"message":"x","code":"sk-abcdefghijklmnopqrstuv","type":"a<b","param":"http://x"}}`:                                                         nil,
	} {
		require.Equal(t, want, Refused(400, 0, []byte(body)).Fault.Fields, body)
	}
	named := RefusedAs("ValidationException:http://internal.amazon.com/coral", 400, 0, []byte(`{"message":"bad"}`))
	require.Equal(t, map[string]any{"type": "ValidationException"}, named.Fault.Fields)
}

// Errors inside of errors end somewhere.
func TestDeepErrors(t *testing.T) {
	deep := strings.Repeat(`{"error":`, 500) + `{"message":"x"}` + strings.Repeat(`}`, 500)
	require.Equal(t, Rejected, Refused(400, 0, []byte(deep)).Class)
	lists := strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500)
	require.Equal(t, Rejected, Refused(400, 0, []byte(`{"details":`+lists+`,"detail":`+lists+`}`)).Class)
}

func FuzzErrors(f *testing.F) {
	for _, c := range real {
		f.Add(c.status, c.as, []byte(c.body))
	}
	f.Fuzz(func(t *testing.T, status int, as string, body []byte) {
		for _, failure := range []*Failure{RefusedAs(as, status, 0, body), InBand(ErrorInStream, 200, body)} {
			require.Contains(t, sayings, failure.Class)
			require.NotEmpty(t, failure.Fault.Message)
			require.LessOrEqual(t, len(failure.Fault.Message), maxMessage)
			require.True(t, utf8.ValidString(failure.Fault.Message))
			require.NotContains(t, failure.Fault.Message, "://")
			require.LessOrEqual(t, failure.RetryAfter, 24*time.Hour)
			for name, value := range failure.Fault.Fields {
				text, ok := value.(string)
				require.True(t, ok)
				require.Regexp(t, words, text, name)
			}
			if failure.Fault.Code == fault.ContextLengthExceeded || failure.Fault.Code == fault.UpstreamRejected {
				require.True(t, failure.Fault.Status >= 400 && failure.Fault.Status < 500, failure.Fault.Status)
			}
		}
	})
}
