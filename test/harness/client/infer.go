package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Headers of the gateway's replies.
const (
	HeaderRequestID = "X-Signalbox-Request-Id"
	HeaderProvider  = "X-Signalbox-Provider"
	HeaderModel     = "X-Signalbox-Model"
	HeaderFallbacks = "X-Signalbox-Attempted-Fallbacks"
	HeaderRetries   = "X-Signalbox-Retry-Count"
	HeaderRevision  = "X-Signalbox-Policy-Revision"
)

// Post sends a body to a path of one gateway.
func (p Platform) Post(ctx context.Context, gateway int, key, path string, body []byte) (Answer, error) {
	return p.Do(ctx, Call{Method: http.MethodPost, URL: p.Gateways[gateway] + path, Bearer: key, Body: body})
}

// Chat asks one gateway for a plain chat completion.
func (p Platform) Chat(ctx context.Context, gateway int, key, model, prompt string) (Answer, error) {
	return p.Post(ctx, gateway, key, "/v1/chat/completions", ChatBody(model, prompt, false))
}

// ChatBody is the smallest chat request.
func ChatBody(model, prompt string, stream bool) []byte {
	body := map[string]any{"model": model, "messages": []map[string]string{{"role": "user", "content": prompt}}}
	if stream {
		body["stream"] = true
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings always encode
	}
	return raw
}

// Stream is an answer read as server-sent events.
type Stream struct {
	Answer
	Data []string // of each event
	Err  error    // how the body ended; nil at its regular end
}

// Done reports whether the terminal marker came.
func (s Stream) Done() bool { return len(s.Data) > 0 && s.Data[len(s.Data)-1] == "[DONE]" }

// Text joins the content deltas of the first choice.
func (s Stream) Text() string {
	var b strings.Builder
	for _, d := range s.Data {
		b.WriteString(Answer{Body: []byte(d)}.Get("choices.0.delta.content").Str)
	}
	return b.String()
}

// Stream posts a body and reads the events to the end.
func (p Platform) Stream(ctx context.Context, gateway int, key string, body []byte) (Stream, error) {
	resp, err := p.Open(ctx, Call{
		Method: http.MethodPost, URL: p.Gateways[gateway] + "/v1/chat/completions", Bearer: key, Body: body,
	})
	if err != nil {
		return Stream{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	s := Stream{Answer: Answer{Status: resp.StatusCode, Header: resp.Header}}
	s.Body, s.Err = io.ReadAll(resp.Body)
	if s.Err != nil && !errors.Is(s.Err, io.ErrUnexpectedEOF) {
		return s, fmt.Errorf("read the stream: %w", s.Err)
	}
	for event := range bytes.SplitSeq(bytes.ReplaceAll(s.Body, []byte("\r\n"), []byte("\n")), []byte("\n\n")) {
		for line := range bytes.SplitSeq(event, []byte("\n")) {
			if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				s.Data = append(s.Data, string(bytes.TrimPrefix(data, []byte(" "))))
			}
		}
	}
	return s, nil
}
