// Package e2e_test holds a whole platform to what its users rely on: the
// official clients, the bytes on the wire, and the way of a change to every
// gateway.
package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

func openAI(p *harness.Platform, key string, more ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(p.Gateways[0] + "/v1"), option.WithAPIKey(key), option.WithMaxRetries(0), option.WithHTTPClient(p.HTTP),
	}, more...)...)
}

func hello(model string) openai.ChatCompletionNewParams { return ask(model, "Say hello") }

func ask(model, prompt string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)}}
}

func functions() []openai.ChatCompletionToolUnionParam {
	return []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "get_weather", Parameters: shared.FunctionParameters{
			"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"},
		}}),
		openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "get_time", Parameters: shared.FunctionParameters{
			"type": "object", "properties": map[string]any{},
		}}),
	}
}

func TestOpenAIGo(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	client := openAI(p, key.Secret)

	t.Run("plain", func(t *testing.T) {
		var head *http.Response
		reply, err := client.Chat.Completions.New(t.Context(), hello(upstream.Small), option.WithResponseInto(&head))
		require.NoError(t, err)
		require.Contains(t, reply.Choices[0].Message.Content, "Say hello")
		require.Equal(t, upstream.Small, reply.Model)
		require.Positive(t, reply.Usage.TotalTokens)
		require.Equal(t, upstream.North, head.Header.Get("X-Signalbox-Provider"))
	})

	t.Run("streamed, without usage and with", func(t *testing.T) {
		for _, include := range []bool{false, true} {
			params := hello(upstream.Small)
			if include {
				params.StreamOptions.IncludeUsage = param.NewOpt(true)
			}
			stream := client.Chat.Completions.NewStreaming(t.Context(), params)
			var all openai.ChatCompletionAccumulator
			sawUsage := false
			for stream.Next() {
				chunk := stream.Current()
				require.True(t, all.AddChunk(chunk))
				sawUsage = sawUsage || chunk.Usage.TotalTokens > 0
				require.True(t, len(chunk.Choices) == 1 || include, "a chunk without choices that nobody asked for")
			}
			require.NoError(t, stream.Err())
			require.Contains(t, all.Choices[0].Message.Content, "Say hello")
			require.Equal(t, "stop", all.Choices[0].FinishReason)
			require.Equal(t, include, sawUsage)
		}
	})

	t.Run("tools in parallel, plain and streamed", func(t *testing.T) {
		params := ask(upstream.Small, "get_weather for Paris and get_time")
		params.Tools = functions()
		reply, err := client.Chat.Completions.New(t.Context(), params)
		require.NoError(t, err)
		calls := reply.Choices[0].Message.ToolCalls
		require.Len(t, calls, 2)
		require.Equal(t, "tool_calls", reply.Choices[0].FinishReason)
		require.JSONEq(t, `{"city":"Paris"}`, calls[0].Function.Arguments)

		stream := client.Chat.Completions.NewStreaming(t.Context(), params)
		var all openai.ChatCompletionAccumulator
		for stream.Next() {
			all.AddChunk(stream.Current())
		}
		require.NoError(t, stream.Err())
		require.Len(t, all.Choices[0].Message.ToolCalls, 2)
		for i, call := range all.Choices[0].Message.ToolCalls {
			require.NotEmpty(t, call.ID)
			require.Equal(t, calls[i].Function.Name, call.Function.Name)
			require.JSONEq(t, calls[i].Function.Arguments, call.Function.Arguments)
		}

		params.Messages = append(params.Messages, reply.Choices[0].Message.ToParam(),
			openai.ToolMessage("21 degrees", calls[0].ID), openai.ToolMessage("noon", calls[1].ID))
		answer, err := client.Chat.Completions.New(t.Context(), params)
		require.NoError(t, err)
		require.Contains(t, answer.Choices[0].Message.Content, "21 degrees")
	})

	t.Run("structured output", func(t *testing.T) {
		params := ask(upstream.Small, "Describe “Ada”")
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "person", Strict: param.NewOpt(true), Schema: map[string]any{
				"type": "object", "required": []string{"name"}, "additionalProperties": false,
				"properties": map[string]any{"name": map[string]any{"type": "string"}},
			},
		}}
		reply, err := client.Chat.Completions.New(t.Context(), params)
		require.NoError(t, err)
		var person struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(reply.Choices[0].Message.Content), &person))
		require.Equal(t, "Ada", person.Name)
	})

	t.Run("images as input", func(t *testing.T) {
		reply, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
			Model: upstream.Small,
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart("What is this?"),
				openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,iVBORw0KGgo="}),
			})},
		})
		require.NoError(t, err)
		require.Contains(t, reply.Choices[0].Message.Content, "1 image")
	})

	t.Run("models.list()", func(t *testing.T) {
		pages := client.Models.ListAutoPaging(t.Context())
		ids := map[string]bool{}
		for pages.Next() {
			ids[pages.Current().ID] = true
		}
		require.NoError(t, pages.Err())
		require.Contains(t, ids, upstream.Small)
	})
}

