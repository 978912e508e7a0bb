package decide_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/jsonappend/jsonappendtest"
)

func TestAppendJSONWritesEveryField(t *testing.T) {
	jsonappendtest.Same(t, &decide.Record{})
}
