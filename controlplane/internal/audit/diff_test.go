package audit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
)

func TestDiffKeepsWhatChanged(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	same := at.UTC()
	var d audit.Diff
	d.Text("same", "a", "a")
	d.Time("same", &at, &same)
	d.List("same", nil, []string{})
	d.Text("name", "a", "b")
	d.Bool("on", false, true)
	d.Int("n", 1, 2)
	d.Count("most", 0, 7)
	d.Count("same", 3, 3)
	d.Amount("limit", 1_500_000_000, 0)
	d.Number("fee", nil, new(int64))
	d.Time("until", nil, &at)
	d.List("models", []string{"a"}, []string{"a", "b"})
	d.Secret("secret")
	require.Equal(t, audit.Diff{
		{Path: "name", Before: "a", After: "b"},
		{Path: "on", Before: "false", After: "true"},
		{Path: "n", Before: "1", After: "2"},
		{Path: "most", After: "7"},
		{Path: "limit", Before: "1.50"},
		{Path: "fee", After: "0"},
		{Path: "until", After: "2030-01-02T02:04:05Z"},
		{Path: "models", Before: "a", After: "a, b"},
		{Path: "secret", After: "changed"},
	}, d)
}
