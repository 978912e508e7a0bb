package dialecttest

import (
	"errors"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Unshaken shows an observer sound answers of its format with other values in
// them, cut, and bytes of any kind: it ignores them or calls them malformed.
func Unshaken(t *rapid.T, observe func() dialect.Observer, sound [][]byte) {
	stream := observe()
	for range 3 {
		data := rapid.SampledFrom(sound).Draw(t, "data")
		for _, garbage := range [][]byte{spoiled(t, data), data[:rapid.IntRange(0, len(data)).Draw(t, "cut")], rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")} {
			whole := observe()
			sight, err := watched(t, whole, whole.Whole, garbage)
			unshaken(t, garbage, sight, err)
			require.False(t, (err != nil || sight.Failure != nil) && whole.Seen().Finished, "%q", garbage)
			if len(garbage) == 0 {
				continue // an event's data are not empty
			}
			name := rapid.SampledFrom([]string{"", "message_start", "response.completed", "error"}).Draw(t, "name")
			sight, err = watched(t, stream, func(data []byte) (dialect.Sight, error) { return stream.Event([]byte(name), data) }, garbage)
			unshaken(t, garbage, sight, err)
			require.True(t, err == nil || errors.Is(err, dialect.ErrMalformed), "%v of %q", err, garbage)
			_, _ = stream.Terminal()
		}
	}
}

func unshaken(t *rapid.T, data []byte, sight dialect.Sight, err error) {
	switch {
	case err != nil:
		require.Nil(t, sight.Failure, "%q", data)
	case sight.Failure != nil:
		require.Contains(t, upstream.Classes(), sight.Failure.Class)
		require.NotNil(t, sight.Failure.Fault)
	default:
		replaced(t, data, sight)
	}
}
