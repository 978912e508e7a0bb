package simulator

import "encoding/json"

// azureFormat is another format with Azure's own errors
// (https://learn.microsoft.com/azure/ai-foundry/openai/reference).
type azureFormat struct{ dialect }

func (azureFormat) worded(t trouble) refusal {
	switch t {
	case troubleQuota:
		return refusal{status: 429, code: "429", message: "Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded " +
			"call rate limit of your current pricing tier. Please retry after 7 seconds."}
	case troubleContext:
		return openAIWords(t)
	case troublePolicy:
		return refusal{status: 400, code: "content_filter", param: "prompt", message: "The response was filtered due to the prompt triggering Azure OpenAI's " +
			"content management policy. Please modify your prompt and retry."}
	case troubleAuth:
	}
	return refusal{status: 401, code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription."}
}

// failure has no type where Azure answers before OpenAI's software does.
func (f azureFormat) failure(e refusal) json.RawMessage {
	switch e.code {
	case "401", "404", "429":
		return obj("error", obj("code", e.code, "message", e.message))
	case "content_filter":
		clean := obj("filtered", false, "severity", "safe")
		return obj("error", obj("message", e.message, "type", nil, "param", e.param, "code", e.code, "status", e.status,
			"innererror", obj("code", "ResponsibleAIPolicyViolation", "content_filter_result", obj(
				"hate", clean, "self_harm", clean, "sexual", clean, "violence", obj("filtered", true, "severity", "medium")))))
	}
	return f.dialect.failure(e)
}
