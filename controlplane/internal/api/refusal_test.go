package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// canary is put wherever a caller can put a value; it must come back from
// nowhere.
const canary = "canary-2718281828"

// TestBadInput sends every kind of bad input, each with the canary in its
// value, and expects the place to be named and the value not to be repeated.
func TestBadInput(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("bad")
	key, _ := p.newKey(w, "target")
	profile, guardrail := p.newProfile(w, `{"name":"target"}`), p.newGuardrail(w, `{"name":"target"}`)
	rates, members := p.newRatePolicy(w, `{"name":"target","requests_per_minute":1}`), "/v1/departments/"+p.newDepartment(w, `{"name":"target"}`)+"/members"
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	cases := map[string]struct {
		call
		status int
		code   string
		paths  []string
		kinds  []string
	}{
		"not JSON":             {post("/v1/keys", `{"name":"`+canary), 400, "invalid_json", nil, nil},
		"two values":           {post("/v1/keys", `{"name":"`+canary+`"} {}`), 400, "invalid_json", nil, nil},
		"not UTF-8":            {post("/v1/keys", "{\"name\":\"\xff"+canary+"\"}"), 400, "invalid_json", nil, nil},
		"too deep":             {post("/v1/keys", deep), 400, "invalid_json", nil, nil},
		"no body":              {post("/v1/keys", ""), 400, "validation_error", []string{""}, []string{"required"}},
		"not an object":        {post("/v1/keys", `["`+canary+`"]`), 400, "validation_error", []string{""}, []string{"type"}},
		"null":                 {post("/v1/keys", `null`), 400, "validation_error", []string{""}, []string{"type"}},
		"missing field":        {post("/v1/keys", `{}`), 400, "validation_error", []string{"name"}, []string{"required"}},
		"unknown field":        {post("/v1/keys", `{"name":"x","shade":"`+canary+`"}`), 400, "validation_error", []string{"shade"}, []string{"unknown_field"}},
		"other letter case":    {post("/v1/keys", `{"name":"x","Models":["`+canary+`"]}`), 400, "validation_error", []string{"Models"}, []string{"unknown_field"}},
		"unknown nested field": {operator(`{"name":"x","owner":{"email":"a@example.com","vip":"` + canary + `"}}`), 400, "validation_error", []string{"owner.vip"}, []string{"unknown_field"}},
		"repeated field":       {post("/v1/keys", `{"name":"x","name":"`+canary+`"}`), 400, "validation_error", []string{"name"}, []string{"repeated_field"}},
		"wrong type":           {post("/v1/keys", `{"name":{"deep":"`+canary+`"}}`), 400, "validation_error", []string{"name"}, []string{"type"}},
		"several at once": {
			post("/v1/keys", `{"name":"","surfaces":["chat","`+canary+`"],"expires_at":"`+canary+`","x":1}`), 400, "validation_error",
			[]string{"expires_at", "name", "surfaces[1]", "x"},
			[]string{"format", "min_length", "enum", "unknown_field"},
		},
		"too long":                 {post("/v1/keys", `{"name":"`+canary+strings.Repeat("x", 100)+`"}`), 400, "validation_error", []string{"name"}, []string{"max_length"}},
		"only blanks":              {post("/v1/keys", `{"name":"   "}`), 400, "validation_error", []string{"name"}, []string{"required"}},
		"expiry in past":           {post("/v1/keys", `{"name":"x","expires_at":"2001-01-01T00:00:00Z"}`), 400, "validation_error", []string{"expires_at"}, []string{"in_the_past"}},
		"impossible date":          {post("/v1/keys", `{"name":"x","expires_at":"2030-02-31T00:00:00Z"}`), 400, "validation_error", nil, nil},
		"year beyond":              {post("/v1/keys", `{"name":"x","expires_at":"99999-01-01T00:00:00Z"}`), 400, "validation_error", []string{"expires_at"}, nil},
		"null where it may not be": {post("/v1/keys", `{"name":"x","models":null}`), 400, "validation_error", []string{"models"}, []string{"type"}},
		"empty patch":              {patch("/v1/keys/"+key, `{}`), 400, "validation_error", []string{""}, []string{"min_properties"}},
		"out of range":             {patch("/v1/settings", `{"max_attempts":271828}`), 400, "validation_error", []string{"max_attempts"}, []string{"maximum"}},
		"beyond 64 bits":           {post("/v1/keys/"+key+"/rotate", `{"grace_seconds":18446744073709551617}`), 400, "validation_error", []string{"grace_seconds"}, []string{"maximum"}},
		"whole, with a point":      {patch("/v1/settings", `{"max_attempts":3.0}`), 400, "validation_error", []string{"max_attempts"}, []string{"out_of_range"}},
		"a key for a field":        {post("/v1/keys", `{"name":"x","sk-`+canary+`":1,"sk`+canary+`0":1}`), 400, "validation_error", []string{""}, []string{"unknown_field"}},
		"an inner key for a field": {operator(`{"name":"x","owner":{"email":"a@example.com","sk-` + canary + `":1}}`), 400, "validation_error", []string{"owner"}, []string{"unknown_field"}},
		"a key twice":              {post("/v1/keys", `{"name":"x","sk-`+canary+`":1,"sk-`+canary+`":1}`), 400, "validation_error", []string{""}, []string{"repeated_field"}},
		"a key for a parameter":    {get("/v1/keys?sk-" + canary + "=1"), 400, "validation_error", []string{""}, []string{"unknown_parameter"}},
		"a parameter, differently": {get("/v1/keys?Limit=1"), 400, "validation_error", []string{"Limit"}, []string{"unknown_parameter"}},
		"a header twice":           {header(patch("/v1/keys/"+key, `{"name":"x"}`), "Idempotency-Key", canary+"a", canary+"b"), 400, "validation_error", []string{"Idempotency-Key"}, []string{"repeated_parameter"}},
		"If-Match twice":           {header(patch("/v1/keys/"+key, `{"name":"x"}`), "If-Match", `"1"`, `"2"`), 400, "validation_error", []string{"If-Match"}, []string{"repeated_parameter"}},
		"an invisible name":        {post("/v1/keys", `{"name":"a\u200b`+canary+`"}`), 400, "validation_error", []string{"name"}, []string{"malformed"}},
		"not whole":                {patch("/v1/settings", `{"max_attempts":2.5}`), 400, "validation_error", []string{"max_attempts"}, []string{"type"}},
		"long grace":               {post("/v1/keys/"+key+"/rotate", `{"grace_seconds":604801}`), 400, "validation_error", []string{"grace_seconds"}, []string{"maximum"}},
		"bad slug":                 {operator(`{"name":"x","slug":"` + strings.ToUpper(canary) + `","owner":{"email":"a@example.com"}}`), 400, "validation_error", []string{"slug"}, []string{"pattern"}},
		"bad e-mail":               {operator(`{"name":"x","owner":{"email":"` + canary + `"}}`), 400, "validation_error", []string{"owner.email"}, []string{"pattern"}},
		"unexpected body":          {post("/v1/keys/"+key+"/pause", `{"x":"`+canary+`"}`), 400, "validation_error", []string{""}, []string{"unexpected_body"}},
		"body on a read":           {call{method: "GET", path: "/v1/keys", body: `{"x":"` + canary + `"}`}, 400, "validation_error", []string{""}, []string{"unexpected_body"}},
		"unknown parameter":        {get("/v1/keys?shade=" + canary), 400, "validation_error", []string{"shade"}, []string{"unknown_parameter"}},
		"repeated parameter":       {get("/v1/keys?limit=1&limit=2"), 400, "validation_error", []string{"limit"}, []string{"repeated_parameter"}},
		"malformed query":          {get("/v1/keys?limit=%zz" + canary), 400, "validation_error", []string{""}, []string{"malformed_query"}},
		"limit no number":          {get("/v1/keys?limit=" + canary), 400, "validation_error", []string{"limit"}, []string{"type"}},
		"limit 0":                  {get("/v1/keys?limit=0"), 400, "validation_error", []string{"limit"}, []string{"minimum"}},
		"limit 251":                {get("/v1/keys?limit=251"), 400, "validation_error", []string{"limit"}, []string{"maximum"}},
		"empty parameter":          {get("/v1/keys?status="), 400, "validation_error", []string{"status"}, nil},
		"bad enum":                 {get("/v1/keys?status=" + canary), 400, "validation_error", []string{"status"}, []string{"enum"}},
		"bad cursor":               {get("/v1/keys?cursor=" + canary), 400, "validation_error", []string{"cursor"}, nil},
		"bad cursor of one":        {get("/v1/workspaces?cursor=" + canary), 400, "validation_error", []string{"cursor"}, nil},
		"NUL":                      {get("/v1/logs?model=" + canary + "%00"), 400, "validation_error", []string{"model"}, []string{"malformed"}},
		"query not UTF-8":          {get("/v1/audit-events?target_id=" + canary + "%ff"), 400, "validation_error", []string{"target_id"}, []string{"malformed"}},
		"bad time":                 {get("/v1/logs?since=" + canary), 400, "validation_error", []string{"since"}, nil},
		"times reversed":           {get("/v1/logs?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z"), 400, "validation_error", []string{"until"}, nil},
		"bad id in filter":         {get("/v1/logs?key_id=" + canary), 400, "validation_error", []string{"key_id"}, []string{"malformed"}},
		"provider unknown":         {post("/v1/byok", `{"provider":"`+canary+`","name":"x","key":"sk-12345678"}`), 400, "validation_error", []string{"provider"}, []string{"not_allowed"}},
		"no provider's key":        {post("/v1/byok", `{"provider":"openai","name":"x","key":"`+canary+` `+canary+`"}`), 400, "validation_error", []string{"key"}, []string{"malformed"}},
		"an account for a key":     {post("/v1/byok", `{"provider":"openai","name":"x","key":"{\"a\":\"`+canary+`\"}"}`), 400, "validation_error", []string{"key"}, []string{"malformed"}},
		"short key":                {post("/v1/byok", `{"provider":"openai","name":"x","key":"sk"}`), 400, "validation_error", []string{"key"}, []string{"min_length"}},
		"use unknown":              {post("/v1/byok", `{"provider":"openai","name":"x","key":"sk-12345678","use":"`+canary+`"}`), 400, "validation_error", []string{"use"}, []string{"enum"}},
		"no API key's id":          {post("/v1/byok", `{"provider":"openai","name":"x","key":"sk-12345678","api_keys":["`+canary+`"]}`), 400, "validation_error", []string{"api_keys[0]"}, []string{"malformed"}},
		"another's API key":        {post("/v1/byok", `{"provider":"openai","name":"x","key":"sk-12345678","api_keys":["key_0000000000e008ztk5wvz3r2m1"]}`), 400, "validation_error", []string{"api_keys[0]"}, []string{"not_allowed"}},
		"order of nothing":         {post("/v1/byok/reorder", `{"provider":"openai","use":"fallback","credentials":["byok_0000000000e008ztk5wvz3r2m1"]}`), 400, "validation_error", []string{"credentials"}, []string{"not_allowed"}},
		"unknown in routing": {
			post("/v1/routing/profiles", `{"name":"x","routing":{"shade":"`+canary+`","provider":{"onli":["`+canary+`"]},"timeouts":{"total_ms":1}}}`),
			400, "validation_error",
			[]string{"routing.provider.onli", "routing.shade", "routing.timeouts.total_ms"},
			[]string{"unknown_field", "unknown_field", "unknown_field"},
		},
		"unknown in a routing patch": {
			patch("/v1/routing/profiles/"+profile, `{"routing":{"provider":{"max_price":{"prompt":"1"}}}}`),
			400, "validation_error",
			[]string{"routing.provider.max_price.prompt"},
			[]string{"unknown_field"},
		},
		"routing out of bounds": {
			post("/v1/routing/profiles", `{"name":"x","routing":{"routing_mode":"`+canary+`","provider":{"sort":"balanced","max_price":{"input":"`+canary+`","output":2},
				"preferred_max_latency":0,"preferred_min_throughput":-1},"timeouts":{"first_byte_ms":999}}}`),
			400, "validation_error",
			[]string{
				"routing.routing_mode", "routing.provider.sort", "routing.provider.max_price.input", "routing.provider.max_price.output",
				"routing.provider.preferred_max_latency", "routing.provider.preferred_min_throughput", "routing.timeouts.first_byte_ms",
			},
			[]string{"enum", "enum", "pattern", "type", "minimum", "minimum", "minimum"},
		},
		"a profile of nothing there is": {
			post("/v1/routing/profiles", `{"name":"x","routing":{"default_model":"`+canary+`/x","provider":{"only":["`+canary+`"]}}}`),
			400, "validation_error",
			[]string{"routing.default_model", "routing.provider.only[0]"},
			[]string{"model_not_found", "unknown_provider_slug"},
		},
		"a guardrail of what is built later": {
			post("/v1/guardrails", `{"name":"x","budgets":{"daily_cost":1},"rules":[],"models":{"deny":["`+canary+`"]},"data_policy":{"zdr":true},"whole_workspace":"yes"}`),
			400, "validation_error",
			[]string{"budgets", "rules", "models.deny", "data_policy.zdr", "whole_workspace"},
			[]string{"unknown_field", "unknown_field", "unknown_field", "unknown_field", "type"},
		},
		"a guardrail of nothing there is": {
			post("/v1/guardrails", `{"name":"x","models":{"allow":["`+canary+`/x"],"block":["`+canary+`*","openai/gpt-5","openai/gpt-5"]},"providers":{"allow":["openai"],"block":["`+canary+`","openai"]}}`),
			400, "validation_error",
			[]string{"models.allow[0]", "models.block[0]", "models.block[2]", "providers.block[0]", "providers.block[1]"},
			[]string{"model_not_found", "model_not_found", "duplicate", "unknown_provider_slug", "contradiction"},
		},
		"a guardrail that leaves nothing": {post("/v1/guardrails", `{"name":"x","models":{"allow":["openai/gpt-5"],"block":["openai/*"]}}`), 400, "validation_error", []string{"models.allow"}, []string{"contradiction"}},
		"an empty change of a guardrail":  {patch("/v1/guardrails/"+guardrail, `{}`), 400, "validation_error", []string{""}, []string{"min_properties"}},
		"bad ids of a guardrail's keys":   {post("/v1/guardrails/"+guardrail+"/keys/add", `{"key_ids":["`+canary+`","`+key+`","`+key[:8]+`"]}`), 400, "validation_error", []string{"key_ids[0]", "key_ids[2]"}, []string{"malformed", "malformed"}},
		"a key of a guardrail twice":      {post("/v1/guardrails/"+guardrail+"/keys/add", `{"key_ids":["`+key+`","`+key+`"]}`), 400, "validation_error", []string{"key_ids[1]"}, []string{"duplicate"}},
		"no member of a guardrail":        {post("/v1/guardrails/"+guardrail+"/members/add", `{"user_ids":[]}`), 400, "validation_error", []string{"user_ids"}, []string{"min_items"}},
		"a guardrail off who has none":    {post("/v1/guardrails/"+guardrail+"/keys/remove", `{"key_ids":["`+key+`"]}`), 400, "validation_error", []string{"key_ids[0]"}, []string{"not_allowed"}},
		"a budget of bad things": {
			post("/v1/budgets", `{"interval":"`+canary+`","limit_usd":"`+canary+`","enforcement":"`+canary+`","include_byok":"yes","shade":1}`), 400, "validation_error",
			[]string{"enforcement", "include_byok", "interval", "limit_usd", "shade"},
			[]string{"enum", "type", "enum", "pattern", "unknown_field"},
		},
		"a budget without anything":  {post("/v1/budgets", `{}`), 400, "validation_error", []string{"interval", "limit_usd"}, []string{"required", "required"}},
		"a budget of a number":       {post("/v1/budgets", `{"interval":"daily","limit_usd":271828}`), 400, "validation_error", []string{"limit_usd"}, []string{"type"}},
		"a budget of zero":           {post("/v1/budgets", `{"interval":"daily","limit_usd":"0.00"}`), 400, "validation_error", []string{"limit_usd"}, []string{"out_of_range"}},
		"a negative budget":          {post("/v1/budgets", `{"interval":"daily","limit_usd":"-271828"}`), 400, "validation_error", []string{"limit_usd"}, []string{"pattern"}},
		"a budget of ten decimals":   {post("/v1/budgets", `{"interval":"daily","limit_usd":"1.0000271828"}`), 400, "validation_error", []string{"limit_usd"}, []string{"pattern"}},
		"a budget beyond all":        {post("/v1/budgets", `{"interval":"daily","limit_usd":"9999999271828"}`), 400, "validation_error", []string{"limit_usd"}, []string{"pattern"}},
		"a budget with an exponent":  {post("/v1/budgets", `{"interval":"daily","limit_usd":"1e271828"}`), 400, "validation_error", []string{"limit_usd"}, []string{"pattern"}},
		"a budget of a bad id":       {post("/v1/budgets", `{"interval":"daily","limit_usd":"1","guardrail_id":"`+canary+`"}`), 400, "validation_error", []string{"guardrail_id"}, []string{"malformed"}},
		"a budget of two":            {post("/v1/budgets", `{"interval":"daily","limit_usd":"1","guardrail_id":"`+guardrail+`","agent":"`+canary+`"}`), 400, "validation_error", []string{"agent"}, []string{"not_allowed"}},
		"a budget of a department":   {post("/v1/budgets", `{"interval":"daily","limit_usd":"1","department_id":"`+canary+`"}`), 400, "validation_error", []string{"department_id"}, []string{"unknown_field"}},
		"a budget of a long agent":   {post("/v1/budgets", `{"interval":"daily","limit_usd":"1","agent":"`+canary+strings.Repeat("é", 60)+`"}`), 400, "validation_error", []string{"agent"}, []string{"too_long"}},
		"a budget of a longer agent": {post("/v1/budgets", `{"interval":"daily","limit_usd":"1","agent":"`+canary+strings.Repeat("x", 128)+`"}`), 400, "validation_error", []string{"agent"}, []string{"max_length"}},
		"another interval for one":   {patch("/v1/budgets/budget_x", `{"interval":"daily"}`), 400, "validation_error", []string{"interval"}, []string{"unknown_field"}},
		"no change of a budget":      {patch("/v1/budgets/budget_x", `{}`), 400, "validation_error", []string{""}, []string{"min_properties"}},
		"no budget":                  {get("/v1/budgets/budget_" + canary), 404, "not_found", nil, nil},
		"budgets of a bad interval":  {get("/v1/budgets?interval=" + canary), 400, "validation_error", []string{"interval"}, []string{"enum"}},
		"budgets of a bad id":        {get("/v1/budgets?guardrail_id=" + canary), 400, "validation_error", []string{"guardrail_id"}, []string{"malformed"}},
		"a department's lifetime":    {post("/v1/department-budgets", `{"department_id":"dept_x","interval":"lifetime","limit_usd":"1"}`), 400, "validation_error", []string{"interval"}, []string{"enum"}},
		"a department's reserve":     {post("/v1/department-budgets", `{"department_id":"dept_x","interval":"daily","limit_usd":"1","enforcement":"reserve"}`), 400, "validation_error", []string{"enforcement"}, []string{"unknown_field"}},
		"a department of a bad id":   {post("/v1/department-budgets", `{"department_id":"`+canary+`","interval":"daily","limit_usd":"1"}`), 400, "validation_error", []string{"department_id"}, []string{"malformed"}},
		"no department":              {post("/v1/department-budgets", `{"interval":"daily","limit_usd":"1"}`), 400, "validation_error", []string{"department_id"}, []string{"required"}},
		"a department's zero":        {post("/v1/department-budgets", `{"department_id":"dept_0000000000e008ztk5wvz3r2m1","interval":"daily","limit_usd":"0"}`), 400, "validation_error", []string{"limit_usd"}, []string{"out_of_range"}},
		"a department of nobody":     {post("/v1/department-budgets", `{"department_id":"dept_0000000000e008ztk5wvz3r2m1","interval":"daily","limit_usd":"1"}`), 404, "not_found", nil, nil},
		"limits of bad things": {
			post("/v1/keys", `{"name":"x","enforcement":"`+canary+`","soft_blocked":"`+canary+`","limits":{"hourly":{},"daily":{"requests":"`+canary+`","cost_usd":5,"tokens":1},"weekly":null}}`),
			400, "validation_error",
			[]string{"enforcement", "limits.daily.cost_usd", "limits.daily.requests", "limits.daily.tokens", "limits.hourly", "limits.weekly", "soft_blocked"},
			[]string{"enum", "type", "type", "unknown_field", "unknown_field", "type", "type"},
		},
		"limits out of bounds": {
			patch("/v1/keys/"+key, `{"limits":{"daily":{"requests":0,"cost_usd":"-271828"},"weekly":{"requests":-1,"cost_usd":"1.0000271828"},"monthly":{"requests":2718281828459045,"cost_usd":"2718281828459"}}}`),
			400, "validation_error",
			[]string{"limits.daily.cost_usd", "limits.daily.requests", "limits.monthly.cost_usd", "limits.monthly.requests", "limits.weekly.cost_usd", "limits.weekly.requests"},
			[]string{"pattern", "minimum", "pattern", "maximum", "pattern", "minimum"},
		},
		"a fraction of a request":  {patch("/v1/keys/"+key, `{"limits":{"daily":{"requests":1.5271828}}}`), 400, "validation_error", []string{"limits.daily.requests"}, []string{"type"}},
		"limits beyond 64 bits":    {patch("/v1/keys/"+key, `{"limits":{"daily":{"requests":27182818284590452353602874}}}`), 400, "validation_error", nil, nil},
		"a key's cost of zero":     {patch("/v1/keys/"+key, `{"limits":{"monthly":{"cost_usd":"0.000"}}}`), 400, "validation_error", []string{"limits.monthly.cost_usd"}, []string{"out_of_range"}},
		"a key of an agent's line": {patch("/v1/keys/"+key, `{"agent":"`+canary+`\n"}`), 400, "validation_error", []string{"agent"}, []string{"malformed"}},
		"a key of an empty agent":  {patch("/v1/keys/"+key, `{"agent":""}`), 400, "validation_error", []string{"agent"}, []string{"min_length"}},
		"spend of two":             {get("/v1/usage/spend?agent=" + canary + "&key_id=" + canary), 400, "validation_error", []string{"agent"}, []string{"not_allowed"}},
		"spend of a bad id":        {get("/v1/usage/spend?department_id=" + canary), 400, "validation_error", []string{"department_id"}, []string{"malformed"}},
		"spend of a blank agent":   {get("/v1/usage/spend?agent=%20"), 400, "validation_error", []string{"agent"}, []string{"required"}},
		"no guardrail":             {get("/v1/guardrails/guard_" + canary), 404, "not_found", nil, nil},
		"limits of zero": {
			post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":0,"tokens_per_minute":0,"concurrent_requests":0}`), 400, "validation_error",
			[]string{"concurrent_requests", "requests_per_minute", "tokens_per_minute"},
			[]string{"minimum", "minimum", "minimum"},
		},
		"limits below zero": {
			patch("/v1/rate-limits/policies/"+rates, `{"requests_per_minute":-2718281828,"tokens_per_minute":-1,"concurrent_requests":-1}`), 400, "validation_error",
			[]string{"concurrent_requests", "requests_per_minute", "tokens_per_minute"},
			[]string{"minimum", "minimum", "minimum"},
		},
		"limits beyond reason": {
			post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":10000001,"tokens_per_minute":100000000001,"concurrent_requests":1000001}`), 400, "validation_error",
			[]string{"concurrent_requests", "requests_per_minute", "tokens_per_minute"},
			[]string{"maximum", "maximum", "maximum"},
		},
		"limits of a key beyond 64 bits": {
			post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":9223372036854775808,"tokens_per_minute":1e300,"concurrent_requests":-1e300}`), 400, "validation_error",
			[]string{"concurrent_requests", "concurrent_requests", "requests_per_minute", "tokens_per_minute", "tokens_per_minute"},
			[]string{"format", "minimum", "maximum", "format", "maximum"},
		},
		"limits of a part": {
			post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":1.5,"tokens_per_minute":0.27182,"concurrent_requests":1e-3}`), 400, "validation_error",
			[]string{"concurrent_requests", "concurrent_requests", "requests_per_minute", "tokens_per_minute", "tokens_per_minute"},
			[]string{"minimum", "type", "type", "minimum", "type"},
		},
		"a whole limit with a point": {post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":60.0}`), 400, "validation_error", []string{"requests_per_minute"}, []string{"out_of_range"}},
		"limits as text": {
			post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":"`+canary+`","fail_closed":"`+canary+`","on_unavailable":"`+canary+`","burst":1}`), 400, "validation_error",
			[]string{"requests_per_minute", "fail_closed", "on_unavailable", "burst"},
			[]string{"type", "type", "enum", "unknown_field"},
		},
		"a policy without limits":       {post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":null}`), 400, "validation_error", []string{"requests_per_minute"}, []string{"required"}},
		"the last limit taken away":     {patch("/v1/rate-limits/policies/"+rates, `{"requests_per_minute":null}`), 400, "validation_error", []string{"requests_per_minute"}, []string{"required"}},
		"a policy that fails both ways": {post("/v1/rate-limits/policies", `{"name":"x","tokens_per_minute":1,"fail_closed":true,"on_unavailable":"allow"}`), 400, "validation_error", []string{"on_unavailable"}, []string{"contradiction"}},
		"and one that comes to do so":   {patch("/v1/rate-limits/policies/"+rates, `{"fail_closed":true,"on_unavailable":"allow"}`), 400, "validation_error", []string{"on_unavailable"}, []string{"contradiction"}},
		"an empty change of a policy":   {patch("/v1/rate-limits/policies/"+rates, `{}`), 400, "validation_error", []string{""}, []string{"min_properties"}},
		"no policy":                     {get("/v1/rate-limits/policies/rlp_" + canary), 404, "not_found", nil, nil},
		"no assignment":                 {get("/v1/rate-limits/assignments/" + canary), 404, "not_found", nil, nil},
		"an assignment of nothing":      {post(assignmentsPath, `{}`), 400, "validation_error", []string{"policy_id", "target_type"}, []string{"required", "required"}},
		"an assignment to what":         {post(assignmentsPath, `{"policy_id":"`+rates+`","target_type":"`+canary+`"}`), 400, "validation_error", []string{"target_type"}, []string{"enum"}},
		"an assignment to which":        {post(assignmentsPath, `{"policy_id":"`+rates+`","target_type":"key"}`), 400, "validation_error", []string{"target_id"}, []string{"required"}},
		"an assignment to another kind": {post(assignmentsPath, `{"policy_id":"`+rates+`","target_type":"department","target_id":"`+key+`"}`), 400, "validation_error", []string{"target_id"}, []string{"malformed"}},
		"an assignment to no id":        {post(assignmentsPath, `{"policy_id":"`+rates+`","target_type":"member","target_id":"`+canary+`"}`), 400, "validation_error", []string{"target_id"}, []string{"malformed"}},
		"an assignment of no id":        {post(assignmentsPath, `{"policy_id":"`+canary+`","target_type":"end_user_default"}`), 400, "validation_error", []string{"policy_id"}, []string{"malformed"}},
		"an assignment to one end user": {post(assignmentsPath, `{"policy_id":"`+rates+`","target_type":"end_user_default","target_id":"`+canary+`"}`), 400, "validation_error", []string{"target_id"}, []string{"contradiction"}},
		"a filter of assignments":       {get(assignmentsPath + "?target_id=" + canary), 400, "validation_error", []string{"target_id"}, []string{"malformed"}},
		"another filter of assignments": {get(assignmentsPath + "?target_id=key_" + canary + "&target_type=key"), 400, "validation_error", []string{"target_id"}, []string{"malformed"}},
		"a filter of a kind":            {get(assignmentsPath + "?target_type=" + canary), 400, "validation_error", []string{"target_type"}, []string{"enum"}},
		"a position that there is not":  {call{method: "PUT", path: members + "/" + w.user, body: `{"position":"` + canary + `","override":1}`}, 400, "validation_error", []string{"override", "position"}, []string{"type", "enum"}},
		"a member who is none":          {call{method: "PUT", path: members + "/user_" + canary, body: `{}`}, 404, "not_found", nil, nil},
		"a member who is not in it":     {call{method: "DELETE", path: members + "/" + w.user}, 404, "not_found", nil, nil},
		"the members of no department":  {get("/v1/departments/dept_" + canary + "/members"), 404, "not_found", nil, nil},
		"nine fallback models": {
			post("/v1/routing/profiles", `{"name":"x","routing":{"fallback_models":["a","b","c","d","e","f","g","h","i"]}}`),
			400, "validation_error",
			[]string{"routing.fallback_models"},
			[]string{"max_items"},
		},
		"bad ids on a key":            {post("/v1/keys", `{"name":"x","department_id":"`+canary+`"}`), 400, "validation_error", []string{"department_id"}, []string{"malformed"}},
		"id of another kind on a key": {patch("/v1/keys/"+key, `{"routing_profile_id":"`+key+`"}`), 400, "validation_error", []string{"routing_profile_id"}, []string{"malformed"}},
		"bad id of a department":      {post("/v1/departments", `{"name":"x","routing_profile_id":"`+canary+`"}`), 400, "validation_error", []string{"routing_profile_id"}, []string{"malformed"}},
		"department without a name":   {post("/v1/departments", `{"name":"  "}`), 400, "validation_error", []string{"name"}, []string{"required"}},
		"bad key of effective":        {get("/v1/routing/effective?key=" + canary), 404, "not_found", nil, nil},
		"auto out of bounds": {
			patch("/v1/routing/auto", `{"objective":"`+canary+`","spend_profile":"`+canary+`","prices":{"input":"`+canary+`"},"models":[""],"version":9}`),
			400, "validation_error",
			[]string{"models[0]", "objective", "prices.input", "prices.output", "spend_profile", "version"},
			[]string{"min_length", "enum", "pattern", "required", "enum", "unknown_field"},
		},
		"auto with bad patterns": {
			patch("/v1/routing/auto", `{"models":["`+canary+` x","a/*","a/*"],"prices":{"input":"1","output":"2"}}`),
			400, "validation_error",
			[]string{"prices", "models[0]", "models[2]"},
			[]string{"not_allowed", "not_allowed", "duplicate"},
		},
		"too many patterns of auto": {
			patch("/v1/routing/auto", `{"models":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q"]}`),
			400, "validation_error",
			[]string{"models"},
			[]string{"max_items"},
		},
		"custom prices left out": {patch("/v1/routing/auto", `{"spend_profile":"custom"}`), 400, "validation_error", []string{"prices"}, []string{"required"}},
		"no change of auto":      {patch("/v1/routing/auto", `{}`), 400, "validation_error", []string{""}, []string{"min_properties"}},
		"bad id in settings":     {patch("/v1/settings", `{"routing_profile_id":"`+canary+`"}`), 400, "validation_error", []string{"routing_profile_id"}, []string{"malformed"}},
		"bad wait":               {call{method: "POST", path: "/v1/keys?wait=" + canary, body: `{"name":"x"}`}, 400, "validation_error", []string{"wait"}, nil},
		"bad If-Match":           {header(patch("/v1/keys/"+key, `{"name":"x"}`), "If-Match", canary), 400, "validation_error", []string{"If-Match"}, []string{"pattern"}},
		"huge If-Match":          {header(patch("/v1/keys/"+key, `{"name":"x"}`), "If-Match", `"99999999999999999999999"`), 400, "validation_error", []string{"If-Match"}, nil},
		"bad Idempotency":        {header(patch("/v1/keys/"+key, `{"name":"x"}`), "Idempotency-Key", "two words "+canary), 400, "validation_error", []string{"Idempotency-Key"}, []string{"pattern"}},
		"form":                   {header(post("/v1/keys", "name="+canary), "Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type", nil, nil},
		"no content type":        {header(post("/v1/keys", `{"name":"`+canary+`"}`), "Content-Type"), 415, "unsupported_media_type", nil, nil},
		"other charset":          {header(post("/v1/keys", `{"name":"x"}`), "Content-Type", "application/json; charset=latin1"), 415, "unsupported_media_type", nil, nil},
		"too large":              {post("/v1/keys", `{"name":"`+canary+strings.Repeat("x", 20<<10)+`"}`), 413, "payload_too_large", nil, nil},
		"malformed id":           {get("/v1/keys/" + canary), 404, "not_found", nil, nil},
		"id of another kind":     {get("/v1/keys/" + w.id), 404, "not_found", nil, nil},
		"unknown path":           {get("/v1/" + canary), 404, "not_found", nil, nil},
		"trailing slash":         {get("/v1/keys/"), 404, "not_found", nil, nil},
		"wrong method":           {call{method: "PUT", path: "/v1/keys"}, 405, "method_not_allowed", nil, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inner := *p
			inner.t = t
			if c.token == "" {
				c.token = w.key
			}
			got := inner.do(c.call)
			problem := got.problem(c.status, c.code)
			require.NotContains(t, strings.ToLower(strings.ReplaceAll(got.body, "/v1/", "")), canary)
			require.NotContains(t, got.body, "271828\"")
			if c.paths == nil {
				return
			}
			var paths, kinds []string
			for _, v := range *problem.Violations {
				paths, kinds = append(paths, v.Path), append(kinds, v.Code)
				require.NotEmpty(t, v.Message)
			}
			require.ElementsMatch(t, c.paths, paths, got.body)
			if c.kinds != nil {
				require.ElementsMatch(t, c.kinds, kinds, got.body)
			}
		})
	}
	require.NotContains(t, strings.ToLower(p.log.String()), canary, "a submitted value is in the log")
	require.NotContains(t, p.log.String(), "handler panicked")
}

func post(path, body string) call { return call{method: "POST", path: path, body: body} }

func patch(path, body string) call { return call{method: "PATCH", path: path, body: body} }

func get(path string) call { return call{method: "GET", path: path} }

func operator(body string) call {
	return call{method: "POST", path: "/v1/platform/workspaces", token: operatorToken, body: body}
}

func header(c call, name string, values ...string) call {
	c.header = http.Header{name: values}
	return c
}

func TestWrongMethodSaysWhichAreAllowed(t *testing.T) {
	p := newPlane(t)
	got := p.do(call{method: "PUT", path: "/v1/keys", token: "x"})
	got.problem(http.StatusMethodNotAllowed, "method_not_allowed")
	require.Contains(t, got.header.Get("Allow"), "GET")
	require.Contains(t, got.header.Get("Allow"), "POST")
}

func TestCredentials(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("auth")
	_, inference := p.newKey(w, "inference")
	last := w.key[len(w.key)-1]
	wrongSecret := w.key[:len(w.key)-1] + string('A'+(last-'A'+1)%26)
	cases := map[string]struct {
		header []string
		reason string
	}{
		"none":             {nil, "missing_credentials"},
		"no scheme":        {[]string{w.key}, "missing_credentials"},
		"basic":            {[]string{"Basic " + w.key}, "missing_credentials"},
		"empty":            {[]string{"Bearer "}, "missing_credentials"},
		"two":              {[]string{"Bearer " + w.key, "Bearer " + w.key}, "conflicting_credentials"},
		"nonsense":         {[]string{"Bearer " + canary}, "invalid_key_format"},
		"cut off":          {[]string{"Bearer " + w.key[:len(w.key)-1]}, "invalid_key_format"},
		"inference key":    {[]string{"Bearer " + inference}, "inference_key_not_valid_here"},
		"wrong secret":     {[]string{"Bearer " + wrongSecret}, "invalid_key"},
		"unknown kid":      {[]string{"Bearer sb_mk_v1_0000000000000000_" + strings.Repeat("a", 43)}, "invalid_key"},
		"longer operator":  {[]string{"Bearer " + operatorToken + "x"}, "invalid_key_format"},
		"shorter operator": {[]string{"Bearer " + operatorToken[:30]}, "invalid_key_format"},
	}
	var texts []string
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inner := *p
			inner.t = t
			got := inner.do(call{method: "GET", path: "/v1/keys", header: http.Header{"Authorization": c.header}})
			problem := got.problem(http.StatusUnauthorized, "unauthorized")
			require.Equal(t, c.reason, *problem.Reason)
			require.Contains(t, got.header.Get("WWW-Authenticate"), "Bearer")
			if c.reason == "invalid_key" {
				texts = append(texts, problem.Detail)
			}
			for _, h := range c.header {
				if len(h) > 12 {
					require.NotContains(t, got.body, strings.TrimPrefix(h, "Bearer "))
				}
			}
		})
	}
	require.Len(t, texts, 2)
	require.Equal(t, texts[0], texts[1], "an unknown kid and a wrong secret are told apart")

	p.do(call{method: "GET", path: "/v1/keys", token: operatorToken}).problem(http.StatusForbidden, "forbidden")
	p.do(call{method: "GET", path: "/v1/platform/workspaces", token: w.key}).problem(http.StatusForbidden, "forbidden")
	// Nothing about the request is looked at before the caller is known.
	p.do(call{method: "POST", path: "/v1/keys", body: "{"}).problem(http.StatusUnauthorized, "unauthorized")
	for _, text := range []string{w.key, inference, wrongSecret, operatorToken, canary} {
		require.NotContains(t, p.log.String(), text)
	}
}
