package simulator

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"
)

// maxFrame bounds one event of a caller's.
const maxFrame = 16 << 20

func (x *exchange) upgrades() bool {
	return x.route != nil && x.route.path == "/realtime" && strings.EqualFold(x.r.Header.Get("Upgrade"), "websocket")
}

func realtimeModel(x *exchange) string {
	return firstWord(x.r.URL.Query().Get("model"), x.r.URL.Query().Get("deployment"))
}

// realtime is OpenAI's WebSocket
// (https://platform.openai.com/docs/api-reference/realtime).
func (x *exchange) realtime() {
	switch {
	case x.model == "":
		x.refuse(&refusal{status: 400, param: "model", code: "missing_model", message: "you must provide a model parameter"})
		return
	case !x.upgrades():
		x.refuse(&refusal{status: http.StatusUpgradeRequired, message: "This endpoint takes WebSocket connections."})
		return
	case strings.Contains(strings.Join(x.r.Header.Values("Sec-Websocket-Protocol"), ","), "api-key"):
		x.refuse(refuse("", "A credential was sent as a subprotocol."))
		return
	}
	conn, err := websocket.Accept(x.w, x.r, &websocket.AcceptOptions{Subprotocols: []string{"realtime"}, InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxFrame)
	s := &realtimeSession{exchange: x, conn: conn, ctx: x.r.Context(), began: time.Now()}
	s.settings = obj("type", "realtime", "output_modalities", list("text"), "instructions", "", "tools", list[int]())
	s.serve()
}

// realtimeSession is one connection. One goroutine uses it.
type realtimeSession struct {
	*exchange
	conn     *websocket.Conn
	ctx      context.Context
	began    time.Time
	settings json.RawMessage
	user     string
	input    int // tokens of the conversation
	results  []toolResult
	names    map[string]string
	sound    int // bytes in the buffer
	heard    int // audio tokens of the conversation
	events   int
	content  int
	gone     bool
}

func (s *realtimeSession) serve() {
	s.push("session.created", "session", s.session())
	for !s.gone {
		kind, data, err := s.conn.Read(s.ctx)
		if err != nil {
			return
		}
		event := gjson.ParseBytes(data)
		switch {
		case kind != websocket.MessageText || !gjson.ValidBytes(data) || !event.IsObject():
			s.fail("", "invalid_json", "The event could not be parsed as JSON.", "")
		case event.Get("type").Type != gjson.String:
			s.fail(event.Get("event_id").Str, "missing_required_parameter", "Missing required parameter: 'type'.", "type")
		default:
			s.handle(event)
		}
	}
}

func (s *realtimeSession) handle(event gjson.Result) {
	id := event.Get("event_id").Str
	switch kind := event.Get("type").Str; kind {
	case "session.update":
		s.update(id, event.Get("session"))
	case "conversation.item.create":
		s.item(id, event.Get("item"))
	case "input_audio_buffer.append":
		if !isBase64(event.Get("audio").Str) {
			s.fail(id, "invalid_value", "Invalid 'audio'. Expected base64-encoded audio bytes.", "audio")
			return
		}
		s.sound += len(unbase64(event.Get("audio").Str))
	case "input_audio_buffer.clear":
		s.sound = 0
		s.push("input_audio_buffer.cleared")
	case "input_audio_buffer.commit":
		s.commit(id)
	case "response.create":
		s.respond()
	case "response.cancel":
		s.fail(id, "response_cancel_not_active", "Cancellation failed: no active response found", "")
	default:
		s.fail(id, "invalid_value", "Invalid value: '"+kind+"'. Supported values are: 'session.update', 'input_audio_buffer.append', "+
			"'input_audio_buffer.commit', 'input_audio_buffer.clear', 'conversation.item.create', 'response.create', and 'response.cancel'.", "type")
	}
}

// push writes one event.
func (s *realtimeSession) push(event string, pairs ...any) {
	s.events++
	s.write(obj(append([]any{"type", event, "event_id", "event_" + itoa(s.events)}, pairs...)...))
}

func (s *realtimeSession) write(data []byte) {
	if !s.gone && s.conn.Write(s.ctx, websocket.MessageText, data) != nil {
		s.gone = true
	}
}

func (s *realtimeSession) fail(id, code, message, param string) {
	s.push("error", "error", obj("type", "invalid_request_error", "code", code, "message", message, "param", nullable(param), "event_id", nullable(id)))
}

func (s *realtimeSession) session() json.RawMessage {
	pairs := []any{"id", "sess_" + hexOf([]byte(s.model)), "object", "realtime.session", "model", s.model}
	gjson.ParseBytes(s.settings).ForEach(func(k, v gjson.Result) bool {
		pairs = append(pairs, k.Str, json.RawMessage(v.Raw))
		return true
	})
	return obj(pairs...)
}

// update lays the members of a session over those that there are.
func (s *realtimeSession) update(id string, session gjson.Result) {
	if kind := session.Get("type").Str; kind != "realtime" && kind != "transcription" {
		s.fail(id, "missing_required_parameter", "Missing required parameter: 'session.type'.", "session.type")
		return
	}
	if m := session.Get("model"); m.Exists() && m.Str != s.model {
		s.fail(id, "session_model_cannot_change", "Model cannot be changed once the session has begun.", "session.model")
		return
	}
	var names []string
	var pairs []any
	session.ForEach(func(k, v gjson.Result) bool {
		names = append(names, k.Str)
		if k.Str != "model" {
			pairs = append(pairs, k.Str, json.RawMessage(v.Raw))
		}
		return true
	})
	gjson.ParseBytes(without(s.settings, names...)).ForEach(func(k, v gjson.Result) bool {
		pairs = append(pairs, k.Str, json.RawMessage(v.Raw))
		return true
	})
	s.settings = obj(pairs...)
	s.push("session.updated", "session", s.session())
}

func (s *realtimeSession) item(id string, item gjson.Result) {
	p := &prompt{}
	switch kind := item.Get("type").Str; kind {
	case "message":
		var text strings.Builder
		for j, part := range item.Get("content").Array() {
			if part.Get("type").Str == "input_audio" {
				s.heard += audioTokens
				continue
			}
			if refused := p.responsesPart(&text, item.Get("role").Str, "item.content["+itoa(j)+"]", part); refused != nil {
				s.fail(id, refused.code, refused.message, refused.param)
				return
			}
		}
		if item.Get("role").Str == "user" {
			s.user, s.results = text.String(), nil
		}
	case "function_call_output":
		name, ok := s.names[item.Get("call_id").Str]
		if !ok {
			s.fail(id, "invalid_tool_call_id", "Tool call ID '"+item.Get("call_id").Str+"' not found in conversation.", "item.call_id")
			return
		}
		s.results = append(s.results, toolResult{name: name, text: p.add(item.Get("output").Str)})
	case "function_call":
	default:
		s.fail(id, "invalid_value", "Invalid value: '"+kind+"'. Supported values are: 'message', 'function_call', and 'function_call_output'.", "item.type")
		return
	}
	s.input += p.input
	whole := obj("id", firstWord(item.Get("id").Str, "item_"+itoa(s.events)), "object", "realtime.item", "type", item.Get("type").Str,
		"status", "completed", "role", raw(item.Get("role")), "content", raw(item.Get("content")), "call_id", raw(item.Get("call_id")), "output", raw(item.Get("output")))
	s.added(whole)
}

// added says that an item is in the conversation: in the names of the first
// version of the API, and in those of the second.
func (s *realtimeSession) added(item json.RawMessage) {
	for _, event := range []string{"conversation.item.created", "conversation.item.added", "conversation.item.done"} {
		s.push(event, "previous_item_id", nil, "item", item)
	}
}

func (s *realtimeSession) commit(id string) {
	if s.sound == 0 {
		s.fail(id, "input_audio_buffer_commit_empty", "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has 0.00ms of audio.", "")
		return
	}
	item := "item_" + itoa(s.events)
	s.user, s.results = count(s.sound, "byte")+" of speech", nil
	s.heard += audioTokens
	s.sound = 0
	s.push("input_audio_buffer.committed", "previous_item_id", nil, "item_id", item)
	s.added(obj("id", item, "object", "realtime.item", "type", "message", "status", "completed", "role", "user",
		"content", list(obj("type", "input_audio", "transcript", nil))))
}
