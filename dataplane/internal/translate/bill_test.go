package translate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// sonnet are the prices of Claude Sonnet, in dollars a million, and one for
// sound, which it has not.
func sonnet(t testing.TB) *catalog.Price {
	usd := func(text string) *money.PerMillion {
		p, err := money.ParsePerMillion(text)
		require.NoError(t, err)
		return &p
	}
	return &catalog.Price{
		Input: usd("3"), Output: usd("15"), CachedInput: usd("0.30"), CacheWrite5m: usd("3.75"), CacheWrite1h: usd("6"), Audio: usd("40"),
	}
}

// billed is what a provider answers, and what that has used and costs.
type billed struct {
	name          string
	to            decide.Candidate
	whole, stream string // "" when there is none; a stream of Bedrock's is a list of its events
	want          meter.Usage
	cost          string
}

var (
	openAI  = at(catalog.OpenAI, "gpt-5", catalog.Chat)
	newer   = at(catalog.OpenAI, "gpt-5", catalog.Responses)
	copied  = at(catalog.OpenAICompatible, "small")
	claude  = at(catalog.Anthropic, "claude-sonnet-4-5")
	google3 = at(catalog.Google, "gemini-3-flash")
	bedrock = at(catalog.Bedrock, "anthropic.claude-sonnet-4-5-v1:0")
)

// chatWhole, chatStream and their like are real-shaped replies around a usage.
func chatWhole(usage string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"small","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":` + usage + `}`
}

func chatStream(inChunks, atEnd string) string {
	const head = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"small","choices":[`
	tail := func(usage string) string {
		if usage == "" {
			return "]}\n\n"
		}
		return `],"usage":` + usage + "}\n\n"
	}
	out := head + `{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":null}` + tail(inChunks) +
		head + `{"index":0,"delta":{},"finish_reason":"stop"}` + tail(inChunks)
	if atEnd != "" {
		out += head + tail(atEnd)
	}
	return out + "data: [DONE]\n\n"
}

func responsesWhole(usage string) string {
	return `{"id":"resp_1","object":"response","created_at":1,"model":"gpt-5","status":"completed","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}],"usage":` + usage + `}`
}

func responsesStream(usage string) string {
	return "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"model\":\"gpt-5\",\"status\":\"in_progress\",\"output\":[],\"usage\":null}}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"item_id\":\"msg_1\",\"delta\":\"hello\"}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + responsesWhole(usage) + "}\n\n"
}

func messagesWhole(usage string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":` + usage + `}`
}

func messagesStream(first, last string) string {
	return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,\"usage\":" + first + "}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":" + last + "}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
}

func geminiWhole(usage string) string {
	return `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}],"usageMetadata":` + usage + `,"modelVersion":"gemini-3-flash","responseId":"r1"}`
}

func geminiStream(first, last string) string {
	return `data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"hello"}]}}],"usageMetadata":` + first + `,"modelVersion":"gemini-3-flash"}` + "\n\n" +
		`data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":` + last + `,"modelVersion":"gemini-3-flash"}` + "\n\n"
}

func converseWhole(usage string) string {
	return `{"output":{"message":{"role":"assistant","content":[{"text":"hello"}]}},"stopReason":"end_turn","usage":` + usage + `,"metrics":{"latencyMs":1}}`
}

func converseStream(usage string) string {
	return `[{"event":"messageStart","data":{"role":"assistant"}},{"event":"contentBlockDelta","data":{"contentBlockIndex":0,"delta":{"text":"hello"}}},` +
		`{"event":"contentBlockStop","data":{"contentBlockIndex":0}},{"event":"messageStop","data":{"stopReason":"end_turn"}},{"event":"metadata","data":{"usage":` + usage + `}}]`
}

// estimate is what stands in for a usage that was not reported.
var estimate = meter.Usage{Input: 10, Output: 1, Estimated: true}

