package app

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheAddressThatIsShownSaysWhereItIs(t *testing.T) {
	named := func() (string, error) { return "gw-7", nil }
	for bound, shown := range map[string]string{
		"[::]:8080":      "gw-7:8080",
		"0.0.0.0:8080":   "gw-7:8080",
		"127.0.0.1:8080": "127.0.0.1:8080",
		"[::1]:8080":     "[::1]:8080",
	} {
		require.Equal(t, shown, reachable(bound, named))
	}
	require.Equal(t, "[::]:8080", reachable("[::]:8080", func() (string, error) { return "", errors.New("no name") }))
}
