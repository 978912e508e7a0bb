package patch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
)

func TestSet(t *testing.T) {
	field, zero := "before", ""
	patch.Set(&field, nil)
	require.Equal(t, "before", field, "what is absent stays")
	patch.Set(&field, &zero)
	require.Empty(t, field, "what is empty is given")
}
