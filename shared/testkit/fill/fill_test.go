package fill_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

type inner struct {
	hidden [4]byte
	When   time.Time
}

type outer struct {
	Text   string
	Flag   bool
	Number int64
	Maybe  *time.Time
	List   []string
	Map    map[string]int
	inner
}

func TestValueLeavesNothingZero(t *testing.T) {
	v := fill.Value[outer](1)
	require.Empty(t, fill.Zero(v))
	require.NotEqual(t, v.List[0], v.List[1])
	require.NotEqual(t, v, fill.Value[outer](2))
	require.Equal(t, v, fill.Value[outer](1))
}

func TestZeroNamesWhatIsMissing(t *testing.T) {
	v := fill.Value[outer](1)
	v.Number, v.hidden = 0, [4]byte{}
	require.Equal(t, []string{".Number", ".inner.hidden"}, fill.Zero(v))
}
