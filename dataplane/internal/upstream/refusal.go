package upstream

import (
	"net/http"
	"strings"
	"time"
)

// MaxErrorBody is how much of an error body is read.
const MaxErrorBody = 64 << 10

// Refused classifies an error status with its body, of which at most
// MaxErrorBody bytes count. retryAfter is what the provider asked for in its
// head, 0 when it did not.
func Refused(status int, retryAfter time.Duration, body []byte) *Failure {
	return RefusedAs("", status, retryAfter, body)
}

// RefusedAs is Refused for an error that its provider also names in the head,
// as AWS does: "ValidationException:http://…".
func RefusedAs(name string, status int, retryAfter time.Duration, body []byte) *Failure {
	d := detailOf(body, maxNested)
	name, _, _ = strings.Cut(name, ":")
	d.hint(name)
	if d.kind == "" {
		d.kind = name
	}
	f := Fail(classOf(status, &d), nil)
	f.Status, f.Limited = status, status == http.StatusTooManyRequests
	if retryAfter == 0 {
		retryAfter = d.wait
	}
	switch f.Class {
	case CredentialRejected:
		f.Denied = status == http.StatusForbidden && !d.stranger()
	case Rejected, TooLarge, ContextLength, ContentPolicy, UnsupportedMedia:
		f.Fault.Status = callers(status)
		d.show(f.Fault)
	case RateLimited, Overloaded, ServerError, StatusTimeout:
		f.RetryAfter = retryAfter
		f.Fault.RetryAfter = retryAfter
	case PaymentRequired:
		f.RetryAfter = retryAfter // for the cool-down: the caller is not told to wait for our bills
	default:
	}
	return f
}

// InBand classifies an error object that came inside a 2xx answer; inBand is
// ErrorInReply or ErrorInStream. value is the member "error" or the whole
// body or event; text that is not JSON is kept as the message.
func InBand(inBand Class, status int, value []byte) *Failure {
	d := detailOf(value, maxNested)
	class := inBandClass(&d, inBand)
	f := Fail(class, nil)
	f.Status, f.Limited = status, d.status == http.StatusTooManyRequests
	switch class {
	case Rejected, TooLarge, ContextLength, ContentPolicy, UnsupportedMedia:
		f.Fault.Status = callers(d.status)
		d.show(f.Fault)
	case ErrorInReply, ErrorInStream:
		d.show(f.Fault)
	case RateLimited, Overloaded, StatusTimeout:
		f.RetryAfter, f.Fault.RetryAfter = d.wait, d.wait
	case PaymentRequired:
		f.RetryAfter = d.wait
	default:
	}
	return f
}

// callers is the status that the caller gets for a refusal of the request
// itself: some say it with a 5xx, or with a 200.
func callers(status int) int {
	if status >= 400 && status < 500 {
		return status
	}
	return http.StatusBadRequest
}

func inBandClass(d *detail, otherwise Class) Class {
	class := d.named()
	if class == "" && d.status != 0 {
		class = classOf(d.status, d)
	}
	if class == "" {
		class = d.worded(everyWording)
	}
	if class == "" && requestNames[strings.ToLower(d.kind)] {
		class = Rejected
	}
	switch class {
	case "", ServerError:
		return otherwise
	default:
		return class
	}
}

// classOf is by the status first, then by the names that the error has, then
// by its wording, where the status leaves it open.
func classOf(status int, d *detail) Class {
	named := d.named()
	switch {
	case status >= 300 && status < 400:
		return Redirected
	case status == http.StatusGatewayTimeout, status == http.StatusRequestTimeout, status == 524: // Cloudflare's own
		return StatusTimeout
	case status == 529: // Anthropic's own
		return Overloaded
	case status >= 500 || status < 200:
		return serverClass(status, named, d)
	case status == http.StatusTooManyRequests:
		return limitedClass(named, d)
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired: // of a proxy on our side
		return CredentialRejected
	case status == http.StatusForbidden:
		return forbiddenClass(named, d)
	case status == http.StatusPaymentRequired:
		return PaymentRequired
	case status == http.StatusNotFound:
		return NotFound
	case status == http.StatusUnsupportedMediaType:
		return UnsupportedMedia
	case status == http.StatusRequestEntityTooLarge:
		return either(named, either(d.worded(contentWording), TooLarge), RateLimited, ContextLength)
	}
	return either(named, either(d.worded(requestWording), Rejected))
}

// serverClass: a few servers answer with 500 to what is too long for them.
func serverClass(status int, named Class, d *detail) Class {
	if status == http.StatusInternalServerError && either(named, d.worded(contentWording)) == ContextLength {
		return ContextLength
	}
	return either(named, either(d.worded(overloadWording), ServerError), Overloaded)
}

// limitedClass: no words of content here, as "too many tokens" is a rate.
func limitedClass(named Class, d *detail) Class {
	return either(named, either(d.worded(limitWording), RateLimited), Overloaded, PaymentRequired)
}

func forbiddenClass(named Class, d *detail) Class {
	return either(named, either(d.worded(forbiddenWording), CredentialRejected), GeoBlocked, ContentPolicy, PaymentRequired)
}

// either is class when it is one of allowed, or any where none are named;
// else otherwise.
func either(class, otherwise Class, allowed ...Class) Class {
	if class == "" {
		return otherwise
	}
	if len(allowed) == 0 {
		return class
	}
	for _, a := range allowed {
		if class == a {
			return class
		}
	}
	return otherwise
}
