package app

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// StatusOf is the HTTP status of a failure in the inference API. The reference
// of errors is made from it.
func StatusOf(e *fault.Error) int { return envelope.Status(e) }