func bills() []billed {
	const (
		reasoningInside  = `{"prompt_tokens":1000,"completion_tokens":900,"total_tokens":1900,"prompt_tokens_details":{"cached_tokens":400,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":700}}`
		reasoningBeside  = `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":160,"completion_tokens_details":{"reasoning_tokens":50}}`
		deepSeek         = `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`
		moonshot         = `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"cached_tokens":64}`
		openRouter       = `{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1010,"cost":0.1,"prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":200}}`
		sound            = `{"prompt_tokens":120,"completion_tokens":80,"total_tokens":200,"prompt_tokens_details":{"audio_tokens":100},"completion_tokens_details":{"audio_tokens":60}}`
		pictures         = `{"prompt_tokens":120,"completion_tokens":8,"total_tokens":128,"prompt_tokens_details":{"image_tokens":100}}`
		zeros            = `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
		growing          = `{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}`
		ofResponses      = `{"input_tokens":1000,"input_tokens_details":{"cached_tokens":400},"output_tokens":900,"output_tokens_details":{"reasoning_tokens":700},"total_tokens":1900}`
		zerosOfResponses = `{"input_tokens":0,"output_tokens":0,"total_tokens":0}`
		c1               = `{"input_tokens":3,"cache_creation_input_tokens":12304,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":12304,"ephemeral_1h_input_tokens":0},"output_tokens":550,"service_tier":"standard"}`
		c1Unsplit        = `{"input_tokens":3,"cache_creation_input_tokens":12304,"cache_read_input_tokens":0,"output_tokens":550}`
		split            = `{"input_tokens":100,"cache_creation_input_tokens":340,"cache_read_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":40},"output_tokens":1}`
		thinking         = `{"input_tokens":50,"output_tokens":32,"output_tokens_details":{"thinking_tokens":30}}`
		ofGoogle         = `{"promptTokenCount":1050,"cachedContentTokenCount":1000,"candidatesTokenCount":20,"thoughtsTokenCount":30,"toolUsePromptTokenCount":10,"totalTokenCount":1110}`
		mixed            = `{"promptTokenCount":400,"candidatesTokenCount":70,"totalTokenCount":470,"promptTokensDetails":[{"modality":"TEXT","tokenCount":42},{"modality":"AUDIO","tokenCount":100},{"modality":"IMAGE","tokenCount":258}],"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":50},{"modality":"TEXT","tokenCount":20}]}`
		ofBedrock        = `{"inputTokens":100,"outputTokens":1,"totalTokens":2441,"cacheReadInputTokens":2000,"cacheWriteInputTokens":340,"cacheDetails":[{"ttl":"5m","inputTokens":300},{"ttl":"1h","inputTokens":40}]}`
	)
	inside := meter.Usage{Input: 600, CachedRead: 400, Output: 200, Reasoning: 700}
	writes := meter.Usage{Input: 100, CachedRead: 2000, CacheWrite5m: 300, CacheWrite1h: 40, Output: 1}
	firstC1 := meter.Usage{Input: 3, CacheWrite5m: 12_304, Output: 550}
	vertexClaude := at(catalog.Vertex, "claude-sonnet-4-5")
	return []billed{
		{"OpenAI: cached and reasoning inside (C3)", openAI, chatWhole(reasoningInside), chatStream("null", reasoningInside), inside, "0.01542"},
		{"Azure", at(catalog.Azure, "d", catalog.Chat), chatWhole(reasoningInside), chatStream("", reasoningInside), inside, "0.01542"},
		{"xAI: reasoning beside", copied, chatWhole(reasoningBeside), chatStream("", reasoningBeside), meter.Usage{Input: 100, Output: 10, Reasoning: 50}, "0.0012"},
		{"DeepSeek: cached under its own name", copied, chatWhole(deepSeek), chatStream("", deepSeek), meter.Usage{Input: 36, CachedRead: 64, Output: 10}, "0.0002772"},
		{"Moonshot: cached at the top", copied, chatWhole(moonshot), chatStream("", moonshot), meter.Usage{Input: 36, CachedRead: 64, Output: 10}, "0.0002772"},
		{"OpenRouter: cache writes inside", copied, chatWhole(openRouter), chatStream("", openRouter), meter.Usage{Input: 700, CachedRead: 100, CacheWrite5m: 200, Output: 10}, "0.00303"},
		{"sound in and out", openAI, chatWhole(sound), chatStream("", sound), meter.Usage{Input: 20, AudioInput: 100, Output: 20, AudioOutput: 60}, "0.00676"},
		{"pictures", openAI, chatWhole(pictures), chatStream("", pictures), meter.Usage{Input: 20, Image: 100, Output: 8}, "0.00048"},
		{"usage in every chunk: the last holds", copied, "", chatStream(growing, reasoningInside), inside, "0.01542"},
		{"usage with the last content", copied, "", chatStream(reasoningInside, ""), inside, "0.01542"},
		{"zeros are no usage", copied, chatWhole(zeros), chatStream(zeros, zeros), estimate, "0.000045"},
		{"no usage", copied, chatWhole("null"), chatStream("", ""), estimate, "0.000045"},
		{"more than can be", copied, chatWhole(`{"prompt_tokens":9000000000,"completion_tokens":1}`), "", estimate, "0.000045"},
		{"OpenAI's responses (C5)", newer, responsesWhole(ofResponses), responsesStream(ofResponses), inside, "0.01542"},
		{"responses without usage", newer, responsesWhole("null"), responsesStream(zerosOfResponses), estimate, "0.000045"},
		{"Anthropic: cache writes once (C1)", claude, messagesWhole(c1), messagesStream(c1, `{"output_tokens":550}`), firstC1, "0.054399"},
		{"Anthropic: writes not split", claude, messagesWhole(c1Unsplit), messagesStream(c1Unsplit, c1Unsplit), firstC1, "0.054399"},
		{"Claude at Vertex (C1)", vertexClaude, messagesWhole(c1), messagesStream(c1, `{"output_tokens":550}`), firstC1, "0.054399"},
		{"Anthropic: cached outside, writes of both lifetimes", claude, messagesWhole(split), messagesStream(split, `{"output_tokens":1}`), writes, "0.00228"},
		{"Anthropic: a stream's input comes first (C2)", claude, "", messagesStream(`{"input_tokens":25,"cache_read_input_tokens":2000,"output_tokens":1}`, `{"output_tokens":15}`), meter.Usage{Input: 25, CachedRead: 2000, Output: 15}, "0.0009"},
		{"Anthropic's format: zeros at the end take nothing back", claude, "", messagesStream(`{"input_tokens":25,"cache_read_input_tokens":2000,"output_tokens":1}`, `{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":15}`), meter.Usage{Input: 25, CachedRead: 2000, Output: 15}, "0.0009"},
		{"Anthropic's format: all at the end", claude, "", messagesStream(`{"input_tokens":0,"output_tokens":0}`, `{"input_tokens":25,"cache_read_input_tokens":2000,"output_tokens":15}`), meter.Usage{Input: 25, CachedRead: 2000, Output: 15}, "0.0009"},
		{"Anthropic: thoughts inside", claude, messagesWhole(thinking), messagesStream(`{"input_tokens":50,"output_tokens":1}`, thinking), meter.Usage{Input: 50, Output: 2, Reasoning: 30}, "0.00063"},
		{"Anthropic's format without usage", claude, messagesWhole("null"), messagesStream("null", "null"), estimate, "0.000045"},
		{"Google: cached inside, thoughts and tools beside", google3, geminiWhole(ofGoogle), geminiStream(`{"promptTokenCount":1050,"totalTokenCount":1050}`, ofGoogle), meter.Usage{Input: 60, CachedRead: 1000, Output: 20, Reasoning: 30}, "0.00123"},
		{"Gemini at Vertex", at(catalog.Vertex, "gemini-2.5-pro"), geminiWhole(ofGoogle), geminiStream("null", ofGoogle), meter.Usage{Input: 60, CachedRead: 1000, Output: 20, Reasoning: 30}, "0.00123"},
		{"Google: sound and pictures", google3, geminiWhole(mixed), geminiStream("null", mixed), meter.Usage{Input: 42, AudioInput: 100, Image: 258, Output: 20, AudioOutput: 50}, "0.0072"},
		{"Google without usage", google3, geminiWhole("null"), geminiStream("null", "{}"), estimate, "0.000045"},
		{"Bedrock: cached outside, writes of both lifetimes", bedrock, converseWhole(ofBedrock), converseStream(ofBedrock), writes, "0.00228"},
		{"Bedrock without usage", bedrock, converseWhole("null"), converseStream("null"), estimate, "0.000045"},
	}
}

// TestEveryProvidersUsageAndItsCost holds the account to what each provider
// says, whatever format the caller reads it in: the same numbers, counted once.
func TestEveryProvidersUsageAndItsCost(t *testing.T) {
	for _, b := range bills() {
		for _, c := range callers {
			request := call.Call{Surface: c.surface, Body: []byte(strings.Repeat("x", 40))}
			check := func(t *testing.T, codec call.Meter) {
				got := codec.Seen().Usage
				require.Equal(t, b.want, got)
				require.Equal(t, b.cost, meter.Bill(sonnet(t), got).Total.String())
			}
			if b.whole != "" {
				t.Run(b.name+"/"+c.name, func(t *testing.T) {
					codec := translate.New(nil).Codec(&request, canonical, b.to)
					_, failure := codec.Whole([]byte(b.whole))
					require.Nil(t, failure)
					check(t, codec)
				})
			}
			if b.stream != "" {
				t.Run(b.name+"/"+c.name+" streamed", func(t *testing.T) {
					request.Request.Stream = true
					codec := translate.New(nil).Codec(&request, canonical, b.to)
					drive(t, codec, framesOf(t, b.stream))
					check(t, codec)
				})
			}
		}
	}
}
