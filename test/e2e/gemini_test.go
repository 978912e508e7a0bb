//go:build e2e

package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"
)

func openGemini(t *testing.T, c connection) speaker {
	t.Helper()
	return geminiClient{geminiOver(t, c)}
}

func geminiOver(t *testing.T, c connection) *genai.Client {
	t.Helper()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: c.key, Backend: genai.BackendGeminiAPI, HTTPClient: c.http, HTTPOptions: genai.HTTPOptions{BaseURL: c.url},
	})
	require.NoError(t, err)
	return client
}

// geminiClient is Google's Go client.
type geminiClient struct{ client *genai.Client }

func (geminiClient) config(q question) *genai.GenerateContentConfig {
	const budget = 2048
	out := &genai.GenerateContentConfig{MaxOutputTokens: int32(q.limit), HTTPOptions: &genai.HTTPOptions{}}
	if q.metadata != nil { // of which the SDK knows nothing
		raw, err := json.Marshal(q.metadata)
		if err != nil {
			panic(err) // texts always encode
		}
		out.HTTPOptions.Headers = http.Header{"X-Signalbox-Metadata": {string(raw)}}
	}
	if q.models != nil {
		out.HTTPOptions.ExtraBody = map[string]any{"models": q.models}
	}
	if q.system != "" {
		out.SystemInstruction = genai.NewContentFromText(q.system, "")
	}
	if q.tools {
		var all genai.Tool
		for _, f := range offeredTools() {
			all.FunctionDeclarations = append(all.FunctionDeclarations, &genai.FunctionDeclaration{Name: f.name, ParametersJsonSchema: f.schema()})
		}
		out.Tools = []*genai.Tool{&all}
	}
	if q.demand {
		out.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}}
	}
	if q.schema {
		out.ResponseMIMEType, out.ResponseJsonSchema = "application/json", personSchema()
	}
	if q.thinking {
		out.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](budget)}
	}
	if q.stop != "" {
		out.StopSequences = []string{q.stop}
	}
	return out
}

func (geminiClient) contents(q question) []*genai.Content {
	if q.earlier != nil {
		out := []*genai.Content{genai.NewContentFromText("Go on.", genai.RoleUser), {Role: genai.RoleModel, Parts: q.earlier.turn.([]*genai.Part)}}
		if q.results == nil {
			return append(out, genai.NewContentFromText(q.prompt, genai.RoleUser))
		}
		results := &genai.Content{Role: genai.RoleUser}
		for _, call := range q.earlier.calls {
			results.Parts = append(results.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: call.id, Name: call.name, Response: map[string]any{"output": q.results[call.id]},
			}})
		}
		return append(out, results)
	}
	parts := []*genai.Part{genai.NewPartFromText(q.prompt)}
	if q.image {
		data, err := base64.StdEncoding.DecodeString(pixel)
		if err != nil {
			panic(err) // a constant
		}
		parts = append(parts, genai.NewPartFromBytes(data, "image/png"))
	}
	return []*genai.Content{genai.NewContentFromParts(parts, genai.RoleUser)}
}

func (c geminiClient) ask(ctx context.Context, model string, q question) (answer, error) {
	reply, err := c.client.Models.GenerateContent(ctx, model, c.contents(q), c.config(q))
	if err != nil {
		return answer{}, err //nolint:wrapcheck // the client's own error is what is looked at
	}
	var out answer
	c.add(&out, reply)
	return out, nil
}

func (c geminiClient) stream(ctx context.Context, model string, q question, each func()) (answer, error) {
	var out answer
	for reply, err := range c.client.Models.GenerateContentStream(ctx, model, c.contents(q), c.config(q)) {
		if err != nil {
			return out, err //nolint:wrapcheck // as above
		}
		c.add(&out, reply)
		each()
	}
	return out, nil
}

// add puts a reply, or one event of it, behind what came before. The SDK has
// nothing for that.
func (geminiClient) add(out *answer, reply *genai.GenerateContentResponse) {
	out.model = reply.ModelVersion
	if u := reply.UsageMetadata; u != nil {
		thoughts := int64(u.ThoughtsTokenCount)
		out.usage = tokens{
			input: int64(u.PromptTokenCount), cached: int64(u.CachedContentTokenCount),
			output: int64(u.CandidatesTokenCount) + thoughts, reasoning: thoughts,
		}
	}
	if reply.PromptFeedback != nil && reply.PromptFeedback.BlockReason != "" {
		out.finish = refused
	}
	if len(reply.Candidates) == 0 {
		return
	}
	candidate := reply.Candidates[0]
	parts, _ := out.turn.([]*genai.Part)
	if candidate.Content != nil {
		for _, part := range candidate.Content.Parts {
			out.part(part)
			if part.Text != "" || part.FunctionCall != nil { // the SDK's own chats give back no others
				parts = append(parts, part)
			}
		}
	}
	out.turn = parts
	if reason := candidate.FinishReason; reason != "" {
		out.finish = map[genai.FinishReason]finish{
			genai.FinishReasonStop: stopped, genai.FinishReasonMaxTokens: cutShort, genai.FinishReasonSafety: refused,
		}[reason]
	}
	switch {
	case out.finish == stopped && len(out.calls) > 0:
		out.finish = called
	case out.finish == refused:
		out.refusal, out.text = out.text, ""
	}
}

func (out *answer) part(p *genai.Part) {
	switch {
	case p.FunctionCall != nil:
		input, err := json.Marshal(p.FunctionCall.Args)
		if err != nil {
			panic(err) // it was JSON
		}
		if p.FunctionCall.Args == nil {
			input = []byte(`{}`)
		}
		out.calls = append(out.calls, toolCall{p.FunctionCall.ID, p.FunctionCall.Name, string(input)})
	case p.Thought:
		out.thoughts += p.Text
	default:
		out.text += p.Text
	}
}

// failed reads Google's error; the gateway's own members are not kept by it.
func (geminiClient) failed(t *testing.T, err error) failure {
	t.Helper()
	var failed genai.APIError
	require.ErrorAs(t, err, &failed)
	return failure{status: failed.Code, kind: failed.Status, message: failed.Message}
}
