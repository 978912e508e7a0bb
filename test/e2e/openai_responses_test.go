//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func openResponses(_ *testing.T, c connection) speaker { return responsesClient{openAIOver(c)} }

// responsesClient is openai-go's responses.
type responsesClient struct{ client openai.Client }

func (c responsesClient) params(model string, q question) responses.ResponseNewParams {
	out := responses.ResponseNewParams{
		Model: model, Store: param.NewOpt(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
	}
	out.Input.OfInputItemList = c.items(q)
	out.Metadata = q.metadata
	if q.models != nil {
		out.SetExtraFields(map[string]any{"models": q.models})
	}
	if q.system != "" {
		out.Instructions = param.NewOpt(q.system)
	}
	if q.tools {
		for _, f := range offeredTools() {
			out.Tools = append(out.Tools, responses.ToolParamOfFunction(f.name, f.schema(), true))
		}
	}
	if q.serial {
		out.ParallelToolCalls = param.NewOpt(false)
	}
	if q.demand {
		out.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsRequired)
	}
	if q.schema {
		out.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: "person", Strict: param.NewOpt(true), Schema: personSchema(),
		}
	}
	if q.thinking {
		out.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffortMedium}
		if q.show {
			out.Reasoning.Summary = shared.ReasoningSummaryAuto
		}
	}
	if q.limit > 0 {
		out.MaxOutputTokens = param.NewOpt(q.limit)
	}
	return out
}

func (responsesClient) items(q question) responses.ResponseInputParam {
	user := func(text string) responses.ResponseInputItemUnionParam {
		return responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser)
	}
	if q.earlier != nil {
		out := responses.ResponseInputParam{user("Go on.")}
		for _, item := range q.earlier.turn.([]responses.ResponseOutputItemUnion) {
			out = append(out, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
		if q.results == nil {
			return append(out, user(q.prompt))
		}
		for _, call := range q.earlier.calls {
			result := responses.ResponseInputItemParamOfFunctionCallOutput(q.results[call.id])
			result.OfFunctionCallOutput.CallID = param.NewOpt(call.id)
			out = append(out, result)
		}
		return out
	}
	if q.image {
		image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
		image.OfInputImage.ImageURL = param.NewOpt("data:image/png;base64," + pixel)
		return responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
			responses.ResponseInputContentParamOfInputText(q.prompt), image,
		}, responses.EasyInputMessageRoleUser)}
	}
	return responses.ResponseInputParam{user(q.prompt)}
}

func (c responsesClient) ask(ctx context.Context, model string, q question) (answer, error) {
	reply, err := c.client.Responses.New(ctx, c.params(model, q))
	if err != nil {
		return answer{}, err //nolint:wrapcheck // the client's own error is what is looked at
	}
	return c.answer(*reply), nil
}

// stream lets the SDK's accumulator put the events together, and holds the
// reply of the last event against it.
func (c responsesClient) stream(ctx context.Context, model string, q question, each func()) (answer, error) {
	stream := c.client.Responses.NewStreaming(ctx, c.params(model, q))
	defer func() { _ = stream.Close() }()
	var all responses.ResponseAccumulator
	var last responses.ResponseStreamEventUnion
	for stream.Next() {
		last = stream.Current()
		var event responses.ResponsesServerEventUnion
		if err := json.Unmarshal([]byte(last.RawJSON()), &event); err != nil {
			return answer{}, fmt.Errorf("an event that is not of the SDK: %w", err)
		}
		if err := all.AddEvent(event); err != nil {
			return answer{}, fmt.Errorf("an event that the SDK cannot add: %w", err)
		}
		each()
	}
	if err := stream.Err(); err != nil {
		return answer{}, err //nolint:wrapcheck // as above
	}
	reply, err := all.ReconstructedResponse()
	if err != nil {
		return answer{}, fmt.Errorf("events that the SDK cannot put together, the last a %q: %w", last.Type, err)
	}
	if text := all.Snapshot().OutputText(); text != reply.OutputText() {
		return answer{}, fmt.Errorf("the deltas say %q, and the reply says %q", text, reply.OutputText())
	}
	return c.answer(*reply), nil
}

func (responsesClient) answer(reply responses.Response) answer {
	u := reply.Usage
	out := answer{
		model: reply.Model, text: reply.OutputText(), turn: reply.Output, finish: stopped,
		usage: tokens{u.InputTokens, u.InputTokensDetails.CachedTokens, u.OutputTokens, u.OutputTokensDetails.ReasoningTokens},
	}
	var thoughts strings.Builder
	for _, item := range reply.Output {
		for _, part := range item.Content {
			out.refusal += part.Refusal
		}
		for _, part := range item.Summary {
			thoughts.WriteString(part.Text)
		}
		if item.Type == "function_call" {
			call := item.AsFunctionCall()
			out.calls = append(out.calls, toolCall{call.CallID, call.Name, call.Arguments})
		}
	}
	out.thoughts = thoughts.String()
	switch {
	case out.refusal != "" || reply.IncompleteDetails.Reason == "content_filter":
		out.finish = refused
	case reply.IncompleteDetails.Reason == "max_output_tokens":
		out.finish = cutShort
	case reply.Status != responses.ResponseStatusCompleted:
		out.finish = finish(reply.Status)
	case len(out.calls) > 0:
		out.finish = called
	}
	return out
}

func (responsesClient) failed(t *testing.T, err error) failure { return openAIFailed(t, err) }
