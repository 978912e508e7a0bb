package managementkey_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/authz"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
)

func TestTemplatesGrow(t *testing.T) {
	readOnly, readWrite, full := managementkey.ReadOnly.Scopes(), managementkey.ReadWrite.Scopes(), managementkey.FullControl.Scopes()
	require.Subset(t, readWrite, readOnly)
	require.Subset(t, full, readWrite)
	require.Equal(t, managementkey.Scopes(), full)
	for _, list := range [][]string{readOnly, readWrite, full} {
		require.True(t, slices.IsSorted(list))
		require.Equal(t, slices.Compact(slices.Clone(list)), list)
	}
	require.Nil(t, managementkey.Template("other").Scopes())
	for _, s := range readOnly {
		require.Regexp(t, ":read$", s)
	}
}

// Every scope that an operation needs can be given to a key.
func TestEveryNeededScopeExists(t *testing.T) {
	for _, rule := range authz.Rules() {
		if rule.Scope != "" {
			require.Contains(t, managementkey.Scopes(), rule.Scope, rule.Operation)
		}
	}
}
