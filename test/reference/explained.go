package reference

import "github.com/signalbox-dev/signalbox/shared/fault"

// explanation says of a code what its status does not.
type explanation struct {
	status string // where it is not one number
	retry  string
	when   string
	do     string
}

// explained has every code.
var explained = map[fault.Code]explanation{
	fault.InvalidJSON:      {"", "no", "The body is not readable JSON.", "Send valid JSON."},
	fault.ValidationError:  {"400, 408", "no", "A field, header or parameter is wrong; every wrong place is listed. 408 with `body_timeout`.", "Correct the places named."},
	fault.Unauthorized:     {"", "no", "There is no credential, or it is not valid here.", "See the reason; use another key."},
	fault.NotFound:         {"", "no", "There is no such path or thing, or not in your workspace.", "Check the id and the path."},
	fault.MethodNotAllowed: {"", "no", "The path does not take this method.", "Use one that it takes."},
	fault.PayloadTooLarge:  {"", "no", "The body is larger than the server takes, after inflation.", "Send less; the operator can raise `http.max_json` and `http.max_multipart`."},
	fault.GatewayError:     {"", "no", "A fault of ours. It is logged under the request id.", "Tell the operator the request id."},

	fault.NoDefaultModel:             {"", "no", "The request names no model and nothing sets a default.", "Name a model."},
	fault.ModelNotFound:              {"", "no", "No model has this id. The message names near ones.", "Choose one that `GET /v1/models` lists."},
	fault.UnsupportedModelOrEndpoint: {"", "no", "The model exists, and nothing can serve this request; `stage` and `exclusions` say why.", "Do what the message says: relax a restriction or choose another model."},
	fault.ContextLengthExceeded:      {"", "no", "The input is longer than the context of every endpoint, or the provider said so.", "Shorten the input or choose a model with a longer context."},
	fault.UpstreamRejected:           {"the provider's 4xx", "no", "The provider refused the request itself. Its message, `param`, type and `upstream_code` are kept.", "Change the request as the provider asks."},
	fault.SubmissionUnknown:          {"502, 504", "no", "A job that may or may not have been taken.", "Look for it before submitting again."},
	fault.InsufficientFunds:          {"", "no", "The workspace's `balance_usd` is under the `floor_usd`.", "Add funds, or use a free model or your own credentials."},
	fault.RouteRejected:              {"400 to 499", "408; 429 where a limit node sent the request there, with a `Retry-After`", "The key's dynamic route rejects the request. The status, the message and the `reason` are the ones that a workspace admin gave the node.", "Do as the message says, or ask a workspace admin."},
	fault.GuardrailBlocked:           {"", "no", "Guardrails alone leave nothing that could serve the request; `guardrails` lists their ids.", "Choose a model that `GET /v1/models` lists, or ask a workspace admin."},
	fault.ModelRegionUnavailable:     {"", "no", "The required region is what leaves nothing.", "Choose another region or model."},
	fault.ModelRetired:               {"", "no", "The model was retired and nothing serves it.", "Use `replacement` when it is given."},
	fault.KeyLimitExceeded:           {"", "unless it does not reset", "A limit of the key, a budget or an allowance is used up; `scope` and `id` say which, `used`, `limit` and `reset_at` the rest.", "Wait for `retry-after`, or have the limit raised."},
	fault.RateLimitExceeded:          {"", "yes", "A rate limit is reached; `policy_id` and `limit_scope` say which.", "Wait for `retry-after`; send less at a time."},
	fault.UpstreamRateLimited:        {"", "yes", "Every attempt ended in the provider's 429.", "Wait for `retry-after`, or allow other providers."},
	fault.UpstreamServerError:        {"", "see `retryable`", "The provider failed, or its answer was unusable, after all attempts.", "Retry, or allow other providers or models."},
	fault.UpstreamUnreachable:        {"", "yes", "No connection to the provider could be made or kept.", "Retry, or allow other providers."},
	fault.UpstreamCredentialRejected: {"", "no", "The provider refuses the gateway's key for it. Yours is fine.", "Tell the operator."},
	fault.UpstreamUndetermined:       {"", "yes", "The key, the policy or the catalog cannot be read now, or the gateway is stopping.", "Retry shortly."},
	fault.QuotaUnavailable:           {"", "yes", "The gateway cannot account for the request, or not tell whether an allowance or hard budget has room, so it does not serve it.", "Retry shortly; the operator looks at the spool's disk and at NATS."},
	fault.UpstreamTimeout:            {"", "yes", "A time limit ran out; the reason says which.", "Stream, ask for less, raise `x-signalbox-timeout-ms`, or allow other providers."},
	fault.ClientClosed:               {"499, never sent", "–", "The caller left first. Recorded only.", "Nothing."},

	fault.Forbidden:            {"", "no", "The credential is valid and its holder may not do this.", "Ask for the role, or use another key."},
	fault.InsufficientScope:    {"", "no", "The management key lacks `missing_scopes`.", "Use or make a key with them."},
	fault.Conflict:             {"", "see `retryable`", "The state does not allow it: a name is taken, a key is revoked, the same call still runs.", "Look at the state, then decide."},
	fault.PreconditionFailed:   {"", "no", "`If-Match` names another version than `current_version`.", "Read again, then change."},
	fault.IdempotencyConflict:  {"", "no", "The `Idempotency-Key` was used for another request.", "Use a fresh key."},
	fault.UnsupportedMediaType: {"", "no", "The body is of another kind than the path takes.", "Send `content-type: application/json`."},
	fault.Unavailable:          {"", "yes", "Postgres is away, or a gateway has no room for a large body. Nothing was half-done.", "Repeat, with the same `Idempotency-Key` where one was sent."},
}

