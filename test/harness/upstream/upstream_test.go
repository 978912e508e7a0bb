package upstream_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

func TestTheCatalogIsGood(t *testing.T) {
	p, err := upstream.Start(simulator.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	merged, _, warnings, err := catalog.Overlaid(catalog.Catalog{Schema: catalog.Schema}, strings.NewReader(p.Catalog("exact")), "catalog.yaml", nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	view, err := catalog.Compile(merged)
	require.NoError(t, err)
	for _, id := range append([]string{upstream.Small, "sim/both", "sim/exact"}, models()...) {
		_, ok := view.Model(id)
		require.True(t, ok, id)
	}
}

func TestEveryFormatHasItsModels(t *testing.T) {
	p, err := upstream.Start(simulator.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	merged := catalog.Catalog{Schema: catalog.Schema}
	for _, text := range []string{p.Simulated(), p.Everywhere("small", "fault-cut-3")} {
		merged, _, _, err = catalog.Overlaid(merged, strings.NewReader(text), "catalog.yaml", nil)
		require.NoError(t, err)
	}
	view, err := catalog.Compile(merged)
	require.NoError(t, err)
	types := map[catalog.ProviderType]bool{}
	for _, format := range upstream.Formats() {
		for _, name := range []string{"small", "fault-cut-3"} {
			m, ok := view.Model(upstream.Via(format, name))
			require.True(t, ok, format)
			provider, ok := view.Provider(m.Endpoints[0].Provider)
			require.True(t, ok, format)
			types[provider.Type] = true
		}
	}
	require.Len(t, types, len(catalog.ProviderTypes()), "a type of provider without a format")
}

func models() []string {
	var ids []string
	for _, terms := range upstream.Terms() {
		ids = append(ids, upstream.Model(terms), upstream.Fallback(terms))
	}
	return ids
}

func TestEveryTermIsAFault(t *testing.T) {
	for _, terms := range upstream.Terms() {
		_, err := simulator.ParseFault(terms)
		require.NoError(t, err, terms)
	}
}
