package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeapHeadroom(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	spare := heapHeadroom()
	require.Len(t, spare, headroom)
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "100")
			require.Nil(t, heapHeadroom())
		})
	}
}
