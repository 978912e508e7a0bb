package app

import (
	"github.com/signalbox-dev/signalbox/controlplane/internal/api"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// StatusOf is the HTTP status of a code in the management API, and whether it
// answers with it at all. The reference of errors is made from it.
func StatusOf(code fault.Code) (status int, known bool) { return api.StatusOf(code) }
