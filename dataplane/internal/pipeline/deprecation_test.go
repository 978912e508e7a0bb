package pipeline

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// TestAnErrorWarnsOfADeprecatedModelToo: the caller of a model that will go is
// told whether it answered or not.
func TestAnErrorWarnsOfADeprecatedModelToo(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	since, until := now.Add(-time.Hour), now.Add(time.Hour)
	r := &run{pipeline: New(Steps{}, func() time.Time { return now }, nil, nil), call: &call.Call{Received: now}}
	require.NotContains(t, r.failHead(nil), headerDeprecation)
	r.plan.Chain = []decide.Step{{Model: &catalog.Model{Lifecycle: catalog.Lifecycle{
		State: catalog.Deprecated, DeprecatedAt: &since, RetiresAt: &until,
	}}}}
	h := r.failHead(nil)
	require.Equal(t, []string{"@1893549845"}, h[headerDeprecation])
	require.Equal(t, []string{until.Format(http.TimeFormat)}, h[headerSunset])
	r.plan.Chain[0].Model.Lifecycle = catalog.Lifecycle{}
	require.NotContains(t, r.failHead(nil), headerDeprecation)
}

// TestADateWarnsAsTheStateDoes: what has come by its date is what the state says,
// whatever is written there.
func TestADateWarnsAsTheStateDoes(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	before, after := now.Add(-time.Hour), now.Add(time.Hour)
	for name, c := range map[string]struct {
		lifecycle           catalog.Lifecycle
		deprecation, sunset string
	}{
		"active":                      {catalog.Lifecycle{}, "", ""},
		"not yet":                     {catalog.Lifecycle{DeprecatedAt: &after, RetiresAt: &after}, "", ""},
		"deprecated by date":          {catalog.Lifecycle{DeprecatedAt: &before}, "@1893549845", ""},
		"retired by date":             {catalog.Lifecycle{State: catalog.Active, RetiresAt: &before}, "@1893549845", before.Format(http.TimeFormat)},
		"retired this moment":         {catalog.Lifecycle{RetiresAt: &now}, "@1893553445", now.Format(http.TimeFormat)},
		"retired, of unknown date":    {catalog.Lifecycle{State: catalog.Retired}, "@1893553445", ""},
		"deprecated, of unknown date": {catalog.Lifecycle{State: catalog.Deprecated, RetiresAt: &after}, "@1893553445", after.Format(http.TimeFormat)},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			lifecycle(h, &catalog.Model{Lifecycle: c.lifecycle}, now)
			require.Equal(t, c.deprecation, h.Get(headerDeprecation))
			require.Equal(t, c.sunset, h.Get(headerSunset))
		})
	}
}
