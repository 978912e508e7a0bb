//go:build e2e

package e2e_test

import (
	"context"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func openChat(_ *testing.T, c connection) speaker { return chatClient{openAIOver(c)} }

func openAIOver(c connection) openai.Client {
	return openai.NewClient(option.WithBaseURL(c.url+"/v1"), option.WithAPIKey(c.key), option.WithMaxRetries(0), option.WithHTTPClient(c.http))
}

// chatClient is openai-go's chat completions.
type chatClient struct{ client openai.Client }

func (c chatClient) params(model string, q question) openai.ChatCompletionNewParams {
	out := openai.ChatCompletionNewParams{Model: model, Messages: c.messages(q)}
	if q.tools {
		for _, f := range offeredTools() {
			out.Tools = append(out.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
				Name: f.name, Parameters: f.schema(), Strict: param.NewOpt(true),
			}))
		}
	}
	if q.serial {
		out.ParallelToolCalls = param.NewOpt(false)
	}
	if q.demand {
		out.ToolChoice.OfAuto = param.NewOpt("required")
	}
	if q.schema {
		out.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "person", Strict: param.NewOpt(true), Schema: personSchema(),
		}}
	}
	out.Metadata = q.metadata
	switch {
	case q.models != nil:
		out.SetExtraFields(map[string]any{"models": q.models})
	case q.show: // OpenRouter's words; OpenAI's API has none for it
		out.SetExtraFields(map[string]any{"reasoning": map[string]any{"effort": "medium", "summary": "auto"}})
	case q.thinking:
		out.ReasoningEffort = shared.ReasoningEffortMedium
	}
	if q.limit > 0 {
		out.MaxCompletionTokens = param.NewOpt(q.limit)
	}
	if q.stop != "" {
		out.Stop.OfStringArray = []string{q.stop}
	}
	return out
}

func (chatClient) messages(q question) []openai.ChatCompletionMessageParamUnion {
	var out []openai.ChatCompletionMessageParamUnion
	if q.system != "" {
		out = append(out, openai.SystemMessage(q.system))
	}
	if q.earlier != nil {
		turn := q.earlier.turn.(chatTurn)
		said := turn.message.ToParam()
		if len(turn.thoughts) > 0 {
			said.OfAssistant.SetExtraFields(map[string]any{"reasoning_details": turn.thoughts})
		}
		out = append(out, openai.UserMessage("Go on."), said)
		if q.results == nil {
			return append(out, openai.UserMessage(q.prompt))
		}
		for _, call := range q.earlier.calls {
			out = append(out, openai.ToolMessage(q.results[call.id], call.id))
		}
		return out
	}
	if q.image {
		return append(out, openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(q.prompt),
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + pixel}),
		}))
	}
	return append(out, openai.UserMessage(q.prompt))
}

// chatTurn is what a caller gives back. The SDK has no members for thoughts,
// so that callers who want them to count keep them by hand.
type chatTurn struct {
	message  openai.ChatCompletionMessage
	thoughts []map[string]any // reasoning_details
}

// think adds what a message, or one delta of it, says of thoughts.
func (turn *chatTurn) think(raw string) {
	for _, detail := range gjson.Get(raw, "reasoning_details").Array() {
		i := int(detail.Get("index").Int())
		for len(turn.thoughts) <= i {
			turn.thoughts = append(turn.thoughts, map[string]any{})
		}
		detail.ForEach(func(key, value gjson.Result) bool {
			before, _ := turn.thoughts[i][key.Str].(string)
			if key.Str == "text" || key.Str == "summary" || key.Str == "data" {
				turn.thoughts[i][key.Str] = before + value.Str
			} else if value.Type != gjson.Null {
				turn.thoughts[i][key.Str] = value.Value()
			}
			return true
		})
	}
}

func (c chatClient) ask(ctx context.Context, model string, q question) (answer, error) {
	reply, err := c.client.Chat.Completions.New(ctx, c.params(model, q))
	if err != nil {
		return answer{}, err //nolint:wrapcheck // the client's own error is what is looked at
	}
	var turn chatTurn
	raw := reply.Choices[0].Message.RawJSON()
	turn.think(raw)
	return c.answer(*reply, turn, gjson.Get(raw, "reasoning_content").Str), nil
}

func (c chatClient) stream(ctx context.Context, model string, q question, each func()) (answer, error) {
	params := c.params(model, q)
	params.StreamOptions.IncludeUsage = param.NewOpt(true)
	stream := c.client.Chat.Completions.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	var all openai.ChatCompletionAccumulator
	var turn chatTurn
	thoughts := ""
	for stream.Next() {
		chunk := stream.Current()
		all.AddChunk(chunk)
		delta := gjson.Get(chunk.RawJSON(), "choices.0.delta")
		turn.think(delta.Raw)
		thoughts += delta.Get("reasoning_content").Str
		each()
	}
	if err := stream.Err(); err != nil || len(all.Choices) == 0 {
		return answer{}, err //nolint:wrapcheck // as above
	}
	return c.answer(all.ChatCompletion, turn, thoughts), nil
}

func (chatClient) answer(reply openai.ChatCompletion, turn chatTurn, thoughts string) answer {
	choice, u := reply.Choices[0], reply.Usage
	turn.message = choice.Message
	out := answer{
		model: reply.Model, text: choice.Message.Content, refusal: choice.Message.Refusal, turn: turn, thoughts: thoughts, finish: refused,
		usage: tokens{u.PromptTokens, u.PromptTokensDetails.CachedTokens, u.CompletionTokens, u.CompletionTokensDetails.ReasoningTokens},
	}
	for _, call := range choice.Message.ToolCalls {
		out.calls = append(out.calls, toolCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	if out.refusal == "" {
		out.finish = map[string]finish{"stop": stopped, "length": cutShort, "tool_calls": called, "content_filter": refused}[choice.FinishReason]
	}
	return out
}

func (chatClient) failed(t *testing.T, err error) failure { return openAIFailed(t, err) }

// openAIFailed reads openai-go's error.
func openAIFailed(t *testing.T, err error) failure {
	t.Helper()
	var failed *openai.Error
	require.ErrorAs(t, err, &failed)
	return failure{status: failed.StatusCode, kind: failed.Type, code: failed.Code, reason: gjson.Get(failed.RawJSON(), "reason").Str, message: failed.Message}
}
