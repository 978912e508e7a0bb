// Package responses owns the wire format of OpenAI's Responses
// (https://platform.openai.com/docs/api-reference/responses and
// responses-streaming), both ways. It knows no other format, no provider by
// name and no transport.
//
// What has no counterpart in the neutral form is treated in three ways:
//
//   - What the caller left with the provider and only refers to
//     (previous_response_id, conversation, a stored prompt, item_reference), and
//     items of tools that the provider runs or that only its models know
//     (computer_call, mcp_call, compaction and their like) are in
//     Request.State: no other provider can go on from there.
//   - web_search_call and file_search_call are notes that a search was made,
//     whose outcome is in the text that follows. They are left out, unless they
//     hold results.
//   - Parameters are in Request.Other, unless they ask for what happens anyway.
package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// Codec is the format. It implements dialect.Codec.
type Codec struct{}

var _ dialect.Codec = Codec{}

// New returns the codec.
func New() Codec { return Codec{} }

// Observe implements dialect.Codec.
func (Codec) Observe() dialect.Observer { return &observer{} }

// DecodeStream implements dialect.Codec.
func (Codec) DecodeStream() dialect.StreamDecoder { return &streamReader{} }

// EncodeStream implements dialect.Codec.
func (Codec) EncodeStream(as dialect.Told) dialect.StreamEncoder { return newStreamWriter(as) }

// home is the family whose proofs need no mark in this format.
const home = conversation.OpenAI

// The types of items.
const (
	typeMessage      = "message"
	typeReasoning    = "reasoning"
	typeCall         = "function_call"
	typeCallOutput   = "function_call_output"
	typeCustom       = "custom_tool_call"
	typeCustomOutput = "custom_tool_call_output"
	typeImage        = "image_generation_call"
	typeReference    = "item_reference"
)

// The types of content parts.
const (
	inputText   = "input_text"
	inputImage  = "input_image"
	inputFile   = "input_file"
	inputAudio  = "input_audio"
	outputText  = "output_text"
	refusal     = "refusal"
	summaryText = "summary_text"
	thoughtText = "reasoning_text"
)
