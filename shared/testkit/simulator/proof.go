package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// family is who can read each other's proofs of thoughts: Claude's are good at
// Anthropic, Bedrock and Vertex alike.
type family string

const (
	claude family = "claude"
	gpt    family = "gpt"
	gemini family = "gemini"
)

// proof stands for the opaque signature over a thought.
func (f family) proof(text string) string {
	mac := hmac.New(sha256.New, []byte("simulated "+f))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(append([]byte(f), mac.Sum(nil)...))
}

func (f family) proves(text, signature string) bool { return f.proof(text) == signature }

// seal hides text in an opaque value, and opens reports whether a value is one
// that was sealed.
func (f family) seal(text string) string {
	return base64.StdEncoding.EncodeToString([]byte(text)) + "." + f.proof(text)
}

func (f family) opens(sealed string) bool {
	hidden, signature, ok := strings.Cut(sealed, ".")
	raw, err := base64.StdEncoding.DecodeString(hidden)
	return ok && err == nil && f.proves(string(raw), signature)
}
