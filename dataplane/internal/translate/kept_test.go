package translate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/job"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// TestWhatIsKeptIsKeptEverywhere: what a call makes has a path here and a name
// there, or it could not be found again.
func TestWhatIsKeptIsKeptEverywhere(t *testing.T) {
	nameless := job.NewNames(nil, nil, nil)
	for _, s := range catalog.Surfaces() {
		c := call.Call{Surface: s}
		require.Equal(t, c.Makes(), kept[s] != "", s)
		require.Equal(t, c.Makes(), nameless.Ready(s) != nil, s)
	}
}
