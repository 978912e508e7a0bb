package simulator

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

func unbase64(text string) string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(raw)
}

func (p *prompt) converseThought(a answer) json.RawMessage {
	if p.terms["redacted"] {
		return obj("redactedContent", base64.StdEncoding.EncodeToString([]byte(claude.seal(a.reasoning))))
	}
	return obj("reasoningText", obj("text", a.reasoning, "signature", claude.proof(a.reasoning)))
}

func (converseFormat) plain(p *prompt, a answer) json.RawMessage {
	var content []json.RawMessage
	if a.reasoning != "" {
		content = append(content, obj("reasoningContent", p.converseThought(a)))
	}
	if text := a.text + a.refusal; text != "" || len(a.calls) == 0 {
		content = append(content, obj("text", text))
	}
	for _, c := range a.calls {
		content = append(content, obj("toolUse", obj("toolUseId", "tooluse_"+c.id, "name", c.name, "input", c.args)))
	}
	return obj("additionalModelResponseFields", p.extra(a), "metrics", obj("latencyMs", 100),
		"output", obj("message", obj("content", content, "role", "assistant")),
		"stopReason", converseStop(a), "usage", converseUsage(a.usage))
}

// extra is what the request asked for of the model's own reply.
func (p *prompt) extra(a answer) any {
	for _, path := range strs(p.request.Get("additionalModelResponseFieldPaths")) {
		if path == "/stop_sequence" {
			return obj("stop_sequence", nullable(a.stopped))
		}
	}
	return omitted
}

func (converseFormat) frames(p *prompt, a answer) []frame {
	s := &converseStream{}
	s.push("messageStart", frameOther, "role", "assistant")
	if a.reasoning != "" {
		if p.terms["redacted"] {
			s.delta(obj("reasoningContent", p.converseThought(a)))
		} else {
			for _, word := range pieces(a.reasoning) {
				s.delta(obj("reasoningContent", obj("text", word)))
			}
			s.delta(obj("reasoningContent", obj("signature", claude.proof(a.reasoning))))
		}
		s.stop()
	}
	if text := append(a.deltas(), pieces(a.refusal)...); len(text) > 0 || len(a.calls) == 0 {
		for _, word := range text {
			s.delta(obj("text", word))
		}
		s.stop()
	}
	for _, c := range a.calls {
		s.push("contentBlockStart", frameOther, "contentBlockIndex", s.block,
			"start", obj("toolUse", obj("name", c.name, "toolUseId", "tooluse_"+c.id)))
		for _, part := range c.argChunks() {
			s.delta(obj("toolUse", obj("input", part)))
		}
		s.stop()
	}
	s.push("messageStop", frameTerminal, "additionalModelResponseFields", p.extra(a), "stopReason", converseStop(a))
	if a.usage == nil {
		return s.out
	}
	s.push("metadata", frameUsage, "metrics", obj("latencyMs", 100), "usage", converseUsage(a.usage))
	return s.out
}

// converseStream numbers the content blocks.
type converseStream struct {
	out   []frame
	block int
}

func (s *converseStream) push(event string, kind frameKind, pairs ...any) {
	data := obj(append(pairs, "p", "abcdefghijkl"[:1+len(s.out)%12])...) // padding, as at Amazon
	s.out = append(s.out, frame{event: event, data: string(data), kind: kind})
}

func (s *converseStream) delta(delta json.RawMessage) {
	s.push("contentBlockDelta", frameContent, "contentBlockIndex", s.block, "delta", delta)
}

func (s *converseStream) stop() {
	s.push("contentBlockStop", frameOther, "contentBlockIndex", s.block)
	s.block++
}

// head names the error in a header, as Amazon's SDKs read it.
func (converseFormat) head(h http.Header, e refusal) {
	h.Set("X-Amzn-Errortype", converseKind(e)+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	h.Set("X-Amzn-Requestid", "00000000-0000-4000-8000-000000000000")
}

func converseKind(e refusal) string {
	if e.kind != "" {
		return e.kind
	}
	kind, known := map[int]string{
		http.StatusForbidden:          "AccessDeniedException",
		http.StatusUnauthorized:       "UnrecognizedClientException",
		http.StatusNotFound:           "ResourceNotFoundException",
		http.StatusRequestTimeout:     "ModelTimeoutException",
		http.StatusFailedDependency:   "ModelErrorException",
		http.StatusTooManyRequests:    "ThrottlingException",
		http.StatusServiceUnavailable: "ServiceUnavailableException",
	}[e.status]
	switch {
	case known:
		return kind
	case e.status >= http.StatusInternalServerError:
		return "InternalServerException"
	}
	return "ValidationException"
}

func (converseFormat) failure(e refusal) json.RawMessage { return obj("message", e.message) }

func (f converseFormat) failureFrame(e refusal) frame {
	return frame{event: "serviceUnavailableException", data: string(f.failure(e)), exception: true}
}

// worded is https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html.
func (converseFormat) worded(t trouble) refusal {
	switch t {
	case troubleQuota:
		return refusal{status: 429, message: "Too many tokens per day, please wait before trying again."}
	case troubleContext:
		return refusal{status: 400, message: "Input is too long for requested model."}
	case troublePolicy:
		return refusal{status: 400, message: "The model returned the following errors: Output blocked by content filtering policy"}
	case troubleAuth:
	}
	return refusal{status: 403, kind: "UnrecognizedClientException", message: "The security token included in the request is invalid."}
}

func converseStop(a answer) string {
	if a.stopped != "" {
		return "stop_sequence"
	}
	return map[finish]string{finishStop: "end_turn", finishLength: "max_tokens", finishTools: "tool_use", finishRefused: "content_filtered"}[a.finish]
}

// converseUsage counts reads and writes of the cache beside the input.
func converseUsage(u *usage) any {
	if u == nil {
		return omitted
	}
	details := list[json.RawMessage]()
	for _, w := range []struct {
		ttl    string
		tokens int
	}{{"5m", u.write5m}, {"1h", u.write1h}} {
		if w.tokens > 0 {
			details = append(details, obj("inputTokens", w.tokens, "ttl", w.ttl))
		}
	}
	return obj("cacheDetails", details, "cacheReadInputTokens", u.cached, "cacheWriteInputTokens", u.write5m+u.write1h,
		"inputTokens", u.input-u.cached-u.write5m-u.write1h, "outputTokens", u.output, "totalTokens", u.total())
}

func (converseFormat) framing(*exchange) framing { return amazonEvents{} }

// amazonEvents are Amazon's binary frames
// (https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html).
type amazonEvents struct{}

func (amazonEvents) media() string { return "application/vnd.amazon.eventstream" }

func (amazonEvents) spell(_ Fault, fr frame) []byte {
	text := func(v string) eventstream.Value { return eventstream.StringValue(v) }
	var m eventstream.Message
	name := ":event-type"
	kind := "event"
	if fr.exception {
		name, kind = ":exception-type", "exception"
	}
	event := fr.event
	if event == "" { // the unreadable event of a fault
		event = "contentBlockDelta"
	}
	m.Headers.Set(name, text(event))
	m.Headers.Set(":content-type", text("application/json"))
	m.Headers.Set(":message-type", text(kind))
	m.Payload = []byte(fr.data)
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		panic(err) // these headers always encode
	}
	return b.Bytes()
}

func (amazonEvents) end() []byte { return nil }
