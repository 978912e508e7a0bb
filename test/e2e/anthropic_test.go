//go:build e2e

package e2e_test

import (
	"context"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func openAnthropic(_ *testing.T, c connection) speaker { return anthropicClient{anthropicOver(c)} }

func anthropicOver(c connection) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(c.url), option.WithAPIKey(c.key), option.WithMaxRetries(0), option.WithHTTPClient(c.http))
}

// anthropicClient is anthropic-sdk-go's messages.
type anthropicClient struct{ client anthropic.Client }

func (c anthropicClient) params(model string, q question) anthropic.MessageNewParams {
	const usual, budget = 4096, 2048
	out := anthropic.MessageNewParams{Model: model, MaxTokens: usual, Messages: c.messages(q)}
	if q.metadata != nil { // of which the SDK knows one member
		more := make(map[string]any)
		for name, value := range q.metadata {
			more[name] = value
		}
		out.Metadata.SetExtraFields(more)
	}
	if q.models != nil {
		out.SetExtraFields(map[string]any{"models": q.models})
	}
	if q.system != "" {
		out.System = []anthropic.TextBlockParam{{Text: q.system}}
	}
	if q.tools {
		for _, f := range offeredTools() {
			out.Tools = append(out.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
				Name: f.name, InputSchema: anthropic.ToolInputSchemaParam{
					Properties: f.properties, Required: f.required, ExtraFields: map[string]any{"additionalProperties": false},
				},
			}})
		}
	}
	if q.serial {
		out.ToolChoice.OfAuto = &anthropic.ToolChoiceAutoParam{DisableParallelToolUse: param.NewOpt(true)}
	}
	if q.demand {
		out.ToolChoice.OfAny = &anthropic.ToolChoiceAnyParam{}
	}
	if q.schema {
		out.OutputConfig.Format.Schema = personSchema()
	}
	if q.thinking {
		out.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
		if q.show {
			out.Thinking.OfEnabled.Display = anthropic.ThinkingConfigEnabledDisplaySummarized
		}
	}
	if q.limit > 0 {
		out.MaxTokens = q.limit
	}
	if q.stop != "" {
		out.StopSequences = []string{q.stop}
	}
	return out
}

func (anthropicClient) messages(q question) []anthropic.MessageParam {
	if q.earlier != nil {
		out := []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("Go on.")), q.earlier.turn.(anthropic.Message).ToParam(),
		}
		if q.results == nil {
			return append(out, anthropic.NewUserMessage(anthropic.NewTextBlock(q.prompt)))
		}
		var results []anthropic.ContentBlockParamUnion
		for _, call := range q.earlier.calls {
			results = append(results, anthropic.NewToolResultBlock(call.id, q.results[call.id], false))
		}
		return append(out, anthropic.NewUserMessage(results...))
	}
	blocks := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(q.prompt)}
	if q.image {
		blocks = append(blocks, anthropic.NewImageBlockBase64("image/png", pixel))
	}
	return []anthropic.MessageParam{anthropic.NewUserMessage(blocks...)}
}

func (c anthropicClient) ask(ctx context.Context, model string, q question) (answer, error) {
	reply, err := c.client.Messages.New(ctx, c.params(model, q))
	if err != nil {
		return answer{}, err //nolint:wrapcheck // the client's own error is what is looked at
	}
	return c.answer(*reply), nil
}

func (c anthropicClient) stream(ctx context.Context, model string, q question, each func()) (answer, error) {
	stream := c.client.Messages.NewStreaming(ctx, c.params(model, q))
	defer func() { _ = stream.Close() }()
	var all anthropic.Message
	for stream.Next() {
		if err := all.Accumulate(stream.Current()); err != nil {
			return answer{}, err //nolint:wrapcheck // as above
		}
		each()
	}
	if err := stream.Err(); err != nil {
		return answer{}, err //nolint:wrapcheck // as above
	}
	return c.answer(all), nil
}

func (anthropicClient) answer(reply anthropic.Message) answer {
	u := reply.Usage
	out := answer{model: reply.Model, turn: reply, usage: tokens{
		input: u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens, cached: u.CacheReadInputTokens, output: u.OutputTokens,
	}}
	out.finish = map[anthropic.StopReason]finish{
		anthropic.StopReasonEndTurn: stopped, anthropic.StopReasonStopSequence: stopped, anthropic.StopReasonMaxTokens: cutShort,
		anthropic.StopReasonToolUse: called, anthropic.StopReasonRefusal: refused,
	}[reply.StopReason]
	for _, block := range reply.Content {
		switch b := block.AsAny().(type) {
		case anthropic.TextBlock:
			out.text += b.Text
		case anthropic.ThinkingBlock:
			out.thoughts += b.Thinking
		case anthropic.ToolUseBlock:
			out.calls = append(out.calls, toolCall{b.ID, b.Name, string(b.Input)})
		}
	}
	if out.finish == refused {
		out.refusal, out.text = out.text, ""
	}
	return out
}

// failed reads anthropic-sdk-go's error; it keeps the gateway's code in the
// body only.
func (anthropicClient) failed(t *testing.T, err error) failure {
	t.Helper()
	var failed *anthropic.Error
	require.ErrorAs(t, err, &failed)
	return failure{
		status: failed.StatusCode, kind: string(failed.Type()), message: failed.Message,
		code: gjson.Get(failed.RawJSON(), "error.code").Str, reason: gjson.Get(failed.RawJSON(), "error.reason").Str,
	}
}
