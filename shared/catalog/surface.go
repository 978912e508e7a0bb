package catalog

// Surface names an inference API format and path.
type Surface string

// The surfaces.
const (
	Chat           Surface = "chat"
	Responses      Surface = "responses"
	Messages       Surface = "messages"
	Gemini         Surface = "gemini"
	Completions    Surface = "completions"
	Embeddings     Surface = "embeddings"
	Moderations    Surface = "moderations"
	Rerank         Surface = "rerank"
	Images         Surface = "images"
	ImageEdits     Surface = "image_edits"
	Speech         Surface = "speech"
	Transcriptions Surface = "transcriptions"
	Translations   Surface = "translations"
	OCR            Surface = "ocr"
	Parse          Surface = "parse"
	Decisions      Surface = "decisions"
	Videos         Surface = "videos"
	Music          Surface = "music"
	Batches        Surface = "batches"
	Files          Surface = "files"
	Realtime       Surface = "realtime"
)

// Surfaces lists every surface in the order of the documentation.
func Surfaces() []Surface {
	return []Surface{
		Chat, Responses, Messages, Gemini, Completions, Embeddings, Moderations, Rerank, Images, ImageEdits,
		Speech, Transcriptions, Translations, OCR, Parse, Decisions, Videos, Music, Batches, Files, Realtime,
	}
}

// TakesInstructions reports whether requests have a place for a system prompt.
func (s Surface) TakesInstructions() bool {
	switch s {
	case Chat, Completions, Responses, Messages, Gemini:
		return true
	default:
		return false
	}
}
