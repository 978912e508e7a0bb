package responses

import (
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// encrypted_content is the format's one place for what proves a thought. Of
// another family it holds either a signature or hidden thoughts, which it says
// inside the seal.
const (
	signatureMark = "s."
	dataMark      = "d."
)

// proofOf is what stands in encrypted_content for t, "" when nothing does.
func proofOf(t *conversation.Thinking) string {
	switch {
	case t.Data != "" && (t.Origin == home || t.Origin == ""):
		return t.Data
	case t.Origin == home || t.Origin == "":
		return t.Signature
	case t.Signature != "":
		return conversation.Seal(signatureMark+t.Signature, t.Origin, home)
	case t.Data != "":
		return conversation.Seal(dataMark+t.Data, t.Origin, home)
	}
	return ""
}

// readProof puts the value of encrypted_content into t.
func readProof(value string, t *conversation.Thinking) {
	if value == "" {
		return
	}
	inner, origin := conversation.Unseal(value, home)
	t.Origin = origin
	if origin != home {
		if signature, ok := strings.CutPrefix(inner, signatureMark); ok {
			t.Signature = signature
			return
		}
		inner = strings.TrimPrefix(inner, dataMark)
	}
	t.Data = inner
}
