package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// The headers of a delivery.
const (
	HeaderSignature = "Signalbox-Signature"
	HeaderEventID   = "Signalbox-Event-Id"
	HeaderEventType = "Signalbox-Event-Type"
)

// Sign is the signature's header over body: the time, and for each secret the
// HMAC-SHA256 of "<time>.<body>" with the secret's whole text as the key.
func Sign(body []byte, at time.Time, secrets ...secret.String) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	var header strings.Builder
	header.WriteString("t=" + seconds)
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s.Reveal()))
		mac.Write([]byte(seconds + "."))
		mac.Write(body)
		header.WriteString(",v1=" + hex.EncodeToString(mac.Sum(nil)))
	}
	return header.String()
}
