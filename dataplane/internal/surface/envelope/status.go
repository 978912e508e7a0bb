// Package envelope owns what an error looks like to a caller: the HTTP status
// of every fault code, and its body in each surface's native form. It knows
// nothing of requests.
package envelope

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// StatusClientClosed is recorded for a caller who left. It is never sent.
const StatusClientClosed = 499

var statuses = map[fault.Code]int{
	fault.InvalidJSON:      http.StatusBadRequest,
	fault.ValidationError:  http.StatusBadRequest,
	fault.Unauthorized:     http.StatusUnauthorized,
	fault.NotFound:         http.StatusNotFound,
	fault.MethodNotAllowed: http.StatusMethodNotAllowed,
	fault.PayloadTooLarge:  http.StatusRequestEntityTooLarge,
	fault.GatewayError:     http.StatusInternalServerError,

	fault.NoDefaultModel:             http.StatusBadRequest,
	fault.ModelNotFound:              http.StatusNotFound,
	fault.UnsupportedModelOrEndpoint: http.StatusBadRequest,
	fault.ContextLengthExceeded:      http.StatusBadRequest,
	fault.UpstreamRejected:           http.StatusBadRequest,
	fault.SubmissionUnknown:          http.StatusBadGateway,
	fault.InsufficientFunds:          http.StatusPaymentRequired,
	fault.GuardrailBlocked:           http.StatusForbidden,
	fault.RouteRejected:              http.StatusForbidden,
	fault.ModelRegionUnavailable:     http.StatusForbidden,
	fault.ModelRetired:               http.StatusGone,
	fault.KeyLimitExceeded:           http.StatusTooManyRequests,
	fault.RateLimitExceeded:          http.StatusTooManyRequests,
	fault.UpstreamRateLimited:        http.StatusTooManyRequests,
	fault.UpstreamServerError:        http.StatusBadGateway,
	fault.UpstreamUnreachable:        http.StatusBadGateway,
	fault.UpstreamCredentialRejected: http.StatusBadGateway,
	fault.UpstreamUndetermined:       http.StatusServiceUnavailable,
	fault.QuotaUnavailable:           http.StatusServiceUnavailable,
	fault.UpstreamTimeout:            http.StatusGatewayTimeout,
	fault.ClientClosed:               StatusClientClosed,

	fault.Forbidden:            http.StatusForbidden,
	fault.InsufficientScope:    http.StatusForbidden,
	fault.Conflict:             http.StatusConflict,
	fault.PreconditionFailed:   http.StatusPreconditionFailed,
	fault.IdempotencyConflict:  http.StatusConflict,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

// Status is the HTTP status of a failure on every inference surface. A code
// that is missing from the table is a bug and answers as one.
func Status(e *fault.Error) int {
	switch {
	case e.Code == fault.UpstreamRejected, e.Code == fault.RouteRejected:
		if e.Status >= 400 && e.Status < 500 {
			return e.Status
		}
	case e.Code == fault.SubmissionUnknown && e.Reason == fault.ReplyTimeout:
		return http.StatusGatewayTimeout
	case e.Code == fault.Unauthorized && e.Reason == fault.IPNotAllowed:
		return http.StatusForbidden
	case e.Code == fault.ValidationError && e.Reason == fault.BodyTimeout:
		return http.StatusRequestTimeout
	}
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// origin says who made the failure happen, where the fault does not say it.
func origin(e *fault.Error, status int) fault.Origin {
	switch {
	case e.Origin != "":
		return e.Origin
	case status < http.StatusInternalServerError:
		return fault.Client
	}
	return fault.Gateway
}
