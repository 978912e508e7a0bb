package policy

import "strings"

// FoldParam is a field of a body without its spelling: names that differ in their
// case and in underscores alone are the same.
func FoldParam(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// GenerationConfig is the folded name of the member that holds parameters in
// Gemini's format.
const GenerationConfig = "generationconfig"

// OwnParam reports whether a field of a body, in any spelling, says what is asked,
// of whom, and how the gateway is to go about it. No preset sets it.
func OwnParam(name string) bool { return ownParams[FoldParam(name)] }

var ownParams = folded(`model models provider routing routing_mode session_id preset provider_options stream stream_options
	metadata prompt_cache_key messages input contents prompt suffix system instructions system_instruction documents query image file
	previous_response_id conversation input_file_id cached_content`)

func folded(names string) map[string]bool {
	out := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		out[FoldParam(name)] = true
	}
	return out
}