func TestOpenAIGoErrors(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	client := openAI(p, p.Key().Secret)

	for name, tc := range map[string]struct {
		client openai.Client
		model  string
		status int
		code   string
	}{
		"a wrong key":                   {openAI(p, "sk-wrong"), upstream.Small, 401, "unauthorized"},
		"an unknown model":              {client, "sim/no-such-model", 404, "model_not_found"},
		"the provider's refusal":        {client, upstream.Model("status-400"), 400, "upstream_rejected"},
		"the provider's rate limit":     {client, upstream.Model("status-429-retry-7"), 429, "upstream_rate_limited"},
		"the provider's failure":        {client, upstream.Model("status-500"), 502, "upstream_server_error"},
		"the provider refuses our key":  {client, upstream.Model("status-401"), 502, "upstream_credential_rejected"},
		"the provider is not there":     {client, upstream.Model("reset"), 502, "upstream_unreachable"},
		"the provider answers nonsense": {client, upstream.Model("html"), 502, "upstream_server_error"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.client.Chat.Completions.New(t.Context(), hello(tc.model))
			var failure *openai.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, tc.status, failure.StatusCode, "%s", failure.RawJSON())
			require.Equal(t, tc.code, failure.Code)
			require.NotEmpty(t, failure.Message)
		})
	}

	t.Run("an error in the middle of a stream", func(t *testing.T) {
		stream := client.Chat.Completions.NewStreaming(t.Context(), hello(upstream.Model("error-mid")))
		n := 0
		for stream.Next() {
			n++
		}
		require.Error(t, stream.Err())
		require.Positive(t, n, "the events before the error arrive")
	})

	t.Run("an abort ends the upstream call", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		stream := client.Chat.Completions.NewStreaming(ctx, hello(upstream.Model("hang-3")))
		require.True(t, stream.Next())
		leave()
		for stream.Next() {
			continue
		}
		require.NoError(t, stream.Close())
		// Its own call, not the count of all: an upstream call of a test before
		// may end, aborted, while this one begins.
		p.On(t).Eventually(func() bool {
			calls := p.North.For("fault-hang-3")
			return len(calls) == 1 && calls[0].Aborted
		}, "the upstream call goes on")
	})

	t.Run("the client's own timeout", func(t *testing.T) {
		_, err := client.Chat.Completions.New(t.Context(), hello(upstream.Model("hang")), option.WithRequestTimeout(300*time.Millisecond))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		p.On(t).Eventually(func() bool { return p.North.Stats().Active == 0 }, "the upstream call goes on")
	})

	t.Run("the client's own retries", func(t *testing.T) {
		patient := openAI(p, p.On(t).Key().Secret, option.WithMaxRetries(2))
		reply, err := patient.Chat.Completions.New(t.Context(), hello(upstream.Model("status-500-times-1")))
		require.NoError(t, err)
		require.Contains(t, reply.Choices[0].Message.Content, "Say hello")
	})
}
