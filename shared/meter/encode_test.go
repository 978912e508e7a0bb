package meter_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/shared/jsonappend/jsonappendtest"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

func TestAppendJSONWritesEveryField(t *testing.T) {
	jsonappendtest.Same(t, &meter.Usage{})
	jsonappendtest.Same(t, &meter.Cost{})
}
