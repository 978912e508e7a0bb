package gemini

import (
	"encoding/base64"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// A thoughtSignature is bytes, which JSON has as base64, and Google's clients
// refuse anything else. So what another family's proof is sealed into is
// written as the base64 of that; Google's own stays as it came.

// sealProof is a proof as a caller of this format gets it.
func sealProof(value string, of conversation.Origin) string {
	if of == conversation.Google || of == "" {
		return value
	}
	return base64.StdEncoding.EncodeToString([]byte(conversation.Seal(value, of, conversation.Google)))
}

// IsForeign reports a signature that the gateway made of another family's proof.
func IsForeign(signature string) bool {
	_, of := unsealProof(signature)
	return of != conversation.Google
}

// unsealProof reads what a caller sends back.
func unsealProof(signature string) (string, conversation.Origin) {
	standard, ok := standardBase64(signature)
	if !ok {
		return signature, conversation.Google
	}
	raw, err := base64.StdEncoding.DecodeString(standard)
	if err != nil {
		return signature, conversation.Google
	}
	if value, of := conversation.Unseal(string(raw), conversation.Google); of != conversation.Google {
		return value, of
	}
	return signature, conversation.Google
}

// proven is a thought with the proof that stood on it. OpenAI's thoughts have
// no signature: what proves them is the encrypted thoughts themselves.
func proven(text, proof string, of conversation.Origin) *conversation.Thinking {
	t := &conversation.Thinking{Text: text}
	switch {
	case proof == "":
	case of == conversation.OpenAI:
		t.Data, t.Origin = proof, of
	default:
		t.Signature, t.Origin = proof, of
	}
	return t
}

// proofs are the proof that stands on a thought itself and the one that is
// for the next part. A text that OpenAI thought is proven by its hidden
// thoughts.
func proofs(t *conversation.Thinking, said bool) (signature, data string) {
	if said && t.Signature == "" && t.Origin == conversation.OpenAI {
		return t.Data, ""
	}
	return t.Signature, t.Data
}
