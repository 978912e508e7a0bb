package upstream

import (
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// MaxErrorBody is how much of an error body is read.
const MaxErrorBody = 64 << 10

// Refused classifies an error status with its body, of which at most
// MaxErrorBody bytes count. retryAfter is what the provider asked for, 0 when
// it did not.
func Refused(status int, retryAfter time.Duration, body []byte) *Failure {
	d := detailOf(body, maxNested)
	f := Fail(classOf(status, &d), nil)
	f.Status = status
	switch f.Class {
	case Rejected, TooLarge, ContextLength, ContentPolicy, UnsupportedMedia:
		f.Fault.Status = status
		d.show(f.Fault)
	case RateLimited, ServerError, StatusTimeout:
		f.RetryAfter = retryAfter
		f.Fault.RetryAfter = retryAfter
	default:
	}
	return f
}

// InBand classifies an error object that came inside a 2xx answer; inBand is
// ErrorInReply or ErrorInStream. value is the member "error" or the whole
// body or event; text that is not JSON is kept as the message.
func InBand(inBand Class, status int, value []byte) *Failure {
	d := detailOf(value, maxNested)
	class := inBand
	switch {
	case d.isContextLength():
		class = ContextLength
	case d.isContentPolicy():
		class = ContentPolicy
	case d.isRateLimit():
		class = RateLimited
	case d.isCredential():
		class = CredentialRejected
	}
	f := Fail(class, nil)
	f.Status = status
	if class != RateLimited && class != CredentialRejected {
		d.show(f.Fault)
	}
	if class == ContentPolicy {
		f.Fault.Status = http.StatusBadRequest
	}
	return f
}

func classOf(status int, d *detail) Class {
	switch {
	case status >= 300 && status < 400:
		return Redirected
	case status == http.StatusGatewayTimeout, status == http.StatusRequestTimeout, status == 524: // Cloudflare's own
		return StatusTimeout
	case status >= 500 || status < 200:
		return ServerError
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired: // of a proxy on our side
		return CredentialRejected
	case status == http.StatusForbidden:
		return forbidden(d)
	case status == http.StatusPaymentRequired:
		return PaymentRequired
	case status == http.StatusNotFound:
		return NotFound
	case status == http.StatusUnsupportedMediaType:
		return UnsupportedMedia
	case d.isContextLength():
		return ContextLength
	case d.isContentPolicy():
		return ContentPolicy
	case status == http.StatusRequestEntityTooLarge:
		return TooLarge
	case status == http.StatusBadRequest && d.isCredential():
		return CredentialRejected
	}
	return Rejected
}

func forbidden(d *detail) Class {
	switch {
	case d.isGeographic():
		return GeoBlocked
	case d.isContentPolicy():
		return ContentPolicy
	}
	return CredentialRejected
}

// detail is what an error body says, in the spellings that providers of the
// OpenAI kind use. The members are the upstream's own words: nothing of them
// is shown before it went through show.
type detail struct {
	message, kind, code, param string
}

// maxNested is how many "error" members inside each other are followed.
const maxNested = 2

// detailOf reads {"error":{…}}, {"error":"…"}, {"message":…}, {"detail":…},
// a list of one of these, or plain text.
func detailOf(body []byte, deeper int) detail {
	value := body
	if list := rawjson.NewArray(value); list.Next() {
		value = list.Value()
	}
	o := rawjson.NewObject(value)
	var d detail
	var inner []byte
	for o.Next() {
		switch {
		case o.Is("error"):
			inner = o.Value()
		case o.Is("message"), o.Is("detail"):
			d.message = firstText(d.message, o.Value())
		case o.Is("type"):
			d.kind = rawjson.String(o.Value())
		case o.Is("code"), o.Is("status"):
			d.code = firstText(d.code, o.Value())
		case o.Is("param"):
			d.param = rawjson.String(o.Value())
		}
	}
	switch {
	case !o.OK():
		return detail{message: plainText(value)}
	case rawjson.IsString(inner):
		d.message = rawjson.String(inner)
	case !rawjson.IsNull(inner) && deeper > 0:
		nested := detailOf(inner, deeper-1)
		if nested.message == "" {
			nested.message = d.message
		}
		return nested
	}
	return d
}

// firstText keeps had, else reads a string, or a number as it is written.
func firstText(had string, value []byte) string {
	if had != "" || len(value) == 0 {
		return had
	}
	if c := value[0]; c >= '0' && c <= '9' {
		return string(value)
	}
	return rawjson.String(value)
}

// plainText is the body when it may be read by a person: no markup.
func plainText(body []byte) string {
	for _, c := range body {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '<', '{', '[':
			return ""
		}
		break
	}
	if rawjson.IsString(body) {
		return rawjson.String(body)
	}
	return string(body)
}

// show puts the safe part of d into f.
func (d *detail) show(f *fault.Error) {
	if message := Sanitize(d.message); message != "" {
		f.Message = message
	}
	if code := sanitizeWord(d.code); code != "" {
		_ = f.With("upstream_code", code)
	}
	if kind := sanitizeWord(d.kind); kind != "" {
		_ = f.With("type", kind)
	}
	if param := sanitizeWord(d.param); param != "" {
		_ = f.With("param", param)
	}
}
