package patch_test

import (
	"strings"
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

func TestMap(t *testing.T) {
	require.Nil(t, patch.Map(nil, strings.ToUpper))
	given := "a"
	require.Equal(t, "A", *patch.Map(&given, strings.ToUpper))
	require.Equal(t, "a", given, "the caller's stays")
}
