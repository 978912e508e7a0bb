package seal

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExposed(t *testing.T) {
	for mode, want := range map[fs.FileMode]struct{ own, foreign bool }{
		0o400: {false, false}, 0o600: {false, false},
		0o440: {true, false}, 0o640: {true, false}, // as Kubernetes mounts a secret with fsGroup
		0o660: {true, true}, 0o604: {true, true}, 0o644: {true, true}, 0o610: {true, true},
	} {
		require.Equal(t, want.own, exposed(mode, false), "%04o of its own", mode)
		require.Equal(t, want.foreign, exposed(mode, true), "%04o of another's", mode)
	}
}