// reasoning says what a reason means, and of which code it is.
type reasoning struct {
	of      fault.Code
	meaning string
}

// reasoned has every reason.
var reasoned = map[fault.Reason]reasoning{
	fault.MissingCredentials:        {fault.Unauthorized, "No credential was sent where one is looked for."},
	fault.ConflictingCredentials:    {fault.ValidationError, "Two different credentials were sent."},
	fault.InvalidKeyFormat:          {fault.Unauthorized, "What was sent does not look like a key."},
	fault.InvalidKey:                {fault.Unauthorized, "There is no such key, or its secret is another."},
	fault.KeyRevoked:                {fault.Unauthorized, "The key was revoked, for good."},
	fault.KeyPaused:                 {fault.Unauthorized, "The key is paused."},
	fault.KeyExpired:                {fault.Unauthorized, "The key has expired."},
	fault.ManagementKeyNotValidHere: {fault.Unauthorized, "A management key was sent to the inference API."},
	fault.InferenceKeyNotValidHere:  {fault.Unauthorized, "An API key was sent to the management API."},
	fault.IPNotAllowed:              {fault.Unauthorized, "The key may not be used from this address; 403."},
	fault.TokenExpired:              {fault.Unauthorized, "The access token has expired."},
	fault.TokenInvalid:              {fault.Unauthorized, "The access token is not valid."},

	fault.InvalidProviderSlug:              {fault.ValidationError, "A provider is not written as one."},
	fault.UnknownProviderSlug:              {fault.ValidationError, "There is no provider with this name."},
	fault.ContradictoryRestrictions:        {fault.ValidationError, "The request ignores every provider that it allows."},
	fault.ProviderQualifiedModelConflict:   {fault.ValidationError, "`only` or `ignore` of the request, or of a routing profile, excludes the provider before the model; `rung` and `field` say which."},
	fault.QualifiedProviderUnavailable:     {fault.ValidationError, "The provider before the model does not serve it, or not this request."},
	fault.QualifiedFreeProviderUnavailable: {fault.ValidationError, "The provider before the model does not serve it for free."},
	fault.ProfileProviderDisabled:          {fault.UnsupportedModelOrEndpoint, "A routing profile, preset or route names a provider that is switched off or gone; `profile`, `rung`, `field` and `provider` say which. Nothing is put in its place."},
	fault.ModelNotAllowed:                  {fault.UnsupportedModelOrEndpoint, "The key may not use this model."},
	fault.SurfaceNotAllowed:                {fault.Forbidden, "The key may not use this surface."},
	fault.UnknownField:                     {fault.ValidationError, "A member that nothing reads; as the `code` of a detail."},
	fault.BodyTimeout:                      {fault.ValidationError, "The body did not arrive in time; 408."},
	fault.InvalidModelName:                 {fault.ValidationError, "The model is not written as one."},
	fault.PresetNotFound:                   {fault.ModelNotFound, "There is no preset with this name, or none that this key may use; or it stands for another preset, which is not followed."},
	fault.PresetModelNotAllowed:            {fault.UnsupportedModelOrEndpoint, "The preset's lists of models are against the model that it would go to."},
	fault.NoProvidersAfterPresetFilter:     {fault.UnsupportedModelOrEndpoint, "The preset's lists of providers leave none that serves the model."},
	fault.AutoNotSupported:                 {fault.UnsupportedModelOrEndpoint, "`signalbox/auto` answers conversations, and this is another surface."},
	fault.NoAutoModel:                      {fault.UnsupportedModelOrEndpoint, "`signalbox/auto` finds no model that meets every constraint of the request and the workspace."},
	fault.NoFreeModel:                      {fault.UnsupportedModelOrEndpoint, "No free model can serve the request."},

	fault.PublicProfileRequired: {fault.Conflict, "A preset cannot be public before the workspace has a publisher handle."},
	fault.NothingToPublish:      {fault.Conflict, "The draft is as the latest version."},
	fault.NothingToRollBack:     {fault.Conflict, "The present deployment replaced none."},

	fault.ModelRestricted:    {fault.GuardrailBlocked, "A guardrail blocks the model, or allows others only."},
	fault.ProviderRestricted: {fault.GuardrailBlocked, "Guardrails allow no provider that serves the model."},
	fault.NoDataHandling:     {fault.GuardrailBlocked, "No provider of the model is known to handle data as guardrails demand."},

	fault.PolicyRequests:    {fault.RateLimitExceeded, "As many requests as the policy allows came in the last 60 seconds. Wait for `retry-after`."},
	fault.PolicyTokens:      {fault.RateLimitExceeded, "As many tokens as the policy allows were used in the last 60 seconds. Wait for `retry-after`."},
	fault.PolicyConcurrent:  {fault.RateLimitExceeded, "As many requests as the policy allows are going on. Try again when one has ended."},
	fault.PolicyUnavailable: {fault.RateLimitExceeded, "The limit cannot be asked in time, and the policy admits nothing then. Retry shortly."},
	fault.CustomerRequests:  {fault.KeyLimitExceeded, "The platform's requests in any minute for each user, all keys together, are used. Wait for `retry-after`."},
	fault.FreeRequests:      {fault.KeyLimitExceeded, "The platform's requests of the UTC day to free models are used. Name another model, or wait for the day's end."},
	fault.KeySoftBlocked:    {fault.KeyLimitExceeded, "A workspace admin blocked the key. It works again when that is taken back."},
	fault.CostUnbounded:     {fault.ValidationError, "A limit reserves the worst case of each request, and this one has none; the message says what to set."},

	fault.FirstByteTimeout: {fault.UpstreamTimeout, "No content within the time to first byte."},
	fault.StreamIdle:       {fault.UpstreamTimeout, "The stream fell silent."},
	fault.ReplyTimeout:     {fault.UpstreamTimeout, "A whole reply took too long."},
	fault.RequestTimeout:   {fault.UpstreamTimeout, "The request with all its attempts took too long."},
	fault.StreamCut:        {fault.UpstreamServerError, "The stream broke off before its end."},
	fault.EventTooLarge:    {fault.UpstreamServerError, "One event of the stream was larger than 8 MiB."},
	fault.Overloaded:       {fault.UpstreamServerError, "The provider has more to do than it can."},
	fault.ContentPolicy:    {fault.UpstreamRejected, "The provider refused what was said, not how."},
}

// Unexplained lists codes and reasons that have no explanation here.
func Unexplained(codes, reasons []Constant) (missing []string) {
	for _, c := range codes {
		if explained[fault.Code(c.Value)].when == "" {
			missing = append(missing, c.Value)
		}
	}
	for _, r := range reasons {
		if reasoned[fault.Reason(r.Value)].meaning == "" {
			missing = append(missing, r.Value)
		}
	}
	return missing
}
