package wire_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/shared/jsonappend/jsonappendtest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestAppendJSONWritesEveryField(t *testing.T) {
	jsonappendtest.Same(t, &wire.UsageEvent{})
}
